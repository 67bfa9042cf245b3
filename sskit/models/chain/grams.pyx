"""Gram matrices of the tokens of sequences (see the .pxd)."""

import numpy as np

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

    cdef void prefetch(self, Py_ssize_t i, Py_ssize_t count) noexcept nogil:
        cdef Py_ssize_t size = count * (count + 1) // 2
        if self.is_small:
            prefetch_memory(&self.small[self.offset[i]], size)
        else:
            prefetch_memory(&self.full[self.offset[i]], size * sizeof(double))


def no_grams(n_sequences):
    """Return what has a matrix of no sequence."""
    return SequenceGrams(np.full(n_sequences, -1, dtype=np.int64), np.empty(1))


cdef void make_gram(
    FeatureRows features, Py_ssize_t first, Py_ssize_t count, double* scratch, double* gram
) noexcept nogil:
    features.gram(first, count, scratch, gram)
    gram[0] += 1.0
    gram[count * (count + 1) // 2 - 1] += 1.0


def make_grams(FeatureRows features, const int64_t[::1] offsets):
    """Return the Gram matrices of all short enough sequences.

    A Gram matrix of T rows costs T^2 / 2 products a step, going through the features 3 times the
    stored entries; the cheaper way is taken, which also bounds the memory by a small multiple of
    the features' own.

    Parameters
    ----------
    features : FeatureRows
        Of all tokens.
    offsets : ndarray of shape (n_sequences + 1,), int64
        Where the sequences begin and end.

    Returns
    -------
    grams : SequenceGrams
        The matrices.
    """
    cdef Py_ssize_t i, count, total = 0, n = offsets.shape[0] - 1
    cdef int64_t[::1] offset = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        count = offsets[i + 1] - offsets[i]
        if count * (count + 1) // 2 <= 2 * features.entries(offsets[i], count):
            offset[i] = total
            total += count * (count + 1) // 2
    small = small_numbers(features, offsets, offset, total)
    if small is not None:
        return SequenceGrams(offset, np.empty(1), small)
    cdef double[::1] full = np.empty(max(total, 1))
    cdef double[::1] scratch = np.zeros(max(features.n_features, 1))
    with nogil:
        for i in range(n):
            if offset[i] >= 0:
                make_gram(
                    features, offsets[i], offsets[i + 1] - offsets[i], &scratch[0],
                    &full[offset[i]]
                )
    return SequenceGrams(offset, full)


cdef small_numbers(
    FeatureRows features, const int64_t[::1] offsets, const int64_t[::1] offset, Py_ssize_t total
):
    """Return the matrices as bytes, if sparse features are such that this loses nothing."""
    cdef Py_ssize_t i, e, count, n = offsets.shape[0] - 1
    cdef bint fits = total > 0 and features.rows.indptr != NULL
    if not fits:
        return None
    cdef uint8_t[::1] small = np.empty(total, dtype=np.uint8)
    cdef double[::1] scratch = np.zeros(features.n_features + 1)
    longest = int(np.diff(offsets).max())
    cdef double[::1] gram = np.empty(longest * (longest + 1) // 2)
    with nogil:
        for i in range(n):
            if offset[i] < 0 or not fits:
                continue
            count = offsets[i + 1] - offsets[i]
            make_gram(features, offsets[i], count, &scratch[0], &gram[0])
            for e in range(count * (count + 1) // 2):
                fits = fits and 0.0 <= gram[e] < 256.0
                small[offset[i] + e] = <uint8_t>gram[e] if fits else 0
                fits = fits and small[offset[i] + e] == gram[e]
    return small if fits else None
