"""Generalised distance transforms: the best place for a part on a spring, for every anchor."""

import numpy as np

from sskit._numbers import as_floats

from libc.float cimport DBL_MIN
from libc.math cimport INFINITY


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
    wrong = np.argwhere(np.isnan(scores) | (scores == np.inf))
    if len(wrong):
        index = tuple(map(int, wrong[0]))
        raise ValueError(f"scores{list(index)} is {scores[index]}, expected a number or -inf")
    springs = np.empty((3, scores.ndim))
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
    cdef bint is_line = scores.ndim == 1
    cdef Py_ssize_t height = 1 if is_line else scores.shape[0]
    cdef Py_ssize_t width = scores.shape[scores.ndim - 1]
    cdef DistanceTransform transform = DistanceTransform(height, width)
    cdef Spring vertical, horizontal
    horizontal.linear, horizontal.square, horizontal.mean = springs[:, scores.ndim - 1]
    vertical.linear, vertical.square, vertical.mean = springs[:, 0]
    best, places = np.empty(scores.shape), np.empty(scores.shape, dtype=np.int32)
    cdef const double[::1] given = scores.reshape(-1)
    cdef double[::1] best_out = best.reshape(-1)
    cdef int32_t[::1] places_out = places.reshape(-1)
    with nogil:
        if is_line:
            transform.line(&given[0], width, &horizontal, &best_out[0], &places_out[0])
        else:
            transform.grid(
                &given[0], height, width, &vertical, &horizontal, &best_out[0], &places_out[0]
            )
    return best, places
