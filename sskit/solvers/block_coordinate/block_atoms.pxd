from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.solvers.common.averaging cimport Averager
from sskit.solvers.simplex_qp.program cimport WorkingSet


cdef class BlockAtoms(WorkingSet):
    """The planes of one block as the atoms of a small quadratic program.

    load() brings a block in, store() turns the sum of all steps between its atoms into one move of
    w.

    Invariants between load() and store(): the weights sum to one; score belongs to the w that
    store() would leave.
    """

    cdef vector[double] old_weight
    cdef vector[double] loss
    cdef Py_ssize_t best             # the atom that had the highest score when they were loaded
    # psi of the planes, sparse, one after the other
    cdef vector[int32_t] index
    cdef vector[double] value
    cdef vector[Py_ssize_t] first    # (n_atoms + 1,)

    # psi of the planes of a block; must come before load()
    cdef int gather(self, Problem problem, DualState dual, Py_ssize_t i) except -1 nogil
    # delta += scale * psi of a plane
    cdef void add_plane(self, Py_ssize_t p, Direction delta, double scale) noexcept nogil
    # atoms at the potentials theta, which need be right only where planes use them
    cdef int load(
        self, Problem problem, DualState dual, Py_ssize_t i, const double* theta, Direction scratch,
        bint with_image
    ) except -1 nogil
    # move the weights of the planes, v and w by what the steps changed
    cdef int store(
        self, Problem problem, DualState dual, Regularizer regularizer, Averager averager,
        Py_ssize_t i, Direction scratch
    ) except -1 nogil

    cdef int fill_gram(
        self, Problem problem, DualState dual, Py_ssize_t i, Direction scratch
    ) except -1 nogil
