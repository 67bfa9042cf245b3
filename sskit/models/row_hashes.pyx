"""Digests by which blocks of data are known again."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from sskit.models.features cimport FeatureRows


cdef uint64_t mixed(uint64_t digest, uint64_t word) noexcept nogil:
    # multiply and fold, the step of splitmix64
    digest = (digest ^ word) * <uint64_t>0xBF58476D1CE4E5B9
    return digest ^ (digest >> 31)


def row_digests(FeatureRows features, const int64_t[::1] offsets):
    """Return one digest for each run of feature rows, the same for dense and sparse storage.

    Parameters
    ----------
    features : FeatureRows
        The rows.
    offsets : ndarray of shape (n + 1,), int64
        Run i has the rows offsets[i] to offsets[i + 1] - 1.

    Returns
    -------
    digests : ndarray of shape (n,), uint64
        Of what is not zero, where it stands, and the number of rows. Not cryptographic.
    """
    cdef Py_ssize_t i, t, e, n, n_runs = offsets.shape[0] - 1
    cdef const double* x
    cdef const int32_t* f
    cdef uint64_t digest, bits
    cdef double value
    cdef bint single = features.rows.singles != NULL
    digests = np.empty(n_runs, dtype=np.uint64)
    cdef uint64_t[::1] out = digests
    check_within(offsets, features.n_rows, "rows")
    with nogil:
        for i in range(n_runs):
            digest = <uint64_t>(offsets[i + 1] - offsets[i])
            for t in range(offsets[i], offsets[i + 1]):
                if single:
                    n, f = features.n_features, features.rows.indices
                else:
                    n = features.row(t, &x, &f)
                for e in range(n):
                    value = features.rows.singles[t * n + e] if single else x[e]
                    if value != 0.0:
                        memcpy(&bits, &value, sizeof(double))
                        digest = mixed(mixed(digest, <uint64_t>f[e]), bits)
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
    cdef Py_ssize_t i, t, n_runs = offsets.shape[0] - 1
    cdef uint64_t digest
    cdef const uint64_t[::1] words = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    digests = np.empty(n_runs, dtype=np.uint64)
    cdef uint64_t[::1] out = digests
    check_within(offsets, words.shape[0], "values")
    with nogil:
        for i in range(n_runs):
            digest = <uint64_t>(offsets[i + 1] - offsets[i])
            for t in range(offsets[i], offsets[i + 1]):
                digest = mixed(digest, words[t])
            out[i] = digest
    return digests


cdef int check_within(const int64_t[::1] offsets, Py_ssize_t n, str name) except -1:
    cdef Py_ssize_t i
    for i in range(offsets.shape[0] - 1):
        if not 0 <= offsets[i] <= offsets[i + 1] <= n:
            raise ValueError(
                f"offsets must be within the {n} {name} and never fall, got {offsets[i]}, "
                f"{offsets[i + 1]}"
            )
    return 0
