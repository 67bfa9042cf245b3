# realloc that raises MemoryError; the memory is free()d by the class that owns it
cdef void* grown(void* memory, size_t n_bytes) except NULL nogil
