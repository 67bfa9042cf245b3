"""The exact oracle for slack rescaling of chains whose losses are counts."""

import numpy as np

from sskit.models.counts import in_units

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.core.capabilities cimport SlackOracle
from sskit.models.chain.problem cimport ChainProblem
from sskit.oracles.chain.loss_indexed cimport LossIndexed, chain_score
from sskit.oracles.chain.stepwise cimport score_steps


cdef class CountedChainSlack(SlackOracle):
    """Chains whose losses are whole numbers of a unit of the sequence.

    Of all labellings with one loss only the best can maximise what grows with the score, so the
    loss-indexed programme gives all candidates. They are also what `argmax_within` looks at.

    Parameters
    ----------
    problem : ChainProblem
        Its costs `are_counts`.
    """

    cdef ChainProblem problem
    cdef const int32_t[::1] levels       # (n_rows,) cost of a wrong label, in units
    cdef const double[::1] unit          # (n_blocks,)
    cdef Py_ssize_t largest              # loss of all, in units
    cdef LossIndexed programme
    cdef double[::1] margin              # scratch: h of the best labelling by loss

    def __cinit__(self, ChainProblem problem not None):
        self.problem = problem
        self.unit, levels, totals = in_units(
            np.asarray(problem.cost), np.asarray(problem.offsets)
        )
        self.largest = int(np.round(totals.max()))
        self.levels = np.round(levels).astype(np.int32)
        self.margin = np.empty(self.largest + 1)
        self.programme = LossIndexed(problem.max_code_length, self.largest, problem.n_states)
        self.has_product = self.has_cone = self.lock_free = True

    # h of the best labelling by loss, -inf where there is none; returns the largest loss
    cdef Py_ssize_t solve(self, Py_ssize_t i, const double* theta, double offset) except -1 nogil:
        cdef const double* node = theta + self.problem.n_states * self.problem.stride
        cdef const int32_t* labels = &self.problem.labels[self.problem.offsets[i]]
        cdef Py_ssize_t e, n_units
        self.programme.tables = self.problem.steps(i, theta)
        n_units = self.programme.solve(
            node, theta, self.problem.length(i), labels, &self.levels[self.problem.offsets[i]]
        )
        if self.programme.tables == NULL:
            offset -= chain_score(
                node, theta, self.problem.length(i), self.problem.n_states, labels
            )
        else:
            offset -= score_steps(
                node, self.programme.tables, self.problem.length(i), self.problem.n_states, labels
            )
        for e in range(n_units + 1):
            self.margin[e] = offset + self.programme.best[e]
        return n_units

    # code and loss of the best labelling with a loss of the block that was solved last
    cdef int answer(
        self, Py_ssize_t i, const double* theta, Py_ssize_t units, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t t, first = self.problem.offsets[i]
        loss[0] = 0.0
        if units == 0:
            return self.problem.truth(i, code)
        self.programme.labelling(
            theta, self.problem.length(i), &self.problem.labels[first], &self.levels[first],
            units, code
        )
        for t in range(self.problem.length(i)):
            if code[t] != self.problem.labels[first + t]:
                loss[0] += self.problem.cost[first + t]
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
