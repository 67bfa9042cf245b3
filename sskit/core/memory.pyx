"""Memory of compiled classes."""

import numpy as np

from libc.stdint cimport uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

from sskit.core.checks cimport check_least
from sskit.core.lanes cimport LANES

# Rows of tables have a multiple of this many numbers.
ROW_MULTIPLE = LANES


cdef void* grown(void* memory, size_t n_bytes) except NULL nogil:
    cdef void* result = realloc(memory, max(n_bytes, <size_t>1))
    if result == NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes of dual variables")
    return result


cdef inline bint any_bit(const double* v, Py_ssize_t n) noexcept nogil:
    cdef const uint64_t* bits = <const uint64_t*>v
    cdef uint64_t found = 0
    cdef Py_ssize_t j
    for j in range(n):
        found |= bits[j]
    return found != 0


cdef void clear_numbers(double* v, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t first, count
    for first in range(0, n, 512):  # pages of memory
        count = min(512, n - first)
        # a page in use mostly shows it at once
        if v[first] != 0.0 or any_bit(v + first, count):
            memset(v + first, 0, count * sizeof(double))


cdef void copy_numbers(const double* source, Py_ssize_t n, double* zeros) noexcept nogil:
    cdef Py_ssize_t first, count
    for first in range(0, n, 512):  # pages of memory
        count = min(512, n - first)
        if source[first] != 0.0 or any_bit(source + first, count):
            memcpy(zeros + first, source + first, count * sizeof(double))


def copied(const double[::1] w not None, Py_ssize_t spare=0):
    """Return a copy of weights that takes no memory for long runs of zeros.

    Parameters
    ----------
    w : ndarray of shape (n,)
        The weights.
    spare : int, default=0
        Number of zeros behind them.

    Returns
    -------
    copy : ndarray of shape (n + spare,)
        Its own.
    """
    check_least(spare, 0, "spare")
    out = np.zeros(w.shape[0] + spare)
    cdef double[::1] zeros = out
    if w.shape[0]:
        with nogil:
            copy_numbers(&w[0], w.shape[0], &zeros[0])
    return out
