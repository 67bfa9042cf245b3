"""The pass of the greedy direction method of multipliers."""

from libc.stdint cimport int32_t

from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.parallel.buffer cimport need
from sskit.solvers.dual_decomposition.factors.oracle cimport EdgeSearch, NodeSearch, check_searches
from sskit.solvers.dual_decomposition.factors.state cimport FactorState
from sskit.solvers.dual_decomposition.factors.update cimport Quadratic, Update
from sskit.solvers.dual_decomposition.factors.marginals cimport Mix


cdef class Sweep:
    """Visits to blocks: every factor takes a step, then the multipliers do.

    The messages of a block depend on its own factors only, so this is algorithm 1, which moves
    the multipliers after a pass over all blocks.

    Parameters
    ----------
    state : FactorState
        What is moved.
    nodes : NodeSearch
        Oracle of the nodes.
    edges : EdgeSearch
        Oracle of the edges.
    update : Update
        How a factor moves.
    step : float
        Step size eta of the multipliers.
    n_sweeps : int
        Number of sweeps over the factors of a block at a visit. The oracles are asked in the
        first, the others move among the states that are in the mixes, then the multipliers.
    """

    def __cinit__(self, FactorState state, NodeSearch nodes, EdgeSearch edges, Update update,
                  double step, Py_ssize_t n_sweeps=1):
        check_searches(state, nodes, edges)
        self.state, self.factors = state, state.factors
        self.nodes, self.edges = nodes, edges
        self.update, self.step, self.n_sweeps = update, step, n_sweeps

    cdef int reserve(self, Py_ssize_t n) except -1 nogil:
        return need(self.gain.reserve(n) and self.own.reserve(n) and self.change.reserve(n))

    cdef double move_node(self, Py_ssize_t i, Py_ssize_t j, Py_ssize_t greedy) except? -1 nogil:
        """Move a node whose gains are known."""
        cdef Mix* mix = &self.state.nodes[j]
        cdef Py_ssize_t k, degree
        cdef Quadratic quadratic
        cdef double decrease
        degree = self.state.incident_offsets[j + 1] - self.state.incident_offsets[j]
        for k in range(mix.n):
            self.own.data()[k] = (
                self.factors.node_sqnorm(i, j, mix.state[k]) + self.state.rho * degree
            )
        quadratic.shared = 0.0
        decrease = self.propose(i, mix, greedy, &quadratic)
        self.state.move_node(i, j, self.change.data())
        return decrease

    cdef double move_edge(self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t greedy) except? -1 nogil:
        """Move an edge whose gains are known."""
        cdef Mix* mix = &self.state.edges[e]
        cdef Py_ssize_t k
        cdef Quadratic quadratic
        cdef double decrease
        for k in range(mix.n):
            self.own.data()[k] = self.factors.edge_sqnorm(i, e, mix.state[k])
        quadratic.shared = self.state.rho
        decrease = self.propose(i, mix, greedy, &quadratic)
        self.edges.leave(mix, self.change.data())
        self.state.move_edge(i, e, self.change.data())
        self.edges.enter()
        return decrease

    cdef double propose(
        self, Py_ssize_t i, const Mix* mix, Py_ssize_t greedy, Quadratic* quadratic
    ) except? -1 nogil:
        quadratic.gain, quadratic.own = self.gain.data(), self.own.data()
        quadratic.scale = self.factors.block_weight[i] / self.state.lam
        quadratic.n_states = <int32_t>self.factors.n_states
        self.n_steps += 1
        return self.update.propose(
            mix.state, mix.weight, mix.n, greedy, quadratic, self.change.data()
        )

    cdef double visit(self, Py_ssize_t i) except? -1 nogil:
        """Ask the oracle of every factor of a block; return the decrease of the Lagrangian."""
        cdef Py_ssize_t j, e, greedy
        cdef double decrease = 0.0
        for j in range(self.factors.first_node(i), self.factors.first_node(i + 1)):
            self.reserve(self.state.nodes[j].n + 1)
            greedy = self.nodes.look(i, j, self.gain.data())
            # nothing can move in a mix of one state, which is the best
            if self.state.nodes[j].n > 1:
                decrease += self.move_node(i, j, greedy)
        for e in range(self.factors.first_edge(i), self.factors.first_edge(i + 1)):
            self.reserve(self.state.edges[e].n + 1)
            greedy = self.edges.look(i, e, self.gain.data())
            if self.state.edges[e].n > 1:
                decrease += self.move_edge(i, e, greedy)
        return self.factors.block_weight[i] * decrease

    cdef int take(self, Py_ssize_t i, double* decrease, double* disagreement) except -1 nogil:
        cdef Py_ssize_t _
        cdef double distance
        decrease[0] += self.visit(i)
        distance = self.state.ascend(i, self.step)
        for _ in range(self.n_sweeps - 1):
            decrease[0] += self.revisit(i)
            distance = self.state.ascend(i, self.step)
        disagreement[0] += self.share(i, distance)
        return 0

    cdef int take_stored(
        self, Py_ssize_t i, double step, double* decrease, double* disagreement
    ) except -1 nogil:
        decrease[0] += self.revisit(i)
        disagreement[0] += self.share(i, self.state.ascend(i, step))
        return 0

    cdef double revisit(self, Py_ssize_t i) except? -1 nogil:
        """Move every factor of a block among the states of its mix; return the decrease."""
        cdef Py_ssize_t j, e
        cdef double decrease = 0.0
        for j in range(self.factors.first_node(i), self.factors.first_node(i + 1)):
            if self.state.nodes[j].n > 1:
                self.reserve(self.state.nodes[j].n)
                decrease += self.move_node(i, j, self.nodes.best_active(i, j, self.gain.data()))
        for e in range(self.factors.first_edge(i), self.factors.first_edge(i + 1)):
            if self.state.edges[e].n > 1:
                self.reserve(self.state.edges[e].n)
                decrease += self.move_edge(i, e, self.edges.best_active(i, e, self.gain.data()))
        return self.factors.block_weight[i] * decrease

    @property
    def n_looks(self):
        """States that the oracles looked at so far."""
        return self.nodes.n_looks + self.edges.n_looks

    def rebuild(self):
        """Sum the weights anew from the dual variables, without the rounding of many moves."""
        self.state.rebuild()
        self.edges.rearrange()

    def notice(self):
        """Take notice that weights have moved other than by this."""
        self.edges.rearrange()

    def run_pass(self, Sampler sampler, Py_ssize_t n_steps, Stop stop=None):
        """Visit blocks without the GIL.

        Parameters
        ----------
        sampler : Sampler
            Says which blocks; its begin_pass(n_steps) has been called.
        n_steps : int
            Number of blocks.
        stop : Stop, default=None
            Says after which block to end already; None never does.

        Returns
        -------
        decrease : float
            Of the augmented Lagrangian by the steps of the factors.
        disagreement : float
            Sum over blocks of c_i times the mean total variation between the marginals of an
            edge at an end and the mix of this node; between 0 and 1. That of the blocks that
            were visited.
        """
        cdef Py_ssize_t _, i
        cdef double decrease = 0.0, disagreement = 0.0
        sampler.check(self.factors.n_blocks, n_steps)
        if stop is None:
            stop = Stop()
        with nogil:
            for _ in range(n_steps):
                i = sampler.next()
                if self.factors.block_weight[i] == 0.0:
                    continue
                self.take(i, &decrease, &disagreement)
                if stop.due():
                    break
        return decrease, disagreement

    def run_stored_pass(self, double step, Stop stop=None):
        """Move all factors among the states of their mixes, without the GIL.

        Blocks come in the order of their memory: nothing is searched that others could spoil.

        Parameters
        ----------
        step : float
            Step size of the multipliers. Short where many such passes follow each other: factors
            that lack a state cannot agree, and their multipliers would run away.
        stop : Stop, default=None
            As of `run_pass`.

        Returns
        -------
        decrease, disagreement : float
            As of `run_pass`.
        """
        cdef Py_ssize_t i
        cdef double decrease = 0.0, disagreement = 0.0
        if stop is None:
            stop = Stop()
        with nogil:
            for i in range(self.factors.n_blocks):
                if self.factors.block_weight[i] > 0.0:
                    self.take_stored(i, step, &decrease, &disagreement)
                if stop.due():
                    break
        return decrease, disagreement

    cdef double share(self, Py_ssize_t i, double distance) noexcept nogil:
        """Share of a block in the disagreement of all, from the distances within it."""
        cdef Py_ssize_t n_ends
        n_ends = 2 * (self.factors.first_edge(i + 1) - self.factors.first_edge(i))
        return self.factors.block_weight[i] * 0.5 * distance / max(n_ends, 1)
