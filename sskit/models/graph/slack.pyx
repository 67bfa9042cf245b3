"""Oracles for slack rescaling of small graphs: they try all labellings."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from sskit.core.capabilities cimport SlackOracle
from sskit.models.graph.problem cimport GraphProblem
from sskit.oracles.graph.potentials cimport Potentials, labelling_score

# The oracle for sums refuses graphs with more labellings too.
MOST_LABELLINGS = 2**22


cdef class EnumeratedGraphSlack(SlackOracle):
    """Tries all labellings. Nodes without a label stay as they are.

    Parameters
    ----------
    problem : GraphProblem
        Its graphs; if one of them has too many labellings, there is no oracle.
    """

    cdef GraphProblem problem
    cdef int32_t[::1] tried        # a labelling

    def __cinit__(self, GraphProblem problem not None):
        self.problem = problem
        self.tried = np.zeros(problem.max_code_length, dtype=np.int32)
        few = float(problem.n_states) ** min(problem.max_code_length, 300) <= MOST_LABELLINGS
        self.has_product = self.has_cone = few
        self.lock_free = True

    # the first labelling of a block, and the next one; returns whether there is another
    cdef void begin_trials(self, Py_ssize_t i) noexcept nogil:
        memset(&self.tried[0], 0, self.problem.n_nodes_of(i) * sizeof(int32_t))

    cdef bint next_trial(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t v
        for v in range(self.problem.n_nodes_of(i)):
            if self.problem.labelled[self.problem.nodes[i] + v]:
                self.tried[v] += 1
                if self.tried[v] < self.problem.n_states:
                    return True
                self.tried[v] = 0
        return False

    cdef int argmax_slack(
        self, Py_ssize_t i, const double* theta, double offset, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Potentials p = self.problem.potentials(i, theta, 0.0)
        cdef double best = 0.0, h, g
        cdef bint another = True
        self.problem.truth(i, code)
        loss[0] = 0.0
        offset -= labelling_score(&p, code)
        self.begin_trials(i)
        while another:
            g = self.problem.loss_of(i, &self.tried[0])
            h = offset + labelling_score(&p, &self.tried[0])
            if h > 0.0 and g * h > best:
                best, loss[0] = g * h, g
                memcpy(code, &self.tried[0], p.n_nodes * sizeof(int32_t))
            another = self.next_trial(i)
        return 0

    cdef int argmax_within(
        self, Py_ssize_t i, const double* theta, double offset, double loss_weight,
        double lower, double upper, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Potentials p = self.problem.potentials(i, theta, 0.0)
        cdef double best = -INFINITY, h, g
        cdef bint another = True
        self.problem.truth(i, code)
        loss[0] = 0.0
        offset -= labelling_score(&p, code)
        self.begin_trials(i)
        while another:
            g = self.problem.loss_of(i, &self.tried[0])
            h = offset + labelling_score(&p, &self.tried[0])
            if h > 0.0 < g and lower * h <= g < upper * h and h + loss_weight * g > best:
                best, loss[0] = h + loss_weight * g, g
                memcpy(code, &self.tried[0], p.n_nodes * sizeof(int32_t))
            another = self.next_trial(i)
        return loss[0] > 0.0
