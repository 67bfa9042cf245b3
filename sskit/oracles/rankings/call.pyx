"""One call of a loss of whole sets, on arrays."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal, check_indices, check_least
from sskit.oracles.rankings.measure cimport Measure


def find_worst(Measure measure, const double[::1] scores, grades, double loss_weight):
    """Return the coefficients of the rows at the maximum, and the loss there.

    Parameters
    ----------
    measure : Measure
        With scratch memory for at least n_rows rows.
    scores : ndarray of shape (n_rows,)
        Scores of the rows.
    grades : ndarray of shape (n_rows,), int32
        Grades of the rows, 0 to max(n_rows, 2) - 1.
    loss_weight : float
        Weight of the loss.

    Returns
    -------
    coef : ndarray of shape (n_rows,)
        Coefficients of the rows in psi.
    loss : float
        The loss.
    """
    cdef Py_ssize_t n = scores.shape[0], e, count
    cdef double loss
    check_equal(len(grades), n, "the number of grades")
    check_least(measure.max_rows, n, "max_rows")
    check_indices(grades, max(n, 2), "grade")
    coef = np.zeros(n)
    if n == 0:
        return coef, 0.0
    cdef const int32_t[::1] grade = grades
    cdef int32_t[::1] code = np.zeros(n, dtype=np.int32), index = np.zeros(n, dtype=np.int32)
    cdef double[::1] value = np.zeros(n), out = coef
    with nogil:
        loss = measure.find(n, &grade[0], &scores[0], loss_weight, &code[0])
        count = measure.coefficients(n, &grade[0], &code[0], &index[0], &value[0])
        for e in range(count):
            out[index[e]] = value[e]
    return coef, loss
