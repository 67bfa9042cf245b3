"""Memory of compiled classes."""

from libc.stdlib cimport realloc

from sskit.core.lanes cimport LANES

# Rows of tables have a multiple of this many numbers.
ROW_MULTIPLE = LANES


cdef void* grown(void* memory, size_t n_bytes) except NULL nogil:
    cdef void* result = realloc(memory, max(n_bytes, <size_t>1))
    if result == NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes of dual variables")
    return result
