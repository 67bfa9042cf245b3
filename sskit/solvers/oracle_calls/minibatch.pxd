from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler
from sskit.solvers.oracle_calls.pool cimport Answers


# the last known gap of a block, 1 if it is unknown, as in the samplers
cdef double finite_gap(double gap) noexcept nogil


cdef class BlockUpdate:
    """The update of one block by a solver, by itself or after oracle calls in batches."""

    cdef Problem problem
    cdef DualState dual
    # of the dual objective, by all steps so far, at the weights of each; with a box on w at
    # least by this much
    cdef readonly double increase

    # A step by itself: the oracle of block i is called if needed, and the dual point changed.
    cdef int run(self, Py_ssize_t i, Sampler sampler) except -1 nogil
    # Must the oracle of block i be called? If not, its step has been taken.
    cdef bint needs_oracle(self, Py_ssize_t i) except -1 nogil
    # the oracle of block i was called, and found this gap
    cdef void record_gap(self, Py_ssize_t i, double gap, Sampler sampler) noexcept nogil
    # A step of the block of question k, towards the plane that the oracle found at a w of a little
    # earlier, where the block had the gap of the answer. Slope and curvature are those at the
    # present w.
    cdef int step_towards(self, Answers planes, Py_ssize_t k, Sampler sampler) except -1 nogil
