"""Chains whose losses are counts (see the .pxd)."""

import numpy as np

from sskit.models.counts import in_units

from libc.math cimport INFINITY

from sskit.models.chain.problem cimport ChainProblem
from sskit.oracles.chain.loss_indexed cimport LossIndexed, chain_score


cdef class CountedChainProblem(ChainProblem):
    """Linear chains bound to data, with costs that `are_counts`.

    Parameters
    ----------
    *args : object
        As of `ChainProblem`.
    """

    def __cinit__(self, *args):
        self.unit, levels, totals = in_units(np.asarray(self.cost), np.asarray(self.offsets))
        self.largest = int(np.round(totals.max()))
        self.levels = np.round(levels).astype(np.int32)
        self.margin = np.empty(self.largest + 1)
        self.has_slack = True
        self.has_cone = True

    cdef Py_ssize_t solve(self, Py_ssize_t i, const double* theta, double offset) except -1 nogil:
        cdef const double* node = theta + self.n_states * self.stride
        cdef const int32_t* labels = &self.labels[self.offsets[i]]
        cdef Py_ssize_t e, n_units
        if self.programme is None:
            with gil:
                self.programme = LossIndexed(self.max_code_length, self.largest, self.n_states)
        n_units = self.programme.solve(
            node, theta, self.length(i), labels, &self.levels[self.offsets[i]]
        )
        offset -= chain_score(node, theta, self.length(i), self.n_states, labels)
        for e in range(n_units + 1):
            self.margin[e] = offset + self.programme.best[e]
        return n_units

    cdef int answer(
        self, Py_ssize_t i, const double* theta, Py_ssize_t units, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t t, first = self.offsets[i]
        loss[0] = 0.0
        if units == 0:
            return self.truth(i, code)
        self.programme.labelling(
            theta, self.length(i), &self.labels[first], &self.levels[first], units, code
        )
        for t in range(self.length(i)):
            if code[t] != self.labels[first + t]:
                loss[0] += self.cost[first + t]
        return 0

    cdef int argmax_slack(
        self, Py_ssize_t i, const double* theta, double offset, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t e, units = 0
        cdef double best = 0.0
        for e in range(1, self.solve(i, theta, offset) + 1):
            if e * self.margin[e] > best:
                units, best = e, e * self.margin[e]
        self.answer(i, theta, units, code, loss)
        return 0

    cdef int argmax_within(
        self, Py_ssize_t i, const double* theta, double offset, double loss_weight,
        double lower, double upper, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t e, units = 0
        cdef double best = -INFINITY, h, g
        for e in range(1, self.solve(i, theta, offset) + 1):
            h, g = self.margin[e], e * self.unit[i]
            if h > 0.0 and lower * h <= g < upper * h and h + loss_weight * g > best:
                units, best = e, h + loss_weight * g
        self.answer(i, theta, units, code, loss)
        return units > 0
