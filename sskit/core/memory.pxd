# realloc that raises MemoryError; the memory is free()d by the class that owns it
cdef void* grown(void* memory, size_t n_bytes) except NULL nogil

# Vectors of many weights are mostly zeros, and memory that nobody has written to costs nothing:
# v = 0, written where it is not
cdef void clear_numbers(double* v, Py_ssize_t n) noexcept nogil
# zeros = source, written where that is not zero
cdef void copy_numbers(const double* source, Py_ssize_t n, double* zeros) noexcept nogil
