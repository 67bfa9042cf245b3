from libc.stdint cimport int32_t

from sskit.models.graph.problem cimport GraphProblem


cdef class EnumeratedGraphProblem(GraphProblem):
    """Small graphs: the slack oracles that try all labellings. Nodes without a label stay."""

    cdef int32_t[::1] tried        # a labelling

    # the first labelling of a block, and the next one; returns whether there is another
    cdef void begin_trials(self, Py_ssize_t i) noexcept nogil
    cdef bint next_trial(self, Py_ssize_t i) noexcept nogil
    cdef double trial_loss(self, Py_ssize_t i) noexcept nogil
