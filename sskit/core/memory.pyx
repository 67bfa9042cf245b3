"""Memory of compiled classes."""

import numpy as np

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

from sskit.core.checks cimport check_least
from sskit.core.lanes cimport LANES

# Rows of tables have a multiple of this many numbers.
ROW_MULTIPLE = LANES
# Numbers of weights from which on a copy looks whether most are zero.
MANY = 2**20


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


def used_lines(const double[::1] w not None):
    """Return which runs of LANES numbers are not all zero, those that are whole.

    Parameters
    ----------
    w : ndarray of shape (n,)
        Numbers.

    Returns
    -------
    lines : ndarray of int64
        Their numbers, which rise.
    """
    cdef Py_ssize_t line, count = 0, n_lines = w.shape[0] // LANES
    if n_lines == 0:
        return np.empty(0, dtype=np.int64)
    with nogil:
        for line in range(n_lines):
            count += any_bit(&w[line * LANES], LANES)
    lines = np.empty(count, dtype=np.int64)
    cdef int64_t[::1] out = lines
    count = 0
    with nogil:
        for line in range(n_lines):
            if any_bit(&w[line * LANES], LANES):
                out[count] = line
                count += 1
    return lines


class Snapshot:
    """A copy of weights, which takes little memory if most of many are zero.

    Parameters
    ----------
    w : ndarray of shape (n,)
        The weights, float64.
    """

    def __init__(self, w):
        self._n = len(w)
        self._lines = None
        if self._n >= MANY:
            lines = used_lines(w)
            if len(lines) * LANES < self._n / 4:
                whole = self._n // LANES * LANES
                self._lines, self._rest = lines, np.array(w[whole:])
                self._values = w[:whole].reshape(-1, LANES)[lines]
                return
        self._values = np.array(w)

    def weights(self):
        """Return the weights, shape (n,); not to be written to."""
        if self._lines is None:
            return self._values
        w, whole = np.zeros(self._n), self._n // LANES * LANES
        w[:whole].reshape(-1, LANES)[self._lines] = self._values
        w[whole:] = self._rest
        return w
