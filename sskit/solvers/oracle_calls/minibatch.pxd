from libc.stdint cimport int32_t

from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler


# the last known gap of a block, one if there is none: as samplers take it to be
cdef double known(double gap) noexcept nogil


cdef class Visitor:
    """What a run does at a block, by itself or when oracles are asked in batches."""

    cdef Problem problem
    cdef DualState dual

    # by how much all visits so far have increased the dual objective, at the weights that they saw
    cdef double increased(self) noexcept nogil
    # A visit by itself: the oracle of block i is asked if it must be, and a step follows.
    cdef int visit(self, Py_ssize_t i, Sampler sampler) except -1 nogil
    # The run is at block i: must the oracle be asked? If not, the visit is over.
    cdef bint asks(self, Py_ssize_t i) except -1 nogil
    # The batch of block i was given up before its oracle was asked.
    cdef void leave(self, Py_ssize_t i, Sampler sampler) noexcept nogil
    # The oracle found that block i has this gap; it is too small for a step now, or time is over.
    cdef int pass_over(self, Py_ssize_t i, double gap, Sampler sampler) except -1 nogil
    # A step of block i: the oracle found this plane at a w of a little earlier, where the block
    # had this gap. Slope and curvature are those at the present w.
    cdef int step_towards(
        self, Py_ssize_t i, const int32_t* code, double loss, double gap, Sampler sampler
    ) except -1 nogil
