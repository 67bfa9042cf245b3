"""The ranking with the most violating pairs in the wrong order (see the .pxd)."""

import numpy as np

from sskit._numbers import as_array, as_floats
from sskit.oracles.validation import check_numbers

from libc.stdint cimport int32_t


def worst_ranking(scores, relevance, *, loss_weight=1.0):
    """Find the ranking of a whole set of rows that violates the ROC area most.

    The loss is the fraction of the pairs of rows of different relevance that are in the wrong
    order: if relevance is 0 or 1, one minus the area under the ROC curve. Maximises ``loss_weight
    * loss(y) - coef(y) @ scores`` over all rankings y of the rows, where ``coef(y)`` is the mean,
    over all pairs, of 1 for the more relevant and -1 for the other row of each pair in the wrong
    order. With more than two grades each pair may be wrong by itself, whether that is a ranking or
    not. Exact, in O(n log n).

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Scores of the rows, finite.
    relevance : array-like of shape (n_rows,)
        Numbers: a row with a higher number belongs further up.
    loss_weight : float, default=1.0
        Weight of the loss, at least 0.

    Returns
    -------
    coef : ndarray of shape (n_rows,)
        Coefficients of the rows at the maximum; zeros if nothing is violated, or all rows have the
        same relevance.
    loss : float
        The loss there, from 0 to 1.
    value : float
        The maximum, at least 0.

    Raises
    ------
    ValueError
        If shapes do not match, or a number is not finite.

    References
    ----------
    Joachims (2005). A support vector method for multivariate performance measures. ICML.
    Algorithm 3.

    Joachims (2006). Training linear SVMs in linear time. KDD.

    Examples
    --------
    >>> from sskit.oracles import worst_ranking
    >>> coef, loss, value = worst_ranking([2.0, 0.5, 1.0, -3.0], [1, 1, 0, 0])
    >>> coef, loss, value
    (array([ 0.  ,  0.25, -0.25,  0.  ]), 0.25, 0.375)
    """
    scores = check_numbers(scores, "scores", "(n_rows,)")
    relevance = as_array(relevance, "relevance")
    if relevance.shape != scores.shape or relevance.dtype.kind not in "biuf":
        raise ValueError(
            f"relevance must hold a number for each of the {len(scores)} rows, got shape "
            f"{relevance.shape} and dtype {relevance.dtype}"
        )
    wrong = np.flatnonzero(~np.isfinite(relevance))
    if len(wrong):
        raise ValueError(
            f"relevance[{wrong[0]}] is {relevance[wrong[0]]}, expected a finite number"
        )
    weights = as_floats(loss_weight, "loss_weight").reshape(-1)
    if weights.shape != (1,) or not 0 <= weights[0] < np.inf:
        raise ValueError(f"loss_weight must be a number >= 0, got {loss_weight!r}")
    cdef Py_ssize_t n = len(scores), e, count
    cdef double weight = weights[0], loss
    coef = np.zeros(n)
    if n == 0:
        return coef, 0.0, 0.0
    cdef SwappedPairs oracle = SwappedPairs(n)
    cdef const int32_t[::1] grade = np.unique(relevance, return_inverse=True)[1].astype(np.int32)
    cdef const double[::1] score = scores
    cdef int32_t[::1] code = np.zeros(n, dtype=np.int32), index = np.zeros(n, dtype=np.int32)
    cdef double[::1] value = np.zeros(n), out = coef
    with nogil:
        loss = oracle.find(n, &grade[0], &score[0], 1, weight, &code[0])
        count = oracle.coefficients(n, &grade[0], &code[0], 1, &index[0], &value[0])
        for e in range(count):
            out[index[e]] = value[e]
    return coef, loss, weight * loss - float(coef @ scores)
