from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.core.stop cimport Stop


cdef struct DualBlock:
    # psi of plane 0, the sum of all planes that were merged: sparse, distinct indices
    int32_t* index
    double* value
    int32_t n
    int32_t capacity
    # Planes: plane 0, then the stored planes, each with its code. Plane 0 is the truth at first,
    # and keeps its code. All are in one piece of memory that begins at `gram`; weight and loss of a
    # single plane are in this struct, which a visit reads in any case.
    int32_t n_planes       # at least 1
    int32_t plane_capacity
    double alone[2]
    double* weight
    double* plane_loss
    int32_t* code          # (capacity, code_length)
    int32_t* last_used     # when the plane was last used, by the solver's clock
    # inner products <B psi, B psi'> of the first n_gram planes, filled in by solvers
    double* gram           # (plane_capacity, plane_capacity)
    int32_t n_gram
    int32_t version        # changes whenever an earlier plane has changed, or is gone


# memory in bytes of `size` planes with codes of length n
cdef Py_ssize_t plane_memory(Py_ssize_t n, Py_ssize_t size) noexcept nogil
# room for `size` planes with codes of length n, not fewer than there are; where it fails, the
# block is as before
cdef int resize_block(DualBlock* block, Py_ssize_t n, Py_ssize_t size) except -1 nogil


cdef class DualState:
    """The dual point: for every block a convex mix q_i of its planes, in statistics space.

    Invariants of every block: all weights are >= 0 and sum to one. A block starts with its truth
    (psi = 0, loss = 0) as plane 0. All memory of it is allocated here. Two threads may be at
    different blocks, but for methods that merge planes or compute the mix.
    """

    cdef Problem problem
    cdef readonly Py_ssize_t n_blocks
    cdef DualBlock* blocks
    cdef Py_ssize_t[::1] code_length           # (n_blocks,)
    cdef readonly Py_ssize_t max_statistics
    # scratch
    cdef Direction scratch
    cdef int32_t[::1] index
    cdef double[::1] value

    # hint: block i will be visited soon (its arrays), or a little later (where they are)
    cdef void prefetch(self, Py_ssize_t i) noexcept nogil
    cdef void prefetch_block(self, Py_ssize_t i) noexcept nogil
    # psi of plane p as (index, value) pairs, at most max_entries; returns their number. `problem`
    # is a fork for the calling thread.
    cdef Py_ssize_t plane(
        self, Problem problem, Py_ssize_t i, Py_ssize_t p, int32_t* index, double* value
    ) except -1 nogil
    # loss of the mix
    cdef double loss(self, Py_ssize_t i) noexcept nogil
    # delta += scale * q_i
    cdef int add_to(self, Py_ssize_t i, Direction delta, double scale) except -1 nogil
    # plane 0 += step * (delta, its loss)
    cdef int advance(
        self, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil
    # plane 0 = (delta, loss)
    cdef int assign(self, Py_ssize_t i, Direction delta, double loss) except -1 nogil
    # the same of n pairs with distinct indices
    cdef int assign_pairs(
        self, Py_ssize_t i, const int32_t* index, const double* value, Py_ssize_t n, double loss
    ) except -1 nogil
    # slot of a plane with this code, or -1
    cdef Py_ssize_t find(self, Py_ssize_t i, const int32_t* code) noexcept nogil
    # store a plane with weight zero (not a second time); returns its slot
    cdef Py_ssize_t insert(self, Py_ssize_t i, const int32_t* code, double loss) except -1 nogil
    # merge a stored plane into plane 0 (q does not change); the last slot takes its place
    cdef int evict(self, Py_ssize_t i, Py_ssize_t slot) except -1 nogil
    cdef int merge(self, Py_ssize_t i, Py_ssize_t slot) except -1 nogil
    cdef int add_plane(
        self, Py_ssize_t i, Py_ssize_t p, Direction delta, double scale
    ) except -1 nogil
    cdef int add_mixes(self, double lam, double* v) except -1 nogil
    cdef void shrink(self, DualBlock* block, double ratio) noexcept nogil
    # drop all stored planes with their weights
    cdef void clear(self, Py_ssize_t i) noexcept nogil


# room that DualState.plane() needs: entries of any plane
cdef Py_ssize_t max_entries(Problem problem) noexcept nogil
