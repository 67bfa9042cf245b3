"""Memory of the blocks of a dual point (see the .pxd)."""

from libc.stdlib cimport free
from libc.string cimport memmove

from sskit.core.memory cimport grown


cdef int reserve_entries(Block* block, Py_ssize_t n) except -1 nogil:
    if n > block.capacity:
        n = max(n, 2 * block.capacity)
        block.index = <int32_t*>grown(block.index, n * sizeof(int32_t))
        block.value = <double*>grown(block.value, n * sizeof(double))
        block.capacity = n
    return 0


cdef int resize_block(Block* block, Py_ssize_t n, Py_ssize_t size) except -1 nogil:
    cdef Py_ssize_t old = block.plane_capacity, row
    cdef size_t row_bytes = block.n_gram * sizeof(double)
    # rows of the Gram matrix move together before the memory shrinks, the first one first ..
    if size < old:
        for row in range(1, block.n_gram):
            memmove(block.gram + row * size, block.gram + row * old, row_bytes)
        block.plane_capacity = size
    block.code = <int32_t*>grown(block.code, size * n * sizeof(int32_t))
    block.weight = <double*>grown(block.weight, size * sizeof(double))
    block.plane_loss = <double*>grown(block.plane_loss, size * sizeof(double))
    block.last_used = <int32_t*>grown(block.last_used, size * sizeof(int32_t))
    block.gram = <double*>grown(block.gram, size * size * sizeof(double))
    # .. and apart when it has grown, the last one first
    if size > old:
        for row in range(block.n_gram - 1, 0, -1):
            memmove(block.gram + row * size, block.gram + row * old, row_bytes)
    block.plane_capacity = size
    return 0


cdef void free_block(Block* block) noexcept nogil:
    free(block.index)
    free(block.value)
    free(block.code)
    free(block.weight)
    free(block.plane_loss)
    free(block.last_used)
    free(block.gram)
