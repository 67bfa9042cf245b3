"""Consistent marginals from those of factors that disagree."""

import numpy as np

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free

from sskit.core.decomposition cimport Factors
from sskit.solvers.dual_decomposition.factors.state cimport FactorState, Mix, find, place

cdef double LEAST = -1e300               # scores below are -inf


cdef class ConsistentPoint:
    """The dual point of a structured SVM nearest at hand to the mixes of the factors of forests.

    The first node of a tree keeps its mix; from there an edge gives its second end the marginal
    of q_f(b | a), a distributed as the first end now is. Every block so has the marginals of a
    distribution of labellings, hence a dual point, whose objective bounds the optimum from
    below. Where factors agree already nothing changes, so that the bound becomes tight.

    Parameters
    ----------
    state : FactorState
        The mixes; its factors must form forests.
    """

    cdef FactorState state
    cdef Factors factors
    cdef Mix* marginals              # (n_most,) of the nodes of a block
    cdef Py_ssize_t n_most
    cdef double[::1] w
    cdef bint possible               # no labelling with a forbidden pair has weight?

    def __cinit__(self, FactorState state):
        cdef Factors factors = state.factors
        cdef Py_ssize_t i
        self.state, self.factors = state, state.factors
        for i in range(factors.n_blocks):
            self.n_most = max(self.n_most, factors.first_node(i + 1) - factors.first_node(i))
        self.marginals = <Mix*>calloc(max(self.n_most, 1), sizeof(Mix))
        if self.marginals == NULL:
            raise MemoryError(f"no memory for the marginals of {self.n_most} nodes")

    def __dealloc__(self):
        cdef Py_ssize_t j
        if self.marginals != NULL:
            for j in range(self.n_most):
                free(self.marginals[j].state)
                free(self.marginals[j].weight)
            free(self.marginals)

    def compute(self):
        """Return the weights and the mean loss of the consistent marginals.

        Returns
        -------
        w : ndarray of shape (n_weights,)
            The prior and (1 / lam) sum_i c_i (psi_i of the marginals).
        loss : float
            sum_i c_i L_i of the marginals; -inf if they need a pair that is forbidden.
        """
        cdef Py_ssize_t i
        cdef double loss = 0.0
        self.possible = True
        prior = self.state.prior
        self.w = np.zeros(self.state.w.shape[0]) if prior is None else prior.copy()
        with nogil:
            for i in range(self.factors.n_blocks):
                if self.factors.block_weight[i] > 0.0:
                    loss += self.factors.block_weight[i] * self.add_block(i)
        return np.asarray(self.w)[: self.factors.n_weights], (
            loss if self.possible else -np.inf
        )

    cdef double add_block(self, Py_ssize_t i) except? -1 nogil:
        """Add the share of a block to w; return the loss of its marginals."""
        cdef Py_ssize_t start = self.factors.first_node(i), stop = self.factors.first_node(i + 1)
        cdef Py_ssize_t j, e, k
        cdef Py_ssize_t ends[2]
        cdef double scale = self.factors.block_weight[i] / self.state.lam, loss = 0.0
        cdef double* w = &self.w[0]
        cdef Mix* mix
        for j in range(start, stop):
            self.marginals[j - start].n = 0
        for e in range(self.factors.first_edge(i), self.factors.first_edge(i + 1)):
            self.factors.ends(i, e, &ends[0], &ends[1])
            if self.marginals[ends[0] - start].n == 0:
                add(&self.marginals[ends[0] - start], &self.state.nodes[ends[0]], 1.0)
            self.pass_on(i, e, ends[0] - start, ends[1] - start)
        for j in range(start, stop):
            mix = &self.marginals[j - start]
            if mix.n == 0:
                add(mix, &self.state.nodes[j], 1.0)
            self.factors.move_node(i, j, self.factors.truth(j), scale, w)
            for k in range(mix.n):
                self.factors.move_node(i, j, mix.state[k], -scale * mix.weight[k], w)
            k = find(mix.state, mix.n, self.factors.truth(j))
            loss += self.factors.cost(j) * (1.0 - (mix.weight[k] if k >= 0 else 0.0))
        return loss

    cdef int pass_on(
        self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t first, Py_ssize_t second
    ) except -1 nogil:
        """Give the second end of an edge its marginal."""
        cdef Py_ssize_t start = self.factors.first_node(i), k, m
        cdef int32_t n_states = <int32_t>self.factors.n_states, a
        cdef double scale = self.factors.block_weight[i] / self.state.lam, total, mass
        cdef double* w = &self.w[0]
        cdef int32_t pair
        cdef Mix* source = &self.marginals[first]
        cdef Mix* target = &self.marginals[second]
        cdef const Mix* pairs = &self.state.edges[e]
        cdef const Mix* alone = &self.state.nodes[start + second]
        pair = self.state.true_pair(start + first, start + second)
        self.factors.move_edge(i, e, pair, scale, w)
        for k in range(source.n):
            a, total = source.state[k], 0.0
            for m in range(pairs.n):
                if pairs.state[m] // n_states == a:
                    total += pairs.weight[m]
            for m in range(pairs.n if total > 0.0 else 0):
                if pairs.state[m] // n_states == a:
                    mass = source.weight[k] * pairs.weight[m] / total
                    self.factors.move_edge(i, e, pairs.state[m], -scale * mass, w)
                    target.weight[place(target, pairs.state[m] % n_states)] += mass
            # the edge does not know this state: the second end goes its own way
            for m in range(0 if total > 0.0 else alone.n):
                mass = source.weight[k] * alone.weight[m]
                pair = a * n_states + alone.state[m]
                if self.factors.edge_score(i, e, w, pair) < LEAST:
                    self.possible = False
                self.factors.move_edge(i, e, pair, -scale * mass, w)
                target.weight[place(target, alone.state[m])] += mass
        return 0


cdef int add(Mix* mix, const Mix* other, double scale) except -1 nogil:
    cdef Py_ssize_t k
    for k in range(other.n):
        mix.weight[place(mix, other.state[k])] += scale * other.weight[k]
    return 0
