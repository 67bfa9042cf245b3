from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.core.stop cimport Stop


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


cdef class DualState:
    """The dual point: for every block a convex mix q_i of its planes, in statistics space.

    Invariants of every block: all weights and `aggregate` are >= 0 and sum to one; q and loss are
    the weighted sums of psi and loss over stored planes and aggregate plane. A block starts with
    its truth (psi = 0, loss = 0) as aggregate plane. All memory of it is allocated here.
    """

    cdef Problem problem
    cdef readonly Py_ssize_t n_blocks
    cdef Block* blocks
    cdef Py_ssize_t[::1] code_length           # (n_blocks,)
    cdef readonly Py_ssize_t max_statistics

    # ValueError unless this is a dual point of the problem, by its sizes
    cdef int match(self, Problem problem) except -1

    # hint: block i will be visited soon (its arrays), or a little later (where they are)
    cdef void prefetch(self, Py_ssize_t i) noexcept nogil
    cdef void prefetch_block(self, Py_ssize_t i) noexcept nogil
    # <q_i, theta>
    cdef double dot(self, Py_ssize_t i, const double* theta) noexcept nogil
    # delta += scale * q_i
    cdef void add_to(self, Py_ssize_t i, Direction delta, double scale) noexcept nogil
    # q_i += step * delta, loss_i += loss_change; the caller moves the weights of the planes
    cdef int advance(
        self, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil
    # (1 - step) times all weights; `step` goes to plane `slot`, or to the aggregate if slot < 0
    cdef void blend(self, Py_ssize_t i, Py_ssize_t slot, double step) noexcept nogil
    # move weight from one plane to another; a negative slot is the aggregate plane
    cdef void shift(
        self, Py_ssize_t i, Py_ssize_t source, Py_ssize_t target, double amount
    ) noexcept nogil
    # whether the aggregate plane has weight that is more than noise of rounding
    cdef bint has_aggregate(self, Py_ssize_t i) noexcept nogil
    # slot of a stored plane with this code, or -1
    cdef Py_ssize_t find(self, Py_ssize_t i, const int32_t* code) noexcept nogil
    # store a plane with weight zero (not a second time); returns its slot
    cdef Py_ssize_t insert(
        self, Py_ssize_t i, const int32_t* code, double loss
    ) except -1 nogil
    # merge a stored plane into the aggregate (q does not change); the last slot takes its place
    cdef void evict(self, Py_ssize_t i, Py_ssize_t slot) noexcept nogil
    # q_i = delta with this loss; the weights stay
    cdef int set_mix(self, Py_ssize_t i, Direction delta, double loss) except -1 nogil
    # the block becomes the single plane delta (not stored), exactly
    cdef int assign(self, Py_ssize_t i, Direction delta, double loss) except -1 nogil
    # room for `size` planes, not fewer than there are
    cdef int resize_planes(self, Py_ssize_t i, Py_ssize_t size) except -1 nogil
    cdef int rebuild_nogil(
        self, Problem problem, Regularizer regularizer, Direction scratch, Stop stop,
        const double[::1] prior
    ) except -1 nogil
