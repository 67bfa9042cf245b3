"""Momentum of the mixes: they go on in the direction in which a pass has moved them."""

from libc.stdint cimport int32_t

from sskit.core.decomposition cimport Factors
from sskit.parallel.buffer cimport Buffer, need
from sskit.solvers.dual_decomposition.factors.marginals cimport Mix, find
from sskit.solvers.dual_decomposition.factors.state cimport FactorState
from sskit.solvers.dual_decomposition.factors.update cimport project


cdef class Memory:
    """The mixes of all factors as they were."""

    cdef Buffer[Py_ssize_t] start    # of each factor; one more than there are
    cdef Buffer[int32_t] state
    cdef Buffer[double] weight

    cdef int clear(self) except -1 nogil:
        self.start.clear()
        self.state.clear()
        self.weight.clear()
        return need(self.start.push(0))

    cdef int push(self, const Mix* mix) except -1 nogil:
        need(self.state.push_all(mix.state, mix.n) and self.weight.push_all(mix.weight, mix.n))
        return need(self.start.push(self.state.n))

    cdef double at(self, Py_ssize_t factor, int32_t state) noexcept nogil:
        cdef Py_ssize_t start = self.start.data()[factor], k
        k = find(self.state.data() + start, self.start.data()[factor + 1] - start, state)
        return self.weight.data()[start + k] if k >= 0 else 0.0


cdef class Momentum:
    """Moves of all mixes beyond where a pass has led them.

    A pass minimises over one factor after the other. With a small lam they depend on each other
    strongly, by way of the weights, and every pass goes a small part of the same way. Multipliers
    have no momentum: with some of it they run away.

    Parameters
    ----------
    state : FactorState
        What is moved; its mixes are remembered.
    """

    cdef readonly FactorState state
    cdef Factors factors
    cdef Memory old
    cdef Memory new
    cdef Buffer[double] change
    cdef Buffer[double] order

    def __cinit__(self, FactorState state not None):
        self.state, self.factors = state, state.factors
        self.old, self.new = Memory(), Memory()
        self.remember()

    cdef int remember(self) except -1:
        """Take notice of the mixes as they are, and of those that were known so far as older."""
        cdef Memory new = self.old
        cdef Py_ssize_t f
        self.old, self.new = self.new, new
        with nogil:
            new.clear()
            for f in range(self.state.n_nodes):
                new.push(&self.state.nodes[f])
            for f in range(self.state.n_edges):
                new.push(&self.state.edges[f])
        return 0

    cdef bint propose(self, const Mix* mix, Py_ssize_t factor, double share) except -1 nogil:
        """Find the change of a mix; return whether there is one."""
        cdef Py_ssize_t k
        cdef bint moved = False
        cdef double step
        cdef double* change
        if mix.n == 1:
            return False
        need(self.change.reserve(mix.n) and self.order.reserve(mix.n))
        change = self.change.data()
        for k in range(mix.n):
            step = mix.weight[k] - self.old.at(factor, mix.state[k])
            moved = moved or step != 0.0
            change[k] = mix.weight[k] + share * step
        if not moved:
            return False
        project(change, mix.n, self.order.data())
        for k in range(mix.n):
            change[k] = change[k] - mix.weight[k] if change[k] > 0.0 else -mix.weight[k]
        return True

    def leap(self, double share):
        """Move each mix on by a share of what it has moved since the last call, and remember it.

        What would leave the simplex is projected on it. States that have no weight get none.
        Weights and residuals follow; orders of pairs do not, see `Sweep.notice`.

        Parameters
        ----------
        share : float
            Not below 0.
        """
        cdef Py_ssize_t i, j, e
        self.remember()
        with nogil:
            for i in range(self.factors.n_blocks):
                for j in range(self.factors.first_node(i), self.factors.first_node(i + 1)):
                    if self.propose(&self.state.nodes[j], j, share):
                        self.state.move_node(i, j, self.change.data())
                for e in range(self.factors.first_edge(i), self.factors.first_edge(i + 1)):
                    if self.propose(&self.state.edges[e], self.state.n_nodes + e, share):
                        self.state.move_edge(i, e, self.change.data())
