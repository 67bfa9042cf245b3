"""Factorwise maximisation oracles (see the .pxd)."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t

from sskit.core.checks cimport check_least
from sskit.core.lanes cimport LANES
from sskit.solvers.dual_decomposition.factors.state cimport Message, Mix, place

cdef extern from "factor_kernels.hpp" namespace "sskit":
    Py_ssize_t first_largest(const double* x, Py_ssize_t n) noexcept nogil
    Py_ssize_t best_pair(
        const double* rows, Py_ssize_t n_rows, Py_ssize_t n_states, const double* first,
        const double* second, double* most
    ) noexcept nogil


cdef class NodeSearch:
    """The best state of a random part of them, or of the mix.

    With one part that is the best state of all. Else it is found with probability 1 / n_parts at
    each visit at least, and one that has weight already always (section 3.2 of Yen et al. 2016,
    inner-product factors).

    Parameters
    ----------
    state : FactorState
        Weights and messages.
    n_parts : int, default=1
        Number nu of parts, stretches of equal length; at most the number of states.
    seed : int, default=0
        Of the draws.
    """

    def __cinit__(self, FactorState state, Py_ssize_t n_parts=1, uint64_t seed=0):
        check_least(n_parts, 1, "n_parts")
        self.state, self.factors = state, state.factors
        self.n_parts = min(n_parts, state.factors.n_states)
        self.random = seed
        self.score = np.zeros(state.factors.n_states + LANES)

    cdef Py_ssize_t draw(self) noexcept nogil:
        # splitmix64 (Steele, Lea, Flood 2014)
        cdef uint64_t z
        if self.n_parts == 1:
            return 0
        self.random += <uint64_t>0x9E3779B97F4A7C15
        z = self.random
        z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
        z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
        return <Py_ssize_t>((z ^ (z >> 31)) % <uint64_t>self.n_parts)

    cdef Py_ssize_t look(self, Py_ssize_t i, Py_ssize_t j, double* gain) except -1 nogil:
        cdef Py_ssize_t n_states = self.factors.n_states, part = self.draw(), k
        cdef Py_ssize_t start = part * n_states // self.n_parts
        cdef Py_ssize_t stop = (part + 1) * n_states // self.n_parts
        cdef double* score = &self.score[0]
        cdef Mix* mix = &self.state.nodes[j]
        cdef int32_t y
        self.factors.node_scores(i, j, &self.state.w[0], start, stop, score)
        self.n_looks += stop - start
        # scores of neither the part nor the mix may be anything
        for k in range(mix.n):
            y = mix.state[k]
            if y < start or y >= stop:
                score[y] = self.factors.node_score(i, j, &self.state.w[0], y)
                self.n_looks += 1
        self.hear(i, j)
        place(mix, <int32_t>(start + first_largest(score + start, stop - start)))
        for k in range(mix.n):
            gain[k] = score[mix.state[k]]
        return largest(gain, mix.n)

    cdef Py_ssize_t best_active(self, Py_ssize_t i, Py_ssize_t j, double* gain) noexcept nogil:
        cdef const Mix* mix = &self.state.nodes[j]
        cdef double* score = &self.score[0]
        cdef Py_ssize_t k
        for k in range(mix.n):
            score[mix.state[k]] = self.factors.node_score(i, j, &self.state.w[0], mix.state[k])
        self.n_looks += mix.n
        self.hear(i, j)
        for k in range(mix.n):
            gain[k] = score[mix.state[k]]
        return largest(gain, mix.n)

    cdef void hear(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        cdef double penalty = self.state.penalty(i)
        cdef const Message* message
        cdef Py_ssize_t k, m
        self.score[self.factors.truth(j)] -= self.factors.cost(j)
        for m in range(self.state.incident_offsets[j], self.state.incident_offsets[j + 1]):
            message = &self.state.messages[self.state.incident[m]]
            for k in range(message.n):
                self.score[message.label[k]] += penalty * (
                    message.residual[k] + message.multiplier[k]
                )


cdef class EdgeSearch:
    """The best pair of an edge by comparing all of them.

    Parameters
    ----------
    state : FactorState
        Weights and messages.
    """

    def __cinit__(self, FactorState state):
        self.state, self.factors = state, state.factors
        self.first = np.zeros(state.factors.n_states + LANES)
        self.second = np.zeros(state.factors.n_states + LANES)
        self.second[state.factors.n_states :] = np.inf
        self.scratch = np.zeros(state.factors.n_states + LANES)

    def renew(self):
        """Take notice that weights have moved other than between leave() and enter()."""

    cdef Py_ssize_t look(self, Py_ssize_t i, Py_ssize_t e, double* gain) except -1 nogil:
        cdef Py_ssize_t best
        self.spread(i, e, 1.0)
        best = place(&self.state.edges[e], self.best(i, e))
        self.find_gains(i, e, gain)
        self.spread(i, e, 0.0)
        return best

    cdef Py_ssize_t best_active(self, Py_ssize_t i, Py_ssize_t e, double* gain) noexcept nogil:
        self.spread(i, e, 1.0)
        self.find_gains(i, e, gain)
        self.spread(i, e, 0.0)
        return largest(gain, self.state.edges[e].n)

    cdef void find_gains(self, Py_ssize_t i, Py_ssize_t e, double* gain) noexcept nogil:
        cdef const Mix* mix = &self.state.edges[e]
        cdef int32_t n_states = <int32_t>self.factors.n_states
        cdef Py_ssize_t k
        for k in range(mix.n):
            gain[k] = self.factors.edge_score(i, e, &self.state.w[0], mix.state[k]) - (
                self.first[mix.state[k] // n_states] + self.second[mix.state[k] % n_states]
            )
        self.n_looks += mix.n

    cdef int32_t best(self, Py_ssize_t i, Py_ssize_t e) except -1 nogil:
        cdef Py_ssize_t n_states = self.factors.n_states, a, pair, best = 0
        cdef double most = -INFINITY
        cdef const double* row
        if self.factors.pair_weights >= 0:
            row = &self.state.w[self.factors.pair_weights]
            best = max(
                best_pair(row, n_states, n_states, &self.first[0], &self.second[0], &most), 0
            )
        else:
            for a in range(n_states):
                row = self.factors.edge_row(i, e, &self.state.w[0], <int32_t>a, &self.scratch[0])
                pair = best_pair(row, 1, n_states, &self.first[a], &self.second[0], &most)
                if pair >= 0:
                    best = a * n_states + pair
        self.n_looks += n_states * n_states
        return <int32_t>best

    cdef void spread(self, Py_ssize_t i, Py_ssize_t e, double scale) noexcept nogil:
        """Write the messages of an edge, what they count, out in full; or clear them."""
        cdef const Message* message = &self.state.messages[2 * e]
        cdef double penalty = scale * self.state.penalty(i)
        cdef Py_ssize_t k
        for k in range(message.n):
            self.first[message.label[k]] = penalty * (
                message.residual[k] + message.multiplier[k]
            )
        message = &self.state.messages[2 * e + 1]
        for k in range(message.n):
            self.second[message.label[k]] = penalty * (
                message.residual[k] + message.multiplier[k]
            )

    cdef int leave(self, const Mix* mix, const double* change) except -1 nogil:
        return 0

    cdef int enter(self) except -1 nogil:
        return 0


cdef Py_ssize_t largest(const double* x, Py_ssize_t n) noexcept nogil:
    """Return where the largest of n numbers stands."""
    cdef Py_ssize_t k, best = 0
    for k in range(1, n):
        if x[k] > x[best]:
            best = k
    return best
