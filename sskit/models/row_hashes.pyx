"""Digests by which blocks of data are known again."""

import numpy as np

from libc.stdint cimport int64_t, uint64_t

from sskit.models.features cimport FeatureRows
from sskit.models.rows cimport Rows


cdef extern from "row_hashes.hpp" namespace "sskit":
    uint64_t mixed(uint64_t digest, uint64_t word) noexcept nogil
    uint64_t add_row_digest(const Rows* rows, Py_ssize_t t, uint64_t digest) noexcept nogil


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
        Of what is not zero, where it stands, and the number of rows. Not cryptographic.
    """
    cdef Py_ssize_t i, t, n_runs = offsets.shape[0] - 1
    cdef uint64_t digest
    digests = np.empty(n_runs, dtype=np.uint64)
    cdef uint64_t[::1] out = digests
    check_within(offsets, features.n_rows, "rows")
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
