"""Graphs whose labellings can all be tried (see the .pxd)."""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from sskit.oracles.graph.potentials cimport Potentials, labelling_score

# The oracle for sums refuses graphs with more labellings too.
MOST_LABELLINGS = 2**22


cdef class EnumeratedGraphProblem(GraphProblem):
    """Small graphs bound to data.

    Parameters
    ----------
    *args : object
        As of `GraphProblem`.
    """

    def __cinit__(self, *args):
        self.tried = np.zeros(self.max_code_length, dtype=np.int32)
        few = float(self.n_states) ** min(self.max_code_length, 300) <= MOST_LABELLINGS
        self.has_slack = self.has_cone = few

    cdef void begin_trials(self, Py_ssize_t i) noexcept nogil:
        memset(&self.tried[0], 0, self.n_nodes_of(i) * sizeof(int32_t))

    cdef bint next_trial(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t v
        for v in range(self.n_nodes_of(i)):
            if self.labelled[self.nodes[i] + v]:
                self.tried[v] += 1
                if self.tried[v] < self.n_states:
                    return True
                self.tried[v] = 0
        return False

    cdef double trial_loss(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t v, first = self.nodes[i]
        cdef double loss = 0.0
        for v in range(self.n_nodes_of(i)):
            if self.tried[v] != self.labels[first + v]:
                loss += self.cost[first + v]
        return loss

    cdef int argmax_slack(
        self, Py_ssize_t i, const double* theta, double offset, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Potentials p = self.potentials(i, theta, 0.0)
        cdef double best = 0.0, h, g
        cdef bint another = True
        self.truth(i, code)
        loss[0] = 0.0
        offset -= labelling_score(&p, code)
        self.begin_trials(i)
        while another:
            g = self.trial_loss(i)
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
        cdef Potentials p = self.potentials(i, theta, 0.0)
        cdef double best = -INFINITY, h, g
        cdef bint another = True
        self.truth(i, code)
        loss[0] = 0.0
        offset -= labelling_score(&p, code)
        self.begin_trials(i)
        while another:
            g = self.trial_loss(i)
            h = offset + labelling_score(&p, &self.tried[0])
            if h > 0.0 < g and lower * h <= g < upper * h and h + loss_weight * g > best:
                best, loss[0] = h + loss_weight * g, g
                memcpy(code, &self.tried[0], p.n_nodes * sizeof(int32_t))
            another = self.next_trial(i)
        return loss[0] > 0.0
