"""Max-sum over trees of parts on springs, by generalised distance transforms."""

import numpy as np

from sskit._numbers import array, as_floats
from sskit.inputs.parents import check_parents, parents_first
from sskit.oracles.gate import check_table

from libc.float cimport DBL_MIN
from libc.math cimport INFINITY
from libc.string cimport memcpy


cdef enum:
    TILE = 8  # columns at a time: doubles of a cache line


cdef class DistanceTransform:
    """Lower envelopes of parabolas, line by line (Felzenszwalb and Huttenlocher 2012).

    Parameters
    ----------
    max_height, max_width : int
        Size of the largest grid.
    """

    def __cinit__(self, Py_ssize_t max_height, Py_ssize_t max_width):
        self.max_height = max_height
        self.max_width = max_width
        longest = max(max_height, max_width)
        self.root = np.zeros(longest, dtype=np.int32)
        self.height_of, self.start = np.zeros(longest), np.zeros(longest + 1)
        self.reciprocal = 1.0 / np.maximum(np.arange(longest + 1), 1)
        self.row_best = np.zeros(max_height * max_width)
        self.row_place = np.zeros(max_height * max_width, dtype=np.int32)
        self.column, self.column_best = np.zeros((2, TILE * max_height))
        self.column_place = np.zeros(TILE * max_height, dtype=np.int32)

    cdef void line(
        self, const double* scores, Py_ssize_t n, const Spring* spring, double* best,
        int32_t* place
    ) noexcept nogil:
        cdef int32_t* root = &self.root[0]
        cdef double* height = &self.height_of[0]
        cdef double* start = &self.start[0]
        cdef const double* reciprocal = &self.reciprocal[0]
        cdef Py_ssize_t p, q, k = -1
        cdef double half, shift, meet, score
        # the reciprocal of too small a square is infinite, which places no parabola
        if not spring.square >= DBL_MIN:
            self.line_by_trial(scores, n, spring, best, place)
            return
        # With the square completed the score from p is scores[p] - square (p - u)^2 + constant,
        # u = q + shift: parabolas of one width over u, any two of which meet once.
        half = 0.5 / spring.square
        shift = spring.mean - spring.linear * half
        for p in range(n):  # section 2.1, algorithm DT(f)
            score = scores[p]
            if score == -INFINITY:
                continue
            meet = -INFINITY
            while k >= 0:
                meet = 0.5 * (root[k] + p) + (height[k] - score) * half * reciprocal[p - root[k]]
                if meet > start[k]:
                    break
                k -= 1
                meet = -INFINITY
            k += 1
            root[k] = <int32_t>p
            height[k] = score
            start[k] = meet
        if k < 0:
            for q in range(n):
                best[q] = -INFINITY
                place[q] = -1
            return
        start[k + 1] = INFINITY
        k = 0
        for q in range(n):
            while start[k + 1] < q + shift:
                k += 1
            best[q] = height[k] - spring_cost(spring, root[k], q)
            place[q] = root[k]

    cdef void line_by_trial(
        self, const double* scores, Py_ssize_t n, const Spring* spring, double* best,
        int32_t* place
    ) noexcept nogil:
        cdef Py_ssize_t p, q
        cdef double score
        for q in range(n):
            best[q] = -INFINITY
            place[q] = -1
            for p in range(n):
                score = scores[p] - spring_cost(spring, p, q)
                if score > best[q]:
                    best[q] = score
                    place[q] = <int32_t>p

    cdef void grid(
        self, const double* scores, Py_ssize_t height, Py_ssize_t width, const Spring* vertical,
        const Spring* horizontal, double* best, int32_t* place
    ) noexcept nogil:
        cdef double* row_best = &self.row_best[0]
        cdef int32_t* row_place = &self.row_place[0]
        cdef double* column = &self.column[0]
        cdef double* column_best = &self.column_best[0]
        cdef int32_t* column_place = &self.column_place[0]
        cdef Py_ssize_t x, y, first = 0, count, row
        for y in range(height):
            self.line(
                scores + y * width, width, horizontal, row_best + y * width,
                row_place + y * width
            )
        while first < width:
            count = min(<Py_ssize_t>TILE, width - first)
            for y in range(height):
                for x in range(count):
                    column[x * height + y] = row_best[y * width + first + x]
            for x in range(count):
                self.line(
                    column + x * height, height, vertical, column_best + x * height,
                    column_place + x * height
                )
            for y in range(height):
                for x in range(count):
                    row = column_place[x * height + y]
                    best[y * width + first + x] = column_best[x * height + y]
                    place[y * width + first + x] = -1 if row < 0 else (
                        <int32_t>(row * width + row_place[row * width + first + x])
                    )
            first += TILE


cdef class PartsMaxSum:
    """The best places of parts on a tree (Felzenszwalb and Huttenlocher 2005, section 3).

    Parameters
    ----------
    parents : ndarray of shape (n_parts,), int32
        The parent of each part, -1 for roots; a forest.
    types_of : ndarray of shape (n_parts,), int32
        Number of types of springs of each part.
    n_types : int
        The largest of them.
    max_height, max_width : int
        Size of the largest grid.
    """

    def __cinit__(self, parents, types_of, Py_ssize_t n_types, Py_ssize_t max_height,
                  Py_ssize_t max_width):
        self.n_parts = len(parents)
        self.n_types = n_types
        self.max_cells = max_height * max_width
        self.parents = parents
        self.order = parents_first(parents)
        self.types_of = types_of
        self.transform = DistanceTransform(max_height, max_width)
        shape = (self.n_parts, self.max_cells)
        self.belief, self.message = np.zeros(shape), np.zeros(shape)
        self.choice = np.zeros(shape, dtype=np.int32)
        self.kind = np.zeros(shape, dtype=np.int32)
        self.best = np.zeros(self.max_cells)
        self.place = np.zeros(self.max_cells, dtype=np.int32)

    cdef void pass_on(
        self, const PartPotentials* p, Py_ssize_t k, bint out, const double* belief,
        double* message
    ) noexcept nogil:
        cdef int32_t* choice = &self.choice[k, 0]
        cdef int32_t* kind = &self.kind[k, 0]
        cdef const double* best = &self.best[0]
        cdef const int32_t* place = &self.place[0]
        cdef Py_ssize_t t, q, n_cells = p.height * p.width
        cdef Spring vertical, horizontal
        cdef double bias
        for q in range(n_cells):
            message[q], choice[q], kind[q] = -INFINITY, 0, 0
        for t in range(self.types_of[k]):
            vertical = p.springs[2 * (k * self.n_types + t)]
            horizontal = p.springs[2 * (k * self.n_types + t) + 1]
            bias = p.bias[k * self.n_types + t]
            if not out:
                vertical, horizontal = reversed_spring(&vertical), reversed_spring(&horizontal)
            self.transform.grid(
                belief, p.height, p.width, &vertical, &horizontal, &self.best[0], &self.place[0]
            )
            # arithmetic instead of a branch that nobody can predict
            for q in range(n_cells):
                choice[q] = place[q] if best[q] + bias > message[q] else choice[q]
                kind[q] = <int32_t>t if best[q] + bias > message[q] else kind[q]
                message[q] = max(message[q], best[q] + bias)

    cdef void collect(self, const PartPotentials* p) noexcept nogil:
        cdef Py_ssize_t place, k, q, n_cells = p.height * p.width
        cdef double* above
        for k in range(self.n_parts):
            memcpy(&self.belief[k, 0], p.node + k * n_cells, n_cells * sizeof(double))
        for place in range(self.n_parts - 1, -1, -1):
            k = self.order[place]
            if self.parents[k] < 0:
                continue
            self.pass_on(p, k, True, &self.belief[k, 0], &self.message[k, 0])
            above = &self.belief[self.parents[k], 0]
            for q in range(n_cells):
                above[q] += self.message[k, q]

    cdef double decode(
        self, const PartPotentials* p, int32_t* places, int32_t* types
    ) noexcept nogil:
        cdef Py_ssize_t place, k, q, n_cells = p.height * p.width
        cdef double total = 0.0
        cdef int32_t best
        self.collect(p)
        for place in range(self.n_parts):
            k = self.order[place]
            if self.parents[k] >= 0:
                places[k] = self.choice[k, places[self.parents[k]]]
                types[k] = self.kind[k, places[self.parents[k]]]
                continue
            best = 0
            for q in range(1, n_cells):
                if self.belief[k, q] > self.belief[k, best]:
                    best = <int32_t>q
            places[k] = best
            types[k] = 0
            total += self.belief[k, best]
        return total

    cdef void marginals(self, const PartPotentials* p, double* out) noexcept nogil:
        cdef Py_ssize_t place, k, q, n_cells = p.height * p.width
        cdef double total = 0.0, best
        cdef double* here
        cdef double* above
        self.collect(p)
        for k in range(self.n_parts):
            if self.parents[k] < 0:
                total += highest(&self.belief[k, 0], n_cells)
        for place in range(self.n_parts):
            k = self.order[place]
            here = out + k * n_cells
            memcpy(here, &self.belief[k, 0], n_cells * sizeof(double))
            if self.parents[k] < 0:
                best = highest(here, n_cells)
                for q in range(n_cells):  # what the other trees add
                    here[q] += total - best
                continue
            # what the parent hears from all but this part, seen from this part
            above = out + self.parents[k] * n_cells
            for q in range(n_cells):
                self.message[k, q] = above[q] - self.message[k, q]
            memcpy(&self.belief[k, 0], &self.message[k, 0], n_cells * sizeof(double))
            self.pass_on(p, k, False, &self.belief[k, 0], &self.message[k, 0])
            for q in range(n_cells):
                here[q] += self.message[k, q]


cdef double highest(const double* values, Py_ssize_t n) noexcept nogil:
    cdef double best = -INFINITY
    cdef Py_ssize_t q
    for q in range(n):
        best = max(best, values[q])
    return best


cdef class GridPotentials:
    """Potentials of parts as users give them, checked, with their arrays and an oracle."""

    cdef PartPotentials struct_
    cdef PartsMaxSum oracle
    cdef double[:, :, ::1] node
    cdef double[:, ::1] bias
    cdef double[:, :, :, ::1] numbers

    def __cinit__(self, scores, parents, springs, bias):
        scores = array(scores, "scores", ("n_parts", "height", "width"))
        n_parts = len(scores)
        parents = check_parents(parents, "parents", n_parts)
        springs = array(springs, "springs", (n_parts, "n_types", 2, 3))
        n_types = springs.shape[1]
        bias = np.zeros((n_parts, n_types)) if bias is None else bias
        bias = array(bias, "bias", (n_parts, n_types))
        if 0 in scores.shape or n_types == 0:
            raise ValueError(
                "there must be a part, a cell and a type, got scores of shape "
                f"{scores.shape} and springs of shape {springs.shape}"
            )
        wrong = np.argwhere((springs[..., 1] <= 0) & (parents >= 0)[:, None, None])
        if len(wrong):
            k, t, axis = map(int, wrong[0])
            raise ValueError(
                f"springs[{k}, {t}, {axis}, 1] is {springs[k, t, axis, 1]}, expected a positive "
                "cost of the squared displacement"
            )
        self.node, self.bias, self.numbers = scores, bias, springs
        self.struct_.height, self.struct_.width = scores.shape[1:]
        self.struct_.node = &self.node[0, 0, 0]
        self.struct_.bias = &self.bias[0, 0]
        self.struct_.springs = <const Spring*>&self.numbers[0, 0, 0, 0]
        types_of = np.full(n_parts, n_types, dtype=np.int32)
        self.oracle = PartsMaxSum(parents, types_of, n_types, *scores.shape[1:])


def distance_transform(scores, square, *, linear=0.0, mean=0.0):
    """Find the best place for a part that hangs on a spring, for every anchor of the spring.

    For every position q of a line or a grid maximises ``scores[p] - sum_d (linear[d] t[d] +
    square[d] t[d]**2)`` over the positions p, where ``t = p - q - mean`` is by how much p is
    displaced from where the spring rests. Exact, in time linear in the number of positions.

    Parameters
    ----------
    scores : array-like of shape (n,) or (height, width)
        Scores of the positions. ``-inf`` forbids one.
    square : float or array-like of shape (n_dims,)
        Cost of the squared displacement along each axis of `scores`, positive.
    linear : float or array-like of shape (n_dims,), default=0.0
        Cost of the displacement along each axis.
    mean : float or array-like of shape (n_dims,), default=0.0
        Where the spring rests, seen from its anchor, along each axis.

    Returns
    -------
    best : ndarray of the shape of `scores`
        The maxima.
    places : ndarray of the shape of `scores`, int32
        A maximiser for each, as an index into ``scores.ravel()``; -1 if all are forbidden.

    Raises
    ------
    ValueError
        If there are no positions, a score is NaN or +inf, or a number of the springs is not
        finite or `square` not positive.

    References
    ----------
    Felzenszwalb and Huttenlocher (2012). Distance transforms of sampled functions. Theory of
    Computing 8, algorithm DT(f).

    Examples
    --------
    >>> from sskit.oracles import distance_transform
    >>> best, places = distance_transform([0, 0, 5, 0, 0], 1.0)
    >>> best
    array([1., 4., 5., 4., 1.])
    >>> places
    array([2, 2, 2, 2, 2], dtype=int32)
    """
    scores = as_floats(scores, "scores")
    if scores.ndim not in (1, 2) or scores.size == 0:
        raise ValueError(
            f"scores must have shape (n,) or (height, width), not empty, got {scores.shape}"
        )
    check_table(scores, "scores")
    # of a line the second one
    cdef double[:, ::1] numbers = np.empty((2, 3))
    springs = np.asarray(numbers)[2 - scores.ndim :].T
    names = ("linear", "square", "mean")
    for row, name, value in zip(springs, names, (linear, square, mean), strict=True):
        value = as_floats(value, name)
        if value.shape not in ((), row.shape):
            raise ValueError(
                f"{name} must be a number or have shape {row.shape}, a number for each axis of "
                f"scores, got shape {value.shape}"
            )
        row[:] = value
        if not np.isfinite(row).all() or (name == "square" and not (row > 0).all()):
            kind = "positive numbers" if name == "square" else "finite numbers"
            raise ValueError(f"{name} must hold {kind}, got {value.tolist()}")
    best, places = np.empty(scores.shape), np.empty(scores.shape, dtype=np.int32)
    cdef const double[:, ::1] given = np.atleast_2d(scores)
    cdef double[::1] best_out = best.reshape(-1)
    cdef int32_t[::1] places_out = places.reshape(-1)
    cdef DistanceTransform transform = DistanceTransform(given.shape[0], given.shape[1])
    cdef const Spring* both = <const Spring*>&numbers[0, 0]
    cdef bint is_line = scores.ndim == 1
    with nogil:
        if is_line:
            transform.line(
                &given[0, 0], given.shape[1], both + 1, &best_out[0], &places_out[0]
            )
        else:
            transform.grid(
                &given[0, 0], given.shape[0], given.shape[1], both, both + 1, &best_out[0],
                &places_out[0]
            )
    return best, places


def parts_max_sum(scores, parents, springs, *, bias=None):
    """Find the best places of parts that hang on springs from their parents.

    Maximises over the cells p_k of a grid and the types t_k of the springs the sum over the
    parts k of ``scores[k, p_k]`` and, for those that have a parent, ``bias[k, t_k] - sum_d
    (linear u_d + square u_d**2)``, where ``u = p_k - p_parent - mean`` is by how much part k is
    displaced from where its spring rests, and d goes over the rows and columns of the grid.
    Exact; time is linear in the numbers of cells, parts and types.

    Parameters
    ----------
    scores : array-like of shape (n_parts, height, width)
        Scores of the parts at the cells.
    parents : array-like of int of shape (n_parts,)
        The parent of each part, -1 for a root. There may be several trees.
    springs : array-like of shape (n_parts, n_types, 2, 3)
        For rows and for columns the numbers (linear, square, mean), in cells; square is
        positive. Those of roots do not matter.
    bias : array-like of shape (n_parts, n_types), default=None
        Scores of the types; None means none.

    Returns
    -------
    places : ndarray of shape (n_parts, 2), int64
        Row and column of each part.
    types : ndarray of shape (n_parts,), int32
        Types of the springs, 0 for roots.
    score : float
        The maximum.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, a square not positive, a parent out of
        range or parents form a cycle.

    References
    ----------
    Felzenszwalb and Huttenlocher (2005). Pictorial structures for object recognition.
    International Journal of Computer Vision 61(1).

    Yang and Ramanan (2011). Articulated pose estimation with flexible mixtures-of-parts. CVPR.

    Examples
    --------
    A bright spot for the first part, and a second part two columns to the right of it:

    >>> import numpy as np
    >>> from sskit.oracles import parts_max_sum
    >>> scores = np.zeros((2, 3, 5))
    >>> scores[0, 1, 1] = 1.0
    >>> places, types, score = parts_max_sum(scores, [-1, 0], [[[[0, 1, 0], [0, 1, 2]]]] * 2)
    >>> places
    array([[1, 1],
           [1, 3]])
    >>> score
    1.0
    """
    cdef GridPotentials potentials = GridPotentials(scores, parents, springs, bias)
    places, types = np.empty((2, potentials.oracle.n_parts), dtype=np.int32)
    cdef int32_t[::1] places_out = places
    cdef int32_t[::1] types_out = types
    cdef double score
    with nogil:
        score = potentials.oracle.decode(&potentials.struct_, &places_out[0], &types_out[0])
    rows, columns = np.divmod(places.astype(np.int64), potentials.struct_.width)
    return np.stack([rows, columns], axis=1), types, score


def parts_max_marginals(scores, parents, springs, *, bias=None):
    """Find for each part and cell the best score of all parts with that part there.

    Exact up to rounding; the largest number of each part is the maximum of `parts_max_sum`.

    Parameters
    ----------
    scores : array-like of shape (n_parts, height, width)
        Scores of the parts at the cells.
    parents : array-like of int of shape (n_parts,)
        The parent of each part, -1 for a root.
    springs : array-like of shape (n_parts, n_types, 2, 3)
        As for `parts_max_sum`.
    bias : array-like of shape (n_parts, n_types), default=None
        Scores of the types; None means none.

    Returns
    -------
    best : ndarray of shape (n_parts, height, width)
        The max-marginals.

    Raises
    ------
    ValueError
        As for `parts_max_sum`.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.oracles import parts_max_marginals
    >>> scores = [[[0.0, 2.0, 0.0]], [[0.0, 0.0, 1.0]]]
    >>> parts_max_marginals(scores, [-1, 0], [[[[0, 1, 0], [0, 1, 0]]]] * 2)
    array([[[0., 2., 1.]],
    <BLANKLINE>
           [[1., 2., 2.]]])
    """
    cdef GridPotentials potentials = GridPotentials(scores, parents, springs, bias)
    cdef double[:, :, ::1] out = np.empty_like(potentials.node)
    with nogil:
        potentials.oracle.marginals(&potentials.struct_, &out[0, 0, 0])
    return np.asarray(out)
