"""Feature matrices for compiled kernels, their norms, Gram matrices and digests."""

import mmap
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sskit._numbers import checked_csr
from sskit._ready import is_canonical

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport LANES, prefetch_memory
from sskit.models.rows cimport Half, entries_of, row_sqnorm

cdef extern from "statistics_kernels.hpp" namespace "sskit":
    double gram_sqnorm(
        const double* gram, const int32_t* active, Py_ssize_t n_active, const double* direction,
        Py_ssize_t stride
    ) noexcept nogil
    double small_gram_sqnorm "sskit::gram_sqnorm"(
        const uint8_t* gram, const int32_t* active, Py_ssize_t n_active, const double* direction,
        Py_ssize_t stride
    ) noexcept nogil
    void gram_row(
        const double* gram, Py_ssize_t t, const int32_t* active, Py_ssize_t n_active,
        const double* direction, Py_ssize_t stride, double* out
    ) noexcept nogil
    void small_gram_row "sskit::gram_row"(
        const uint8_t* gram, Py_ssize_t t, const int32_t* active, Py_ssize_t n_active,
        const double* direction, Py_ssize_t stride, double* out
    ) noexcept nogil
    bint modest "sskit::are_modest"(const double* values, Py_ssize_t n) noexcept nogil

cdef extern from "rows.hpp" namespace "sskit":
    uint64_t mixed(uint64_t digest, uint64_t word) noexcept nogil
    uint64_t add_row_digest(const Rows* rows, Py_ssize_t t, uint64_t digest) noexcept nogil

# Below this fraction of non-zeros a dense matrix is cheaper to hold and to multiply as CSR, which
# takes 12 bytes for each of them ...
SPARSE_BELOW = 0.4
# ... or 8 in single precision, which is half of what the user's matrix takes at the most.
SINGLES_SPARSE_BELOW = 0.25
FLOATS = (np.float64, np.float32, np.float16)
# Entries that are converted to float64 at a time, where a conversion is unavoidable.
BLOCK_ENTRIES = 2**19
MOST_FEATURES = 2**31 - 1
# Spare numbers behind weights.
SPARE = LANES


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
        Further columns of zeros and ones, which are the lowest bits.
    n_marks : int, default=2
        Number of these columns.

    Raises
    ------
    ValueError
        If the arrays of a CSR matrix do not describe one.
    """

    def __cinit__(self, X, bint sparsify=True, marks=None, int n_marks=2):
        if sparsify and not sp.issparse(X) and has_few_entries(X):
            X = compressed(X)
        self.n_rows, self.n_features = X.shape
        if self.n_features > MOST_FEATURES:
            raise ValueError(f"{MOST_FEATURES} features are possible, got {self.n_features}")
        if X.dtype not in FLOATS:
            raise TypeError(f"features must be float64, float32 or float16, got {X.dtype}")
        if sp.issparse(X):
            X = canonical_csr(X)
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
            self.rows.marks = &self.marks[0] if self.n_rows else NULL
            self.rows.n_further = n_marks
            self.n_features += n_marks

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
        """Set the columns."""
        self.indices = indices.astype(np.int32, copy=False)
        if len(indices):
            self.rows.indices = &self.indices[0]
        return 0

    @property
    def given_marks(self):
        """The marks of the rows, shape (n_rows,), uint8, or None."""
        return None if self.rows.marks == NULL else np.asarray(self.marks)

    cdef void prefetch(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
        cdef Py_ssize_t start = first * self.rows.width
        cdef Py_ssize_t n = entries_of(&self.rows, first, count)
        if self.rows.indptr != NULL:
            start = self.rows.indptr[first]
            prefetch_memory(self.rows.indices + start, n * sizeof(int32_t))
        if self.rows.singles != NULL:
            prefetch_memory(self.rows.singles + start, n * sizeof(float))
        elif self.rows.halves != NULL:
            prefetch_memory(self.rows.halves + start, n * sizeof(uint16_t))
        else:
            prefetch_memory(self.rows.values + start, n * sizeof(double))

    def sqnorms(self):
        """Return the squared norms of the rows, shape (n_rows,); infinite where they overflow.

        They are the same for dense and CSR rows of the same numbers to the last bit.
        """
        norms = np.empty(self.n_rows)
        cdef double[::1] out = norms
        cdef Py_ssize_t t
        with nogil:
            for t in range(self.n_rows):
                out[t] = row_sqnorm(&self.rows, t)
        return norms


def take_weights(FeatureRows rows, coefs, Py_ssize_t room=0):
    """Return the weights of the features that occur in a matrix, which reads these from now on.

    Sparse rows then have a column for each entry, unless there are more of those than features:
    no more weights are read than products are made of them, however many the model has.

    Parameters
    ----------
    rows : FeatureRows
        The matrix.
    coefs : ndarray of shape (n_columns, n_features), or list of ndarrays
        The weights, any numbers of any strides; fastest if those of a feature are neighbours.
        Columns of several arrays follow each other.
    room : int, default=0
        Number of spare entries behind the weights.

    Returns
    -------
    weights : ndarray of shape (n_used * n_columns + room,)
        Feature after feature.
    """
    cdef Py_ssize_t p = rows.rows.width, n = rows.n_entries, n_columns = 0
    coefs = coefs if isinstance(coefs, list) else [coefs]
    coefs = [np.asarray(coef, dtype=np.float64) for coef in coefs]
    for coef in coefs:
        n_columns += len(coef)
    if rows.rows.indptr == NULL or n >= p:
        out = np.empty(p * n_columns + room)
        write_columns(coefs, p, NULL, p, n_columns, out)
        return out
    out = np.empty(n * n_columns + room)
    write_columns(coefs, p, rows.rows.indices, n, n_columns, out)
    rows.set_indices(np.arange(n, dtype=np.int32))
    rows.n_features += n - p
    rows.rows.width = rows.rows.further = n
    return out


@lru_cache(maxsize=8)
def first_columns(n):
    """Return the numbers 0 to n - 1, for use by many matrices."""
    columns = np.arange(n, dtype=np.int32)
    columns.flags.writeable = False
    return columns


def float64_blocks(X):
    """Return slices of the rows of a matrix: blocks of few megabytes in double precision."""
    n_rows, n_columns = X.shape
    size = max(1, BLOCK_ENTRIES // max(n_columns, 1))
    # by hand: scikit-learn's generator checks its arguments, longer than a short sequence takes
    return [slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]


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
    return np.count_nonzero(X) < limit


def no_features(n_rows, marks=None, n_marks=2):
    """Return rows without features but for their marks."""
    return FeatureRows(np.empty((n_rows, 0)), False, marks, n_marks=n_marks)


def ones(n_rows):
    """Return the marks of rows that have the first further column."""
    return np.ones(n_rows, dtype=np.uint8)


def end_marks(const int64_t[::1] offsets):
    """Return the marks of rows that are the first or the last of their block."""
    cdef Py_ssize_t i, n = offsets.shape[0] - 1
    marks = np.zeros(offsets[n], dtype=np.uint8)
    cdef uint8_t[::1] out = marks
    for i in range(n):
        out[offsets[i]] |= 1
        out[offsets[i + 1] - 1] |= 2
    return marks


def with_spare(w):
    """Return a copy of weights with the spare ones that kernels may read at their end."""
    return np.concatenate([w, np.zeros(LANES)])


def compressed(X):
    """Return a dense matrix as CSR, some rows at a time: SciPy takes four times the memory."""
    return sp.vstack([sp.csr_array(X[part]) for part in float64_blocks(X)], format="csr")


def canonical_csr(X):
    """Return a CSR matrix in canonical format; ValueError if its pointers or indices are wrong."""
    if is_canonical(X):
        return X
    X = checked_csr(X, "features")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def squared_norms(X):
    """Return the squared norms of rows in double precision, infinite where they overflow."""
    return FeatureRows(X, sparsify=False).sqnorms()


cdef class SequenceGrams:
    """Packed Gram matrices of sequences.

    Parameters
    ----------
    offset : ndarray of shape (n_sequences,), int64
        Where the packed lower triangle of a sequence's matrix begins; -1 if it has none. Empty:
        none has one.
    numbers : ndarray of shape (n,)
        The matrices, one after the other.
    """

    def __cinit__(self, offset, numbers):
        self.offset, self.numbers = offset, numbers
        with np.errstate(invalid="ignore"):
            small = numbers.astype(np.uint8)
        self.is_small = (small == numbers).all()
        if self.is_small:
            self.small, self.numbers = small, np.empty(1)

    cdef bint has(self, Py_ssize_t i) noexcept nogil:
        return i < self.offset.shape[0] and self.offset[i] >= 0

    cdef double sqnorm(
        self, Py_ssize_t i, const int32_t* active, Py_ssize_t n_active, const double* direction,
        Py_ssize_t stride
    ) noexcept nogil:
        if self.is_small:
            return small_gram_sqnorm(
                &self.small[self.offset[i]], active, n_active, direction, stride
            )
        return gram_sqnorm(&self.numbers[self.offset[i]], active, n_active, direction, stride)

    cdef void row_of(
        self, Py_ssize_t i, Py_ssize_t t, const int32_t* active, Py_ssize_t n_active,
        const double* direction, Py_ssize_t stride, double* out
    ) noexcept nogil:
        if self.is_small:
            small_gram_row(
                &self.small[self.offset[i]], t, active, n_active, direction, stride, out
            )
        else:
            gram_row(&self.numbers[self.offset[i]], t, active, n_active, direction, stride, out)

    cdef void prefetch(self, Py_ssize_t i, Py_ssize_t count) noexcept nogil:
        cdef Py_ssize_t size = count * (count + 1) // 2
        if self.is_small:
            prefetch_memory(&self.small[self.offset[i]], size)
        else:
            prefetch_memory(&self.numbers[self.offset[i]], size * sizeof(double))


# has a matrix of no block
NO_GRAMS = SequenceGrams(np.empty(0, dtype=np.int64), np.empty(1))


def row_digests(FeatureRows features, const int64_t[::1] offsets):
    """Return one digest for each run of feature rows, the same for all storage of equal numbers.

    Parameters
    ----------
    features : FeatureRows
        The rows.
    offsets : ndarray of shape (n + 1,), int64
        Run i has the rows offsets[i] to offsets[i + 1] - 1.

    Returns
    -------
    digests : ndarray of shape (n,), uint64
        Digests of the nonzero entries, their columns, and the number of rows. Not cryptographic.
    """
    cdef Py_ssize_t i, t, n_runs = offsets.shape[0] - 1
    cdef uint64_t digest
    digests = np.empty(n_runs, dtype=np.uint64)
    cdef uint64_t[::1] out = digests
    with nogil:
        for i in range(n_runs):
            digest = <uint64_t>(offsets[i + 1] - offsets[i])
            for t in range(offsets[i], offsets[i + 1]):
                digest = add_row_digest(&features.rows, t, digest)
                digest = mixed(digest, <uint64_t>0x9E3779B97F4A7C15)
            out[i] = digest
    return digests


def value_digests(values, const int64_t[::1] offsets):
    """Return one digest for each run of numbers.

    Parameters
    ----------
    values : ndarray of shape (m,), float64 or int32
        The numbers.
    offsets : ndarray of shape (n + 1,), int64
        Run i has the numbers offsets[i] to offsets[i + 1] - 1.

    Returns
    -------
    digests : ndarray of shape (n,), uint64
        Not cryptographic.
    """
    numbers = np.ascontiguousarray(values, dtype=np.float64).reshape(-1, 1)
    return row_digests(FeatureRows(numbers, sparsify=False), offsets)


cdef int write_columns(
    list coefs, Py_ssize_t p, const int32_t* columns, Py_ssize_t n, Py_ssize_t apart,
    double[::1] out
) except -1:
    cdef const double[:, :] coef
    cdef Py_ssize_t place = 0
    for coef in coefs:
        # weights are attributes that users may set
        check_equal(coef.shape[1], p, "the number of columns")
        if n and coef.shape[0]:
            copy_columns(coef, columns, n, apart, &out[place])
        place += coef.shape[0]
    return 0


cdef void copy_columns(
    const double[:, :] coef, const int32_t* columns, Py_ssize_t n, Py_ssize_t apart, double* out
) noexcept nogil:
    """Write columns of the weights, `apart` numbers each; those 0 to n - 1 if none are named."""
    cdef Py_ssize_t n_states = coef.shape[0], p = coef.shape[1], c, j, k
    if (
        columns == NULL and p and apart == n_states and coef.strides[0] == sizeof(double)
        and coef.strides[1] == n_states * <Py_ssize_t>sizeof(double)
    ):
        memcpy(out, &coef[0, 0], p * n_states * sizeof(double))
        return
    for j in range(n):
        c = j if columns == NULL else columns[j]
        for k in range(n_states):
            out[j * apart + k] = coef[k, c]


cdef bint are_modest(const double* values, Py_ssize_t n) noexcept nogil:
    return modest(values, n)
