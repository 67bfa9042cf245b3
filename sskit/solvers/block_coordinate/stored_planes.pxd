from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem


cdef class StoredPlanes:
    """The planes psi of one block at a time, and their products.

    gather() comes first, after each change of the planes: what follows is of that block.
    """

    cdef Problem problem
    cdef DualState dual
    cdef Py_ssize_t i, n             # the block, and how many planes it has
    # room for at least one plane, sparse
    cdef vector[int32_t] index_room
    cdef vector[double] value_room

    cdef int gather(self, Py_ssize_t i, Direction scratch) except -1 nogil
    # the potentials at w that the planes use
    cdef int find_potentials(self, const double* w, double* theta) except -1 nogil
    # score[p] -= <theta, psi_p>; `known`: are all potentials, or those of find_potentials()?
    cdef int subtract_scores(
        self, const double* theta, bint known, double* score
    ) except -1 nogil
    # delta += scale * psi_p
    cdef int add(self, Py_ssize_t p, double scale, Direction delta) except -1 nogil
    # out[r] = <B_i delta, B_i psi_r> of the first n planes
    cdef int inner_products(self, Direction delta, Py_ssize_t n, double* out) except -1 nogil


# those of a problem, for one thread
cdef StoredPlanes stored_planes(Problem problem, DualState dual)
