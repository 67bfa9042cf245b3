"""Scores of feature rows under weights that stay where they are (see the .pxd)."""

from itertools import repeat

import numpy as np
from joblib import effective_n_jobs

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport LANES, padded
from sskit.models.row_kernels cimport are_modest, score_rows
from sskit.parallel.crew cimport Crew, Task

# Products of a table from which on threads are worth starting.
LEAST_PRODUCTS = 10_000_000
# Portions of rows for each thread, in whole groups.
cdef Py_ssize_t PORTIONS = 8
cdef Py_ssize_t GROUP = 64
MOST_WORKERS = 64


cdef class RowScores:
    """Scores of feature rows.

    Parameters
    ----------
    features : FeatureRows
        The rows.
    coef : ndarray of shape (n_states, p), float64
        The weights, of any strides; fastest if those of a feature are neighbours.
    further : ndarray of shape (n_states, n_features - p), float64, default=None
        Weights of further features; None if there are none.
    like : RowScores, default=None
        Scores of other rows under the same weights: if both need all of them, one copy serves.
    """

    def __cinit__(self, FeatureRows features, const double[:, :] coef,
                  const double[:, :] further=None, like=None, *args):
        cdef RowScores other = like
        cdef int32_t[::1] columns
        cdef Py_ssize_t n_further = 0 if further is None else further.shape[1]
        if n_further:
            check_equal(further.shape[0], coef.shape[0], "the number of rows of further")
        check_equal(coef.shape[1] + n_further, features.n_features, "the number of columns")
        self.features, self.rows = features, features.rows
        self.n_rows, self.n_states = features.n_rows, coef.shape[0]
        self.gathers = (
            features.rows.indptr != NULL and features.n_entries < features.rows.further
        )
        # further columns, of which dense and sparse rows may have some, are never gathered
        self.n_columns = features.rows.n_further + (
            features.n_entries if self.gathers else features.rows.further
        )
        if other is not None and not (self.gathers or other.gathers):
            check_equal(other.n_columns, self.n_columns, "the number of columns of other rows")
            check_equal(other.n_states, self.n_states, "the number of states of other rows")
            self.weights = other.weights
            return
        self.n_read = self.n_columns * self.n_states
        self.weights = np.empty(self.n_read + LANES)
        self.weights[self.n_read :] = 0.0
        if self.gathers:
            columns = np.empty(self.n_columns + 1, dtype=np.int32)
            write_columns(&features.rows, features.n_entries, columns)
            copy_columns(coef, further, &columns[0], self.n_columns, &self.weights[0])
            self.columns = np.arange(self.n_columns + 1, dtype=np.int32)
            self.rows.indices, self.rows.shift = &self.columns[0], 0
            self.rows.further = features.n_entries
            return
        copy_columns(coef, further, NULL, self.n_columns, &self.weights[0])

    cdef void write(self, Py_ssize_t first, Py_ssize_t count, double* out) noexcept nogil:
        score_rows(&self.rows, first, count, &self.weights[0], self.n_states, out)

    cdef bint modest(self) noexcept nogil:
        if not are_modest(&self.weights[0], self.n_columns * self.n_states):
            return False
        # all others are of a type that has no larger numbers
        return self.rows.values == NULL or are_modest(
            self.rows.values, self.features.n_entries
        )

    def table(self, n_jobs=None):
        """Return the scores of all rows.

        Parameters
        ----------
        n_jobs : int, default=None
            Number of threads; the bits do not depend on it.

        Returns
        -------
        scores : ndarray of shape (n_rows, n_states)
            A view of rows with spare numbers.
        """
        cdef double[:, ::1] out = np.empty((max(self.n_rows, 1), padded(self.n_states)))
        cdef Py_ssize_t n_workers = 1, chunk
        cdef Crew crew
        cdef Task table
        if self.features.n_entries * self.n_states >= LEAST_PRODUCTS:
            n_workers = min(effective_n_jobs(n_jobs), MOST_WORKERS)
        if n_workers == 1:
            self.write(0, self.n_rows, &out[0, 0])
        else:
            crew, table = Crew(n_workers), Table(self, out)
            # rows go through the processor in groups
            chunk = (self.n_rows // (PORTIONS * n_workers) // GROUP + 1) * GROUP
            crew.begin(table)
            try:
                with nogil:
                    crew.run(self.n_rows, chunk)
            finally:
                crew.end()
        return np.asarray(out)[: self.n_rows, : self.n_states]


cdef class PossibleScores(RowScores):
    """Scores of feature rows where not every row can have every state: these have -inf.

    Parameters
    ----------
    features, coef, further, like : object
        As for `RowScores`.
    possible : ndarray of shape (n_rows, n_states), bool
        Which states are possible.
    """

    cdef const unsigned char[:, :] possible

    def __cinit__(self, FeatureRows features, coef, further, like, possible):
        self.possible = np.asarray(possible, dtype=bool).view(np.uint8)
        check_equal(self.possible.shape[0], self.n_rows, "the number of rows of possible")
        check_equal(self.possible.shape[1], self.n_states, "the number of columns of possible")

    cdef void write(self, Py_ssize_t first, Py_ssize_t count, double* out) noexcept nogil:
        cdef Py_ssize_t stride = padded(self.n_states), t, k
        RowScores.write(self, first, count, out)
        for t in range(count):
            for k in range(self.n_states):
                if not self.possible[first + t, k]:
                    out[t * stride + k] = -INFINITY


cdef class Table(Task):
    """The scores of all rows, of which each thread writes some.

    Parameters
    ----------
    scores : RowScores
        The rows and weights.
    out : ndarray of shape (n_rows, padded(n_states))
        Where they are written.
    """

    cdef RowScores scores
    cdef double[:, ::1] out

    def __cinit__(self, RowScores scores, double[:, ::1] out):
        check_equal(out.shape[0], max(scores.n_rows, 1), "the number of rows")
        check_equal(out.shape[1], padded(scores.n_states), "the number of columns")
        self.scores, self.out = scores, out

    cdef bint perform(
        self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker
    ) except -1 nogil:
        self.scores.write(start, stop - start, &self.out[start, 0])
        return False


def row_scores(features, coef, further=None, possible=None):
    """Return the `RowScores` of several matrices of rows, as a list.

    Parameters
    ----------
    features : iterable of FeatureRows
        The rows.
    coef, further : ndarray
        As for `RowScores`.
    possible : iterable of ndarray of shape (n_rows, n_states), bool, default=None
        Which states are possible; None means all.

    Returns
    -------
    scores : list of RowScores
        One for each matrix.
    """
    scores, like = [], None
    kind, more = (RowScores, repeat(())) if possible is None else (PossibleScores, zip(possible))
    for rows, others in zip(features, more):
        part = kind(rows, coef, further, like, *others)
        scores.append(part)
        like = part if like is None or like.gathers else like
    return scores


cdef void write_columns(const Rows* rows, Py_ssize_t n, int32_t[::1] out) noexcept nogil:
    """Write the column of each entry of sparse rows, then the further columns."""
    cdef Py_ssize_t j
    for j in range(n):
        out[j] = rows.indices[j << rows.shift]
    for j in range(rows.n_further):
        out[n + j] = <int32_t>(rows.further + j)


cdef void copy_columns(
    const double[:, :] coef, const double[:, :] further, const int32_t* columns, Py_ssize_t n,
    double* out
) noexcept nogil:
    """Write columns of the weights, one after the other; those 0 to n - 1 if none are named."""
    cdef Py_ssize_t n_states = coef.shape[0], p = coef.shape[1], first = 0, c, j, k
    if n == 0 or n_states == 0:
        return
    if (
        columns == NULL and p and coef.strides[0] == sizeof(double)
        and coef.strides[1] == n_states * <Py_ssize_t>sizeof(double)
    ):
        memcpy(out, &coef[0, 0], p * n_states * sizeof(double))
        first = p
    for j in range(first, n):
        c = j if columns == NULL else columns[j]
        if c < p:
            for k in range(n_states):
                out[j * n_states + k] = coef[k, c]
        else:
            for k in range(n_states):
                out[j * n_states + k] = further[k, c - p]
