from libc.stdint cimport int32_t


cdef struct Block:
    # q = sum over all planes of weight * psi, sparse, distinct indices
    int32_t* index
    double* value
    Py_ssize_t n
    Py_ssize_t capacity
    double loss            # sum over all planes of weight * loss
    # stored planes, in one piece of memory that begins at `weight`; all others are merged in the
    # aggregate plane, which is known only through q
    int32_t* code         # (capacity, code_length)
    double* weight
    double* plane_loss
    int32_t* last_used     # when the plane was last worth its place, by the solver's clock
    Py_ssize_t n_planes
    Py_ssize_t plane_capacity
    double aggregate            # weight of the aggregate plane
    # inner products <B psi, B psi'> of the first n_gram stored planes, filled in by solvers
    double* gram           # (plane_capacity, plane_capacity)
    Py_ssize_t n_gram


# Where these two fail, the block is as before.
# room for n entries of q
cdef int reserve_entries(Block* block, Py_ssize_t n) except -1 nogil
# room for `size` planes with codes of length n, not fewer than there are
cdef int resize_block(Block* block, Py_ssize_t n, Py_ssize_t size) except -1 nogil
cdef void free_block(Block* block) noexcept nogil
