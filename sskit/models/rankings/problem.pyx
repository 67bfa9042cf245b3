"""Sets of rows bound to data (see the .pxd)."""

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.models.features import row_digests

from libc.string cimport memset

from sskit.core.checks cimport check_indices, check_offsets
from sskit.core.direction cimport Direction
from sskit.core.lanes cimport padded
from sskit.models.features cimport score_rows_apart
from sskit.models.rows cimport add_row, clear_rows, clip_rows, dot_row


cdef class RankingProblem(Problem):
    """Sets of rows bound to data.

    Parameters
    ----------
    features : FeatureRows
        Rows of all sets, one set after the other.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Set i has the rows offsets[i] to offsets[i + 1] - 1, at least one.
    grades : ndarray of shape (n_rows,), int32
        Grades of the rows: 0 and 1, or from 0 to less than the number of rows of their set.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the sets, summing to one.
    measure : Measure
        The loss.
    intercept : bool
        Whether to add a constant feature, which is regularised as the others are.
    name : tuple
        By what the loss is known again.
    """

    def __cinit__(self, FeatureRows features, offsets, grades, block_weight, Measure measure,
                  bint intercept, name):
        check_offsets(offsets, features.n_rows, 1, "offsets")
        sizes = np.diff(offsets)
        check_indices(grades, max(int(sizes.max(initial=0)), 2), "grade")
        if (grades >= np.repeat(np.maximum(sizes, 2), sizes)).any():
            raise IndexError("the grades of a set must be below the number of its rows")
        if not measure.graded and (grades > 1).any():
            raise IndexError("this loss knows the grades 0 and 1 only")
        self.features = features
        self.arrays = offsets, grades
        self.offsets, self.grades = offsets, grades
        self.block_weight = block_weight
        self.name = name
        self.intercept = intercept
        self.n_blocks = len(offsets) - 1
        self.n_weights = features.n_features + intercept
        largest = int(sizes.max(initial=0))
        self.max_statistics = padded(largest)
        self.max_code_length = self.max_support = largest
        self.exact = self.costly = self.lock_free = True
        self.measure = measure.fork(largest)
        self.image = np.zeros(features.n_features + 1)

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i + 1] - self.offsets[i]

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return self.measure.knows(self.code_length(i), &self.grades[self.offsets[i]], code)

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        memset(code, 0, self.code_length(i) * sizeof(int32_t))
        return 0

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        cdef Py_ssize_t t, n = self.code_length(i)
        score_rows_apart(&self.features.rows, self.offsets[i], n, w, 1, theta, 1)
        if self.intercept:
            for t in range(n):
                theta[t] += w[self.features.n_features]
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t e
        for e in range(count):
            theta[index[e]] = dot_row(&self.features.rows, self.offsets[i] + index[e], w, 1)
            if self.intercept:
                theta[index[e]] += w[self.features.n_features]
        return 0

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        loss[0] = self.measure.find(
            self.code_length(i), &self.grades[self.offsets[i]], theta, loss_weight, code
        )
        return 0

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        return self.measure.coefficients(
            self.code_length(i), &self.grades[self.offsets[i]], code, index, value
        )

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef Py_ssize_t e
        cdef double change, total = 0.0
        for e in range(delta.n):
            change = step * delta.value[delta.index[e]]
            if change != 0.0:
                add_row(&self.features.rows, self.offsets[i] + delta.index[e], change, v, 1)
                total += change
        if self.intercept:
            v[self.features.n_features] += total
        return 0

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef Py_ssize_t j = self.features.n_features
        if delta.n:
            clip_rows(
                &self.features.rows, self.offsets[i], &delta.index[0], delta.n, 1, v, lower,
                upper, w
            )
        if self.intercept:
            w[j] = min(max(v[j], lower[j]), upper[j])
        return 0

    # ||B delta||^2 = <delta, B' B delta>: in time that does not grow with the number of features
    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef double* image = &self.image[0]
        cdef Py_ssize_t e, first = self.offsets[i]
        cdef double total = 0.0, sum = 0.0
        if not delta.n:
            return 0.0
        for e in range(delta.n):
            sum += delta.value[delta.index[e]]
            add_row(
                &self.features.rows, first + delta.index[e], delta.value[delta.index[e]], image, 1
            )
        if self.features.rows.indptr == NULL:
            for e in range(self.features.n_features):
                total += image[e] * image[e]
                image[e] = 0.0
        else:
            for e in range(delta.n):
                total += delta.value[delta.index[e]] * dot_row(
                    &self.features.rows, first + delta.index[e], image, 1
                )
            clear_rows(&self.features.rows, first, &delta.index[0], delta.n, 1, image)
            total = max(total, 0.0)
        return total + (sum * sum if self.intercept else 0.0)

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        self.features.prefetch(self.offsets[i], self.code_length(i))

    cpdef Problem fork(self):
        offsets, grades = self.arrays
        return RankingProblem(
            self.features, offsets, grades, np.asarray(self.block_weight), self.measure,
            self.intercept, self.name
        )

    def fingerprint(self):
        """Return by what the same rows, grades and loss are known again."""
        offsets, grades = self.arrays
        table = np.column_stack([grades, np.ones(len(grades))])
        return Fingerprint(
            {
                "the model": "rankings",
                "the number of features": self.features.n_features,
                "loss": self.name,
                "fit_intercept": str(self.intercept),
            },
            {
                "X": row_digests(self.features, offsets),
                "y": row_digests(FeatureRows(table, False), offsets),
            },
        )
