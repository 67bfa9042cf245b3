from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler


cdef class Visit:
    """What a solver learns at one block: potentials and the oracle's plane; reused for all.

    After call_oracle(): theta are the potentials at w; (index, value)[:n] is psi of the plane that
    the oracle found, with code and loss; hinge = loss_weight * loss - <theta, psi> >= 0. No plane
    is above hinge + excess at w, if the oracle is exact or bounds what it may have missed.
    """

    cdef double[::1] theta
    cdef int32_t[::1] code
    cdef int32_t[::1] index
    cdef double[::1] value
    cdef Py_ssize_t n
    cdef double loss
    cdef double hinge
    cdef double excess
    cdef Direction delta    # scratch, zero between visits

    # Ask the oracle of block i at w. The truth has hinge 0: if an inexact oracle or rounding
    # gives less, the answer becomes the truth (n = 0, loss = 0), and the excess shrinks.
    cdef int call_oracle(
        self, Problem problem, Py_ssize_t i, const double* w, double loss_weight
    ) except -1 nogil
    # the same plane given by its code, at unchanged theta; hinge stays that of call_oracle()
    cdef int load_plane(
        self, Problem problem, Py_ssize_t i, const int32_t* code, double loss
    ) except -1 nogil
    # loss - <theta, psi> of the present plane
    cdef double bound(self) noexcept nogil


# fetch the memory of the blocks that the sampler will visit next, as far as it knows them
cdef void prefetch_next(Problem problem, DualState dual, Sampler sampler) noexcept nogil
