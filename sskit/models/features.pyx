"""Feature matrices as the kernels read them."""

import numpy as np
import scipy.sparse as sp

from sskit._ready import is_canonical

from sskit.core.lanes cimport LANES, prefetch_memory

# Below this share of non-zeros a dense matrix is cheaper to hold and to multiply as CSR.
SPARSE_BELOW = 0.4


cdef class FeatureRows:
    """Feature rows of a dense or CSR matrix.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features), float64, or float32 if dense
        Dense arrays must be C-contiguous. Nothing is copied but the row pointers, except that
        a dense matrix with few non-zeros becomes CSR, and that a CSR matrix with unsorted or
        repeated columns is brought into canonical format: norms and Gram matrices need every
        column of a row once.
    sparsify : bool, default=True
        Whether a dense matrix with few non-zeros becomes CSR; float32 stays dense.

    Raises
    ------
    ValueError
        If the arrays of a CSR matrix do not describe one.
    """

    def __cinit__(self, X, bint sparsify=True):
        single = X.dtype == np.float32
        if sparsify and not (single or sp.issparse(X)) and (
            np.count_nonzero(X) < SPARSE_BELOW * X.size
        ):
            X = compressed(X)
        self.n_rows, self.n_features = X.shape
        if sp.issparse(X):
            X = checked_csr(X)
            self.values = X.data
            self.indices = X.indices.astype(np.int32, copy=False)
            self.indptr = X.indptr.astype(np.int64, copy=False)
            self.n_entries = self.indptr[self.n_rows]
            self.rows.indptr = &self.indptr[0]
        else:
            if single:
                self.singles = X.reshape(-1)
            else:
                self.values = X.reshape(-1)
            self.indices = np.arange(self.n_features, dtype=np.int32)
            self.n_entries = X.size
            self.rows.indptr = NULL
        self.rows.width = self.n_features
        if self.n_entries and not single:
            self.rows.values = &self.values[0]
        elif self.n_entries:
            self.rows.singles = &self.singles[0]
        if self.indices.shape[0]:
            self.rows.indices = &self.indices[0]

    cdef Py_ssize_t entries(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
        if self.rows.indptr == NULL:
            return count * self.n_features
        return self.rows.indptr[first + count] - self.rows.indptr[first]

    cdef void prefetch(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
        cdef Py_ssize_t start = first * self.n_features
        cdef Py_ssize_t n = self.entries(first, count)
        if self.rows.indptr != NULL:
            start = self.rows.indptr[first]
            prefetch_memory(self.rows.indices + start, n * sizeof(int32_t))
        if self.rows.singles != NULL:
            prefetch_memory(self.rows.singles + start, n * sizeof(float))
        else:
            prefetch_memory(self.rows.values + start, n * sizeof(double))

    cdef int gram(
        self, Py_ssize_t first, Py_ssize_t count, double* scratch, double* out
    ) except -1 nogil:
        cdef Py_ssize_t s, t, e
        cdef double total
        cdef const double* x
        cdef const int32_t* f
        cdef Py_ssize_t n
        for s in range(count):
            n = self.row(first + s, &x, &f)
            for e in range(n):
                scratch[f[e]] = x[e]
            for t in range(s, count):
                n = self.row(first + t, &x, &f)
                total = 0.0
                for e in range(n):
                    total += x[e] * scratch[f[e]]
                out[t * (t + 1) // 2 + s] = total
            n = self.row(first + s, &x, &f)
            for e in range(n):
                scratch[f[e]] = 0.0
        return 0

    cdef Py_ssize_t row(
        self, Py_ssize_t t, const double** x, const int32_t** f
    ) except -1 nogil:
        if self.rows.singles != NULL:
            with gil:
                raise TypeError("features of float32 cannot be read row by row, float64 can")
        if self.rows.indptr == NULL:
            x[0] = self.rows.values + t * self.n_features
            f[0] = self.rows.indices
            return self.n_features
        x[0] = self.rows.values + self.rows.indptr[t]
        f[0] = self.rows.indices + self.rows.indptr[t]
        return self.rows.indptr[t + 1] - self.rows.indptr[t]


def no_features(n_rows):
    """Return rows without features, of which all that counts is their number."""
    return FeatureRows(np.empty((n_rows, 0)))


def with_spare(w):
    """Return a copy of weights with the spare ones that kernels may read at their end."""
    return np.concatenate([w, np.zeros(LANES)])


def compressed(X, Py_ssize_t n_rows=4096):
    """Return a dense matrix as CSR, `n_rows` rows at a time: SciPy takes four times the memory."""
    # SciPy copies columns that are narrower than the pointers
    index = np.int32 if X.size <= np.iinfo(np.int32).max else np.int64
    pointers = np.zeros(len(X) + 1, dtype=index)
    for first in range(0, len(X), n_rows):
        rows = X[first : first + n_rows]
        pointers[first + 1 : first + 1 + len(rows)] = np.count_nonzero(rows, axis=1)
    np.cumsum(pointers, out=pointers)
    n_entries = pointers[len(X)]
    values, columns = np.empty(n_entries), np.empty(n_entries, dtype=index)
    for first in range(0, len(X), n_rows):
        rows = X[first : first + n_rows]
        used = rows != 0
        place = slice(pointers[first], pointers[first + len(rows)])
        values[place] = rows[used]
        columns[place] = np.nonzero(used)[1]
    return sp.csr_array((values, columns, pointers), shape=X.shape)


def checked_csr(X):
    """Return a CSR matrix in canonical format; ValueError if its pointers or indices are wrong."""
    if is_canonical(X):
        return X
    check_csr(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def check_csr(X):
    """Raise ValueError unless row pointers and column indices of a CSR matrix are in range."""
    n_rows, n_features = X.shape
    pointers, n_stored = X.indptr, min(len(X.indices), len(X.data))
    if (
        len(pointers) != n_rows + 1 or pointers[0] != 0 or (np.diff(pointers) < 0).any()
        or pointers[n_rows] > n_stored
    ):
        raise ValueError("the sparse matrix has row pointers out of range")
    used = X.indices[: pointers[n_rows]]
    if len(used) and not (0 <= used.min() and used.max() < n_features):
        raise ValueError("the sparse matrix has column indices out of range")
