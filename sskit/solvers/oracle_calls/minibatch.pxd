from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler
from sskit.solvers.oracle_calls.pool cimport Answers


# the last known gap of a block, one if there is none: as samplers take it to be
cdef double known(double gap) noexcept nogil


cdef class Visitor:
    """What a run does at a block, by itself or when oracles are asked in batches."""

    cdef Problem problem
    cdef DualState dual
    # of the dual objective, by all visits so far, at the weights that they saw; with a box on w at
    # least by this much
    cdef readonly double increase

    # A visit by itself: the oracle of block i is asked if it must be, and a step follows.
    cdef int visit(self, Py_ssize_t i, Sampler sampler) except -1 nogil
    # The run is at block i: must the oracle be asked? If not, the visit is over.
    cdef bint asks(self, Py_ssize_t i) except -1 nogil
    # the oracle of block i was asked, and found this gap
    cdef void learned(self, Py_ssize_t i, double gap, Sampler sampler) noexcept nogil
    # A step of the block of question k, towards the plane that the oracle found at a w of a little
    # earlier, where the block had the gap of the answer. Slope and curvature are those at the
    # present w.
    cdef int step_towards(self, Answers planes, Py_ssize_t k, Sampler sampler) except -1 nogil
