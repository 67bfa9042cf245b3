# Memory of compiled classes; there is nothing to import at run time.
from libc.stdint cimport uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memset


# realloc that raises MemoryError; the memory is free()d by the class that owns it
cdef inline void* grown(void* memory, size_t n_bytes) except NULL nogil:
    cdef void* result = realloc(memory, max(n_bytes, <size_t>1))
    if result == NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes of dual variables")
    return result


# Vectors of many weights are mostly zeros, and memory that is never written to costs nothing: the
# functions below write to a page (512 numbers) only if it is in use.
cdef inline bint any_bit(const double* v, Py_ssize_t n) noexcept nogil:
    cdef const uint64_t* bits = <const uint64_t*>v
    cdef uint64_t combined = 0
    cdef Py_ssize_t j
    for j in range(n):
        combined |= bits[j]
    return combined != 0


# v = 0
cdef inline void clear_numbers(double* v, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t first, count
    for first in range(0, n, 512):
        count = min(512, n - first)
        # a page in use mostly has a nonzero number near its begin
        if v[first] != 0.0 or any_bit(v + first, count):
            memset(v + first, 0, count * sizeof(double))
