"""Feature matrices as the kernels read them."""

import mmap
import sys
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from sskit._ready import is_canonical

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport LANES, prefetch_memory
from sskit.models.row_kernels cimport gram_rows
from sskit.models.rows cimport Half, add_squares

# Below this share of non-zeros a dense matrix is cheaper to hold and to multiply as CSR, which
# takes 12 bytes for each of them ...
SPARSE_BELOW = 0.4
# ... or 8 in single precision, which is half of what the user's matrix takes at the most.
SINGLES_SPARSE_BELOW = 0.25
FLOATS = (np.float64, np.float32, np.float16)
# Entries that are made float64 at once where nothing else will do.
BLOCK_ENTRIES = 2**19
MOST_FEATURES = 2**31 - 1
# Rows that say how often columns occur.
COUNTED_ROWS = 10_000


def cut_columns(counts, n_parts):
    """Return where so many runs of columns begin that have as many entries each.

    Parameters
    ----------
    counts : ndarray of shape (n_columns,)
        How often the columns occur.
    n_parts : int
        Number of runs.

    Returns
    -------
    cuts : ndarray of shape (n_parts + 1,), int64
        They rise from zero to the number of columns; or beyond it, with runs that are empty, where
        there are more runs than columns.
    """
    shares = np.arange(1, n_parts) / n_parts * np.sum(counts)
    cuts = np.array([0, *np.searchsorted(np.cumsum(counts), shares), len(counts)], dtype=np.int64)
    # no two runs begin at the same column, however often it occurs
    places = np.arange(n_parts + 1)
    return np.maximum.accumulate(cuts - places) + places


cdef class FeatureRows:
    """Feature rows of a dense or CSR matrix.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features), float64, float32 or float16
        Dense arrays must be C-contiguous; CSR matrices are not float16. Nothing is copied but
        row pointers of 32 bits, except that a dense matrix with few non-zeros becomes CSR, and
        that a CSR matrix with unsorted or repeated columns is brought into canonical format: norms
        and Gram matrices need every column of a row once.
    sparsify : bool, default=True
        Whether a dense matrix with few non-zeros becomes CSR; float16 stays dense, and so does
        float32 that is memory-mapped.
    marks : ndarray of shape (n_rows,), uint8, default=None
        Two further columns of zeros and ones, which are the two lowest bits.
    n_jobs : int, default=None
        Number of threads for what is computed of all rows at once.

    Raises
    ------
    ValueError
        If the arrays of a CSR matrix do not describe one.
    """

    def __cinit__(self, X, bint sparsify=True, marks=None, n_jobs=None):
        self.n_jobs = n_jobs
        if sparsify and not sp.issparse(X) and has_few_entries(X):
            X = compressed(X)
        self.n_rows, self.n_features = X.shape
        if self.n_features > MOST_FEATURES:
            raise ValueError(f"{MOST_FEATURES} features are possible, got {self.n_features}")
        if X.dtype not in FLOATS:
            raise TypeError(f"features must be float64, float32 or float16, got {X.dtype}")
        if sp.issparse(X):
            X = checked_csr(X)
            self.set_entries(X.data)
            self.set_indices(X.indices)
            self.indptr = X.indptr.astype(np.int64, copy=False)
            self.n_entries = self.indptr[self.n_rows]
            self.rows.indptr = &self.indptr[0]
        else:
            self.set_entries(X.reshape(-1))
            self.set_indices(first_columns(self.n_features))
            self.n_entries = X.size
        self.rows.width = self.rows.further = self.n_features
        if marks is not None:
            check_equal(len(marks), self.n_rows, "the number of marks")
            self.marks = marks
            if np.max(marks, initial=0) >= 4:
                raise ValueError("marks must be two bits")
            self.rows.marks = &self.marks[0] if self.n_rows else NULL
            self.rows.n_further = 2
            self.n_features += 2

    cdef int set_entries(self, entries) except -1:
        """Set the numbers, which lie one after the other."""
        if entries.dtype == np.float32:
            self.singles = entries
            if len(entries):
                self.rows.singles = &self.singles[0]
        elif entries.dtype == np.float16:
            self.halves = entries.view(np.uint16)
            if len(entries):
                self.rows.halves = <const Half*>&self.halves[0]
        else:
            self.values = entries
            if len(entries):
                self.rows.values = &self.values[0]
        return 0

    cdef int set_indices(self, indices) except -1:
        """Set the columns; of a long index the half that counts is read."""
        if indices.dtype == np.int64 and sys.byteorder == "little":
            self.long_indices = indices
            if len(indices):
                self.rows.indices = <const int32_t*>&self.long_indices[0]
            self.rows.shift = 1
            return 0
        self.indices = indices.astype(np.int32, copy=False)
        if len(indices):
            self.rows.indices = &self.indices[0]
        return 0

    def count_columns(self):
        """Return how often the columns occur, in a sample of the rows of a CSR matrix.

        Returns
        -------
        counts : ndarray of shape (n_columns,), float64
            Positive, and all the same for dense rows; without the further columns.
        """
        cdef Py_ssize_t t, e
        cdef double[::1] counts = np.full(self.rows.width, 1e-9)
        if self.rows.indptr != NULL:
            for t in range(0, self.n_rows, max(1, self.n_rows // COUNTED_ROWS)):
                for e in range(self.rows.indptr[t], self.rows.indptr[t + 1]):
                    counts[self.rows.indices[e << self.rows.shift]] += 1.0
        return np.asarray(counts)

    cdef Py_ssize_t entries(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
        if self.rows.indptr == NULL:
            return count * self.rows.width
        return self.rows.indptr[first + count] - self.rows.indptr[first]

    cdef void prefetch(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
        cdef Py_ssize_t start = first * self.rows.width
        cdef Py_ssize_t n = self.entries(first, count)
        if self.rows.indptr != NULL:
            start = self.rows.indptr[first]
            prefetch_memory(
                self.rows.indices + (start << self.rows.shift),
                (n << self.rows.shift) * sizeof(int32_t)
            )
        if self.rows.singles != NULL:
            prefetch_memory(self.rows.singles + start, n * sizeof(float))
        elif self.rows.halves != NULL:
            prefetch_memory(self.rows.halves + start, n * sizeof(uint16_t))
        else:
            prefetch_memory(self.rows.values + start, n * sizeof(double))

    cdef void gram(
        self, Py_ssize_t first, Py_ssize_t count, double* scratch, double* out
    ) noexcept nogil:
        gram_rows(&self.rows, first, count, scratch, out)

    def sqnorms(self, double constant=0.0):
        """Return the squared norms of the rows, shape (n_rows,); infinite where they overflow.

        Parameters
        ----------
        constant : float, default=0.0
            The square of one more feature of all rows.

        Returns
        -------
        norms : ndarray of shape (n_rows,)
            The same for dense and CSR rows of the same numbers to the last bit.
        """
        norms = np.empty(self.n_rows)
        cdef double[::1] out = norms
        cdef Py_ssize_t t
        with nogil:
            for t in range(self.n_rows):
                out[t] = add_squares(&self.rows, t, constant)
        return norms


@lru_cache(maxsize=8)
def first_columns(n):
    """Return the numbers 0 to n - 1, which many matrices may share."""
    columns = np.arange(n, dtype=np.int32)
    columns.flags.writeable = False
    return columns


def float64_blocks(X):
    """Return slices of the rows of a matrix: blocks of few megabytes in double precision."""
    n_rows, n_columns = X.shape
    return list(gen_batches(n_rows, max(1, BLOCK_ENTRIES // max(n_columns, 1))))


def is_mapped(array):
    """Return whether the memory of an array is that of a file."""
    while array is not None:
        if isinstance(array, (np.memmap, mmap.mmap)):
            return True
        array = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
    return False


def has_few_entries(X):
    """Return whether a dense matrix has so few non-zeros that it should become CSR."""
    if X.dtype == np.float64:
        limit = SPARSE_BELOW * X.size
    elif X.dtype == np.float32 and not is_mapped(X):
        limit = SINGLES_SPARSE_BELOW * X.size
    else:
        return False
    found = 0
    for part in float64_blocks(X):
        found += np.count_nonzero(X[part])
        if found >= limit:
            break
    return found < limit


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
    values, columns = np.empty(n_entries, dtype=X.dtype), np.empty(n_entries, dtype=index)
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
