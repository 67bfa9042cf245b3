"""Gram matrices of the tokens of sequences (see the .pxd)."""

import numpy as np

from sskit.models.row_grams import RowGrams

from sskit.core.lanes cimport prefetch_memory
from sskit.models.features cimport FeatureRows
from sskit.models.row_kernels cimport gram_sqnorm, small_gram_sqnorm


cdef class SequenceGrams:
    """Where the matrices are, and their numbers.

    Parameters
    ----------
    offset : ndarray of shape (n_sequences,), int64
        Where the packed lower triangle of a sequence's matrix begins; -1 if it has none.
    full : ndarray of shape (n,)
        The matrices, one after the other.
    small : ndarray of shape (n,), uint8, default=None
        The same numbers as bytes; then `full` is not looked at.
    """

    def __cinit__(self, offset, full, small=None):
        self.offset, self.full = offset, full
        self.is_small = small is not None
        self.small = np.zeros(0, dtype=np.uint8) if small is None else small

    cdef bint has(self, Py_ssize_t i) noexcept nogil:
        return self.offset[i] >= 0

    cdef double sqnorm(
        self, Py_ssize_t i, const int32_t* active, Py_ssize_t n_active, const double* direction,
        Py_ssize_t stride
    ) noexcept nogil:
        if self.is_small:
            return small_gram_sqnorm(
                &self.small[self.offset[i]], active, n_active, direction, stride
            )
        return gram_sqnorm(&self.full[self.offset[i]], active, n_active, direction, stride)

    cdef double at(self, Py_ssize_t i, Py_ssize_t s, Py_ssize_t t) noexcept nogil:
        cdef Py_ssize_t place = self.offset[i]
        place += t * (t + 1) // 2 + s if s <= t else s * (s + 1) // 2 + t
        return self.small[place] if self.is_small else self.full[place]

    cdef void prefetch(self, Py_ssize_t i, Py_ssize_t count) noexcept nogil:
        cdef Py_ssize_t size = count * (count + 1) // 2
        if self.is_small:
            prefetch_memory(&self.small[self.offset[i]], size)
        else:
            prefetch_memory(&self.full[self.offset[i]], size * sizeof(double))


def no_grams(n_sequences):
    """Return what has a matrix of no sequence."""
    return SequenceGrams(np.full(n_sequences, -1, dtype=np.int64), np.empty(1))


def make_grams(FeatureRows features, const int64_t[::1] offsets, double ends=1.0):
    """Return the Gram matrices of all short enough sequences.

    A Gram matrix of T rows costs T^2 / 2 products a step, going through the features 3 times the
    stored entries; the cheaper way is taken, which also bounds the memory by a small multiple of
    the features' own.

    Parameters
    ----------
    features : FeatureRows
        Of all tokens; the threads that it allows share the work.
    offsets : ndarray of shape (n_sequences + 1,), int64
        Where the sequences begin and end.
    ends : float, default=1.0
        What is added to the squared norms of the first and of the last token of a sequence.

    Returns
    -------
    grams : SequenceGrams
        The matrices.
    """
    cdef Py_ssize_t i, count, longest = 1, total = 0, n = offsets.shape[0] - 1
    cdef int64_t[::1] offset = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        count = offsets[i + 1] - offsets[i]
        # a single token has no edges
        if count > 0 and count * (count + 1) // 2 <= 2 * features.entries(offsets[i], count):
            offset[i] = total
            longest = max(longest, count)
            total += count * (count + 1) // 2
    grams = RowGrams(features, offsets, offset, longest, ends)
    if total > 0 and features.rows.indptr != NULL:
        # counts lose nothing as bytes
        small = np.empty(total, dtype=np.uint8)
        if grams.bytes(small):
            return SequenceGrams(offset, np.empty(1), small)
    full = np.empty(max(total, 1))
    grams.numbers(full)
    return SequenceGrams(offset, full)
