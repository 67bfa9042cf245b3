"""Max-sum over trees of parts on springs, by generalised distance transforms."""

import numpy as np

from sskit._numbers import array, as_floats
from sskit.inputs.edges import check_parents
from sskit.oracles.validation import check_values


cdef class GridPotentials:
    """Potentials of parts as users give them, checked, with their arrays and an oracle."""

    cdef PartPotentials struct_
    cdef PartsMaxSum oracle
    cdef const int32_t[::1] parents, types_of
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
        wrong = np.argwhere((springs[..., 1] <= 0) & (parents >= 0)[:, None, None])
        if len(wrong):
            k, t, axis = map(int, wrong[0])
            raise ValueError(
                f"springs[{k}, {t}, {axis}, 1] is {springs[k, t, axis, 1]}, expected a positive "
                "cost of the squared displacement"
            )
        self.node, self.bias, self.numbers, self.parents = scores, bias, springs, parents
        self.types_of = np.full(n_parts, n_types, dtype=np.int32)
        self.struct_ = PartPotentials(
            n_parts, n_types, scores.shape[1], scores.shape[2], &self.parents[0], &self.types_of[0],
            &self.node[0, 0, 0], &self.bias[0, 0], <const Spring*>&self.numbers[0, 0, 0, 0]
        )


def distance_transform(scores, square, *, linear=0.0, mean=0.0):
    """Find the best place for a part on a spring, for every anchor of the spring.

    For every position q of a line or a grid maximises ``scores[p] - sum_d (linear[d] t[d] +
    square[d] t[d]**2)`` over the positions p, where ``t = p - q - mean`` is the displacement of p
    from the rest position of the spring. Exact, in time linear in the number of positions.

    Parameters
    ----------
    scores : array-like of shape (n,) or (height, width)
        Scores of the positions. ``-inf`` forbids one.
    square : float or array-like of shape (n_dims,)
        Cost of the squared displacement along each axis of `scores`, positive.
    linear : float or array-like of shape (n_dims,), default=0.0
        Cost of the displacement along each axis.
    mean : float or array-like of shape (n_dims,), default=0.0
        Rest position of the spring, relative to its anchor, along each axis.

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
    check_values(scores, "scores")
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
    cdef const double[:, ::1] score = np.atleast_2d(scores)
    cdef double[::1] best_out = best.reshape(-1)
    cdef int32_t[::1] places_out = places.reshape(-1)
    cdef DistanceTransform transform
    cdef const Spring* both = <const Spring*>&numbers[0, 0]
    cdef bint is_line = scores.ndim == 1
    with nogil:
        if is_line:
            transform.line(&score[0, 0], score.shape[1], both[1], &best_out[0], &places_out[0])
        else:
            transform.grid(
                &score[0, 0], score.shape[0], score.shape[1], both[0], both[1], &best_out[0],
                &places_out[0]
            )
    return best, places


def parts_max_sum(scores, parents, springs, *, bias=None):
    """Find the best places of parts that are connected to their parents by springs.

    Maximises over the cells p_k of a grid and the types t_k of the springs the sum over the parts
    k of ``scores[k, p_k]`` and, for those that have a parent, ``bias[k, t_k] - sum_d (linear u_d +
    square u_d**2)``, where ``u = p_k - p_parent - mean`` is the displacement of part k from the
    rest position of its spring, and d is over the rows and columns of the grid. Exact; time is
    linear in the numbers of cells, parts and types.

    Parameters
    ----------
    scores : array-like of shape (n_parts, height, width)
        Scores of the parts at the cells.
    parents : array-like of int of shape (n_parts,)
        The parent of each part, -1 for a root. There may be several trees.
    springs : array-like of shape (n_parts, n_types, 2, 3)
        For rows and for columns the numbers (linear, square, mean), in cells; square is positive.
        Those of roots are ignored.
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
    places, types = np.empty((2, potentials.struct_.n_parts), dtype=np.int32)
    cdef int32_t[::1] places_out = places
    cdef int32_t[::1] types_out = types
    cdef double score
    with nogil:
        score = potentials.oracle.decode(potentials.struct_, &places_out[0], &types_out[0])
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
        potentials.oracle.marginals(potentials.struct_, &out[0, 0, 0])
    return np.asarray(out)
