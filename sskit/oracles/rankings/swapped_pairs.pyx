"""The ranking with the most violating pairs in the wrong order (see the .pxd)."""

import numpy as np

from sskit._numbers import as_array, as_floats
from sskit.oracles.gate import check_numbers

from libc.math cimport INFINITY

cdef extern from "<algorithm>" namespace "std":
    void sort[Place](Place first, Place last) noexcept nogil


cdef class SwappedPairs:
    """Share of the pairs in the wrong order: with two grades one less the ROC area.

    A pair is counted as wrong where that is the more violating, for each pair by itself
    (Joachims 2005, algorithm 3, for two grades, for which the pairs that are found make a
    ranking; Joachims 2006, section 4, for more grades). O(n log n): one sweep over the rows by
    score counts, in a Fenwick tree over the grades, how many of lower grade come close from
    below, another how many of higher grade do from above.

    Parameters
    ----------
    max_rows : int
        Number of rows of the largest set.
    """

    def __cinit__(self, Py_ssize_t max_rows):
        self.max_rows = max_rows
        self.rows.resize(max_rows + 1)
        self.of_grade.resize(max_rows + 1)
        self.tree.resize(max_rows + 1)

    cdef Py_ssize_t count_below(self, Py_ssize_t n, const int32_t* grade) noexcept nogil:
        cdef Py_ssize_t t, g, n_grades = 0
        cdef int64_t below = 0
        for t in range(n):
            n_grades = max(n_grades, <Py_ssize_t>grade[t] + 1)
        for g in range(n_grades):
            self.of_grade[g] = 0
        for t in range(n):
            self.of_grade[grade[t]] += 1
        for g in range(n_grades):
            below += self.of_grade[g]
            self.of_grade[g] = below - self.of_grade[g]
        return n_grades

    cdef double find(
        self, Py_ssize_t n, const int32_t* grade, const double* score, Py_ssize_t stride,
        double loss_weight, int32_t* code
    ) noexcept nogil:
        cdef int64_t pairs = 0, wrong = 0, inserted, found
        cdef Py_ssize_t t, g, q, upper, n_grades = self.count_below(n, grade)
        cdef pair[double, int32_t]* rows = self.rows.data()
        cdef double s
        for t in range(n):
            code[t], s = 0, score[t * stride]
            pairs += self.of_grade[grade[t]]
            # what is not a number, which a fit may have before it is found to overflow, is the
            # lowest score: sorting needs an order
            rows[t].first = -s if s == s else INFINITY
            rows[t].second = <int32_t>t
        if not pairs:
            return 0.0
        sort(rows, rows + n)    # the highest score first, of equal ones the first row
        # a pair is in order if the lower score plus the weight is at most the higher one; both
        # sweeps ask that in the same words, so that they count the same pairs
        for upper in range(2):
            for g in range(n_grades):
                self.tree[g + 1] = 0
            q, inserted = n - 1, 0
            for t in range(n - 1, -1, -1):
                s, g = -rows[t].first, grade[rows[t].second]
                while q >= 0 and (
                    -rows[q].first < s + loss_weight if upper else -rows[q].first + loss_weight <= s
                ):
                    self.insert(grade[rows[q].second], n_grades)
                    inserted += 1
                    q -= 1
                if upper:
                    found = self.inserted_below(g + 1) - inserted
                else:
                    found = self.of_grade[g] - self.inserted_below(g)
                    wrong += found
                code[rows[t].second] += <int32_t>found
        return (<double>wrong) / pairs

    cdef void insert(self, Py_ssize_t g, Py_ssize_t n_grades) noexcept nogil:
        g += 1
        while g <= n_grades:
            self.tree[g] += 1
            g += g & -g

    cdef int64_t inserted_below(self, Py_ssize_t g) noexcept nogil:
        cdef int64_t total = 0
        while g > 0:
            total += self.tree[g]
            g -= g & -g
        return total

    cdef Py_ssize_t coefficients(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code, Py_ssize_t stride,
        int32_t* index, double* value
    ) noexcept nogil:
        cdef Py_ssize_t t, count = 0
        cdef int64_t pairs = 0
        self.count_below(n, grade)
        for t in range(n):
            pairs += self.of_grade[grade[t]]
        for t in range(n):
            if code[t]:
                index[count] = <int32_t>(t * stride)
                value[count] = code[t] / <double>pairs
                count += 1
        return count

    cdef bint knows(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code
    ) noexcept nogil:
        cdef Py_ssize_t t, g, n_grades = self.count_below(n, grade)
        cdef int64_t total = 0
        for t in range(n):
            g = grade[t]
            if code[t] > self.of_grade[g]:
                return False
            if -<int64_t>code[t] > (n - self.of_grade[g + 1] if g + 1 < n_grades else 0):
                return False
            total += code[t]
        return total == 0


def worst_ranking(scores, relevance, *, loss_weight=1.0):
    """Find the ranking of a whole set of rows that violates the ROC area most.

    The loss is the share of the pairs of rows of different relevance that are in the wrong order:
    where relevance is 0 or 1, one less the area under the ROC curve. Maximises ``loss_weight *
    loss(y) - coef(y) @ scores`` over all rankings y of the rows, where ``coef(y)`` is the mean,
    over all pairs, of 1 for the more relevant and -1 for the other row of each pair in the wrong
    order. With more than two grades each pair may be wrong by itself, be that a ranking or not.
    Exact, in O(n log n).

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Scores of the rows, finite.
    relevance : array-like of shape (n_rows,)
        Numbers: the higher, the further up the row belongs.
    loss_weight : float, default=1.0
        Weight of the loss, at least 0.

    Returns
    -------
    coef : ndarray of shape (n_rows,)
        Coefficients of the rows at the maximum; zeros if nothing is violated, or there is nothing
        to tell apart.
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
    given = as_floats(loss_weight, "loss_weight").reshape(-1)
    if given.shape != (1,) or not 0 <= given[0] < np.inf:
        raise ValueError(f"loss_weight must be a number >= 0, got {loss_weight!r}")
    cdef Py_ssize_t n = len(scores), e, count
    cdef double weight = given[0], loss
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
