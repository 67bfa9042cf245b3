"""The duality gap of a structured SVM whose factors need to agree softly only."""

from libcpp.vector cimport vector

from sskit.core.decomposition cimport Factors
from sskit.core.stop cimport Stop
from sskit.solvers.dual_decomposition.factors.oracle cimport EdgeSearch, NodeSearch, check_searches
from sskit.solvers.dual_decomposition.factors.state cimport FactorState
from sskit.solvers.dual_decomposition.factors.marginals cimport Mix, compress

from sskit.core.stop import CutShort


cdef class SoftGap:
    """Frank-Wolfe's gap of the augmented Lagrangian over the mixes of all factors.

    Without multipliers the negative of the Lagrangian is a dual objective, and this is its
    distance from the primal objective at the weights and messages that follow from the mixes.

    Parameters
    ----------
    state : FactorState
        The mixes.
    nodes : NodeSearch
        Oracle of the nodes, over all states.
    edges : EdgeSearch
        Oracle of the edges.
    """

    cdef FactorState state
    cdef Factors factors
    cdef NodeSearch nodes
    cdef EdgeSearch edges
    cdef vector[double] gain

    def __cinit__(self, FactorState state, NodeSearch nodes, EdgeSearch edges):
        check_searches(state, nodes, edges)
        self.state, self.factors = state, state.factors
        self.nodes, self.edges = nodes, edges

    def compute(self, Stop stop=None):
        """Ask the oracles of all factors at the same weights.

        Parameters
        ----------
        stop : Stop, default=None
            Says when to leave out the rest; None never does.

        Returns
        -------
        gap : float
            sum_i c_i sum_f (the largest gain - the mean gain of the mix), absolute.

        Raises
        ------
        CutShort
            If a stop was due before the last block.
        """
        cdef Py_ssize_t i = 0, n_blocks = self.factors.n_blocks
        cdef double total = 0.0
        if stop is None:
            stop = Stop()
        with nogil:
            while i < n_blocks:
                if self.factors.block_weight[i] > 0.0:
                    total += self.factors.block_weight[i] * self.of_block(i)
                i += 1
                if stop.due():
                    break
        if i < n_blocks:
            raise CutShort(i)
        return total

    cdef double of_block(self, Py_ssize_t i) except? -1 nogil:
        cdef Py_ssize_t j, e
        cdef double total = 0.0
        for j in range(self.factors.first_node(i), self.factors.first_node(i + 1)):
            self.gain.resize(self.state.nodes[j].n + 1)
            total += self.of_mix(&self.state.nodes[j], self.nodes.look(i, j, &self.gain[0]))
        for e in range(self.factors.first_edge(i), self.factors.first_edge(i + 1)):
            self.gain.resize(self.state.edges[e].n + 1)
            total += self.of_mix(&self.state.edges[e], self.edges.look(i, e, &self.gain[0]))
        return total

    cdef double of_mix(self, Mix* mix, Py_ssize_t greedy) noexcept nogil:
        cdef Py_ssize_t k
        cdef double gap = 0.0
        for k in range(mix.n):
            # differences, so that the digits remain where all gains are nearly the same
            gap += mix.weight[k] * (self.gain[greedy] - self.gain[k])
        compress(mix)  # what was found is not there to stay
        return gap
