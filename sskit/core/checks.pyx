"""Checks of arguments from Python to compiled code (see the .pxd)."""

import numpy as np

from sskit.core.lanes cimport LANES

# Rows of tables have a multiple of this many numbers.
ROW_MULTIPLE = LANES


cpdef int check_indices(numbers, Py_ssize_t n, str name) except -1:
    numbers = np.asarray(numbers)
    if numbers.size == 0:
        return 0
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"{name} numbers must be integers, got dtype {numbers.dtype}")
    least, most = numbers.min(), numbers.max()
    if least < 0 or most >= n:
        choice = f"expected 0 to {n - 1}" if n > 0 else "there is none"
        raise IndexError(f"{name} {least if least < 0 else most} is out of range: {choice}")
    return 0


cpdef int check_least(Py_ssize_t number, Py_ssize_t least, str name) except -1:
    if number < least:
        raise ValueError(f"{name} is {number}, expected at least {least}")
    return 0


cpdef int check_equal(Py_ssize_t number, Py_ssize_t expected, str name) except -1:
    if number != expected:
        raise ValueError(f"{name} is {number}, expected {expected}")
    return 0


cdef bint all_below(const int32_t* numbers, Py_ssize_t n, Py_ssize_t limit) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        if not 0 <= numbers[k] < limit:
            return False
    return True
