"""Scores of feature rows under weights that stay where they are (see the .pxd)."""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport LANES, padded
from sskit.models.row_kernels cimport are_modest, score_rows


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
                  const double[:, :] further=None, like=None):
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

    def table(self):
        """Return the scores of all rows, shape (n_rows, n_states)."""
        cdef double[:, ::1] out = np.empty((max(self.n_rows, 1), padded(self.n_states)))
        self.write(0, self.n_rows, &out[0, 0])
        return np.asarray(out)[: self.n_rows, : self.n_states]


def row_scores(features, coef, further=None):
    """Return the `RowScores` of several matrices of rows, as a list."""
    scores, like = [], None
    for rows in features:
        part = RowScores(rows, coef, further, like)
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
