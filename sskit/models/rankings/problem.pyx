"""Sets of rows that are ranked as a whole, by one linear function of the rows."""

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.models.features import row_digests
from sskit.models.layout import WeightLayout

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from sskit.core.checks cimport check_indices, check_offsets
from sskit.core.direction cimport Direction
from sskit.core.lanes cimport padded
from sskit.core.problem cimport Problem
from sskit.models.features cimport FeatureRows, score_rows_apart
from sskit.models.rows cimport add_row, clear_rows, clip_rows, dot_row
from sskit.oracles.rankings.swapped_pairs cimport SwappedPairs


cdef class RankingProblem(Problem):
    """Sets of rows, each ranked as a whole by scores that are linear in the features.

    Block i has the rows offsets[i] to offsets[i + 1] - 1. Statistic t is the coefficient of its
    row t; the potentials are the scores of the rows. The code of a plane says by how much each row
    is wrong, see `SwappedPairs`.

    Parameters
    ----------
    features : FeatureRows
        Rows of all sets, one set after the other.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Set i has the rows offsets[i] to offsets[i + 1] - 1, at least one.
    grades : ndarray of shape (n_rows,), int32
        Grades of the rows, from 0 to less than the number of rows of their set.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the sets, summing to one.
    """

    cdef FeatureRows features
    cdef const int64_t[::1] offsets     # (n_blocks + 1,)
    cdef const int32_t[::1] grades      # (n_rows,)
    cdef SwappedPairs pairs
    cdef object arrays                  # offsets and grades
    cdef double[::1] image              # (n_features,) zero but within sqnorm

    def __cinit__(self, FeatureRows features, offsets, grades, block_weight):
        check_offsets(offsets, features.n_rows, 1, "offsets")
        sizes = np.diff(offsets)
        largest = int(sizes.max(initial=0))
        check_indices(grades, largest, "grade")
        if (grades >= np.repeat(sizes, sizes)).any():
            raise IndexError("the grades of a set must be below the number of its rows")
        self.features = features
        self.arrays = offsets, grades
        self.offsets, self.grades = offsets, grades
        self.block_weight = block_weight
        self.n_blocks = len(offsets) - 1
        self.n_weights = features.n_features
        self.max_statistics = padded(largest)
        self.max_code_length = self.max_support = largest
        self.exact = self.costly = self.lock_free = True
        self.pairs = SwappedPairs(largest)
        self.image = np.zeros(max(features.n_features, 1))

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i + 1] - self.offsets[i]

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return self.pairs.knows(self.code_length(i), &self.grades[self.offsets[i]], code)

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        memset(code, 0, self.code_length(i) * sizeof(int32_t))
        return 0

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        score_rows_apart(
            &self.features.rows, self.offsets[i], self.code_length(i), w, 1, theta, 1
        )
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t e
        for e in range(count):
            theta[index[e]] = dot_row(&self.features.rows, self.offsets[i] + index[e], w, 1)
        return 0

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        loss[0] = self.pairs.find(
            self.code_length(i), &self.grades[self.offsets[i]], theta, loss_weight, code
        )
        return 0

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        return self.pairs.coefficients(
            self.code_length(i), &self.grades[self.offsets[i]], code, index, value
        )

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef Py_ssize_t e
        cdef double change
        for e in range(delta.n):
            change = step * delta.value[delta.index[e]]
            if change != 0.0:
                add_row(&self.features.rows, self.offsets[i] + delta.index[e], change, v, 1)
        return 0

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        if delta.n:
            clip_rows(
                &self.features.rows, self.offsets[i], &delta.index[0], delta.n, 1, v, lower,
                upper, w
            )
        return 0

    # ||B delta||^2 = <delta, B' B delta>: in time that does not grow with the number of features
    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef double* image = &self.image[0]
        cdef Py_ssize_t e, first = self.offsets[i]
        cdef double total = 0.0
        if not delta.n:
            return 0.0
        for e in range(delta.n):
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
        return total

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        self.features.prefetch(self.offsets[i], self.code_length(i))

    cpdef Problem fork(self):
        return RankingProblem(self.features, *self.arrays, np.asarray(self.block_weight))

    def fingerprint(self):
        """Return by what the same rows and grades are known again."""
        offsets, grades = self.arrays
        table = np.column_stack([grades, np.ones(len(grades))])
        return Fingerprint(
            {"the model": "rankings", "the number of features": self.features.n_features},
            {
                "X": row_digests(self.features, offsets),
                "y": row_digests(FeatureRows(table, False), offsets),
            },
        )


class RankingModel:
    """Sets of rows that are ranked as a whole, by one linear function of the rows.

    Parameters
    ----------
    n_features : int
        Number of features p.

    Attributes
    ----------
    layout : WeightLayout
        Places of the weights.
    """

    def __init__(self, n_features):
        self.layout = WeightLayout(coef=(1, n_features))

    def bind(self, X, offsets, grades, block_weight):
        """Bind the model to training data.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            Features, one set of rows after the other.
        offsets : ndarray of shape (n_sets + 1,)
            Set i has the rows offsets[i] to offsets[i + 1] - 1.
        grades : ndarray of shape (n,)
            Numbers that are compared within a set.
        block_weight : ndarray of shape (n_sets,)
            Weights of the sets, summing to one.

        Returns
        -------
        problem : RankingProblem
            What solvers take.
        """
        offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        # the numbers of the grades, 0 for the lowest of the set
        parts = [
            np.unique(grades[start:stop], return_inverse=True)[1].astype(np.int32)
            for start, stop in zip(offsets, offsets[1:])
        ]
        return RankingProblem(FeatureRows(X), offsets, np.concatenate(parts), block_weight)
