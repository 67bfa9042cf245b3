"""Memory of the blocks of a dual point (see the .pxd)."""

from libc.stdlib cimport free
from libc.string cimport memcpy

from sskit.core.memory cimport grown


cdef int reserve_entries(Block* block, Py_ssize_t n) except -1 nogil:
    if n > block.capacity:
        n = max(n, 2 * block.capacity)
        block.index = <int32_t*>grown(block.index, n * sizeof(int32_t))
        block.value = <double*>grown(block.value, n * sizeof(double))
        block.capacity = n
    return 0


cdef int resize_block(Block* block, Py_ssize_t n, Py_ssize_t size) except -1 nogil:
    # one piece of memory for all, which begins with the weights: planes are many and small
    cdef double* numbers = <double*>grown(
        NULL, size * ((2 + size) * sizeof(double) + (n + 1) * sizeof(int32_t))
    )
    cdef Block old = block[0]
    cdef Py_ssize_t row
    block.weight = numbers
    block.plane_loss = numbers + size
    block.gram = numbers + 2 * size
    block.code = <int32_t*>(numbers + (2 + size) * size)
    block.last_used = block.code + n * size
    block.plane_capacity = size
    if old.n_planes > 0:
        memcpy(block.weight, old.weight, old.n_planes * sizeof(double))
        memcpy(block.plane_loss, old.plane_loss, old.n_planes * sizeof(double))
        memcpy(block.code, old.code, old.n_planes * n * sizeof(int32_t))
        memcpy(block.last_used, old.last_used, old.n_planes * sizeof(int32_t))
    for row in range(old.n_gram):
        memcpy(
            block.gram + row * size, old.gram + row * old.plane_capacity,
            old.n_gram * sizeof(double)
        )
    free(old.weight)
    return 0


cdef void free_block(Block* block) noexcept nogil:
    free(block.index)
    free(block.value)
    free(block.weight)
