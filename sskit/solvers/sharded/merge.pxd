from sskit.core.regularizer cimport Regularizer
from sskit.solvers.common.averaging cimport Averager


cdef class Merge:
    """How much of the moves of all shards is taken.

    After the visits of a round: begin(); while more() says so the workers do one part() for each
    shard; then take().
    """

    cdef Regularizer regularizer
    cdef Averager averager
    cdef list shards
    cdef void** shard                # the same, borrowed
    cdef readonly Py_ssize_t n_shards
    cdef double enough               # share of what moves gain one by one that a merge should gain

    cdef void begin(self) noexcept nogil
    cdef bint more(self) noexcept nogil
    # part k of what more() has asked for; two threads may do different parts at once
    cdef int part(self, Py_ssize_t k) except -1 nogil
    # tell each shard its share, gamma, and the averages what has moved; returns the increase of
    # the dual objective
    cdef double take(self) noexcept nogil
