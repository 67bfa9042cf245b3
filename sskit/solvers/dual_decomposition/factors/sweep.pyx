"""The pass of the greedy direction method of multipliers."""

from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.decomposition cimport Factors
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.solvers.dual_decomposition.factors.oracle cimport EdgeSearch, NodeSearch
from sskit.solvers.dual_decomposition.factors.state cimport FactorState, Mix
from sskit.solvers.simplex_qp.line_search cimport best_step


# The quadratic by which the augmented Lagrangian over c_i depends on a mix q:
#     scale ( sum_s own[s] d_s^2 + shared (||M_1 d||^2 + ||M_2 d||^2) ) / 2 - <gain, d>
# for a change d, M_1 and M_2 summing over the pairs with the same first and second label.
cdef struct Quadratic:
    const double* gain
    const double* own
    double shared            # 0 for nodes
    double scale
    int32_t n_states         # K, which makes two labels of a pair


cdef class PlainUpdate:
    """A step of Frank-Wolfe towards the greedy state, with exact line search."""

    cdef vector[int32_t] first
    cdef vector[int32_t] second
    cdef vector[double] point

    cdef double propose(
        self, const int32_t* state, const double* weight, Py_ssize_t n, Py_ssize_t greedy,
        const Quadratic* quadratic, double* change
    ) except? -1 nogil:
        """Write the changes of the n weights of a mix; return the decrease of the objective."""
        cdef Py_ssize_t k
        cdef double slope = quadratic.gain[greedy]
        self.split(state, n, quadratic.n_states)
        for k in range(n):
            slope -= weight[k] * quadratic.gain[k]
            change[k] = -weight[k]
        change[greedy] += 1.0
        return self.walk(slope, 1.0, n, quadratic, change)

    cdef int split(self, const int32_t* state, Py_ssize_t n, int32_t n_states) except -1 nogil:
        """Find the two labels of each pair."""
        cdef Py_ssize_t k
        self.first.resize(n)
        self.second.resize(n)
        for k in range(n):
            self.first.data()[k] = state[k] // n_states
            self.second.data()[k] = state[k] % n_states
        return 0

    cdef double curvature(
        self, const double* d, Py_ssize_t n, const Quadratic* quadratic
    ) noexcept nogil:
        """Return the curvature along a direction."""
        cdef Py_ssize_t k, m
        cdef double total = 0.0, shared = 0.0
        cdef const int32_t* first = self.first.data()
        cdef const int32_t* second = self.second.data()
        for k in range(n):
            total += quadratic.own[k] * d[k] * d[k]
        if quadratic.shared > 0.0:
            for k in range(n):
                shared += 2.0 * d[k] * d[k]
                for m in range(k):
                    shared += 2.0 * d[k] * d[m] * (
                        (first[k] == first[m]) + (second[k] == second[m])
                    )
        return quadratic.scale * (total + quadratic.shared * shared)

    cdef double decrease(
        self, const double* d, Py_ssize_t n, const Quadratic* quadratic
    ) noexcept nogil:
        """Return the decrease by a change."""
        cdef Py_ssize_t k
        cdef double slope = 0.0
        for k in range(n):
            slope += quadratic.gain[k] * d[k]
        return slope - 0.5 * self.curvature(d, n, quadratic)

    cdef double walk(
        self, double slope, double most, Py_ssize_t n, const Quadratic* quadratic, double* change
    ) noexcept nogil:
        """Shorten a direction to the best step of at most `most`; return the decrease."""
        cdef Py_ssize_t k
        cdef double curvature = self.curvature(change, n, quadratic)
        cdef double step = best_step(slope, curvature, most) if slope > 0.0 else 0.0
        for k in range(n):
            change[k] *= step
        return step * (slope - 0.5 * step * curvature)


cdef class AwayUpdate(PlainUpdate):
    """A step of Frank-Wolfe, towards the greedy state or away from the worst (algorithm 2)."""

    cdef double propose(
        self, const int32_t* state, const double* weight, Py_ssize_t n, Py_ssize_t greedy,
        const Quadratic* quadratic, double* change
    ) except? -1 nogil:
        cdef const double* gain = quadratic.gain
        cdef Py_ssize_t k, worst = -1
        cdef double mean = 0.0, most, decrease
        for k in range(n):
            mean += weight[k] * gain[k]
            if weight[k] > 0.0 and (worst < 0 or gain[k] < gain[worst]):
                worst = k
        if gain[greedy] - mean >= mean - gain[worst]:
            return PlainUpdate.propose(self, state, weight, n, greedy, quadratic, change)
        self.split(state, n, quadratic.n_states)
        most = weight[worst] / (1.0 - weight[worst])
        for k in range(n):
            change[k] = weight[k]
        change[worst] -= 1.0
        decrease = self.walk(mean - gain[worst], most, n, quadratic, change)
        # the longest step leaves nothing of it, not even of the rounding
        if change[worst] == most * (weight[worst] - 1.0):
            change[worst] = -weight[worst]
        return decrease


cdef class ProjectionUpdate(PlainUpdate):
    """The best mix of its states where the curvature is the same in all directions (eq. 19).

    It is for nodes; for edges the largest curvature takes the place of the others.
    """

    cdef double propose(
        self, const int32_t* state, const double* weight, Py_ssize_t n, Py_ssize_t greedy,
        const Quadratic* quadratic, double* change
    ) except? -1 nogil:
        cdef Py_ssize_t k, m, crowd, largest = 1
        cdef double curvature = 0.0
        cdef const int32_t* first
        cdef const int32_t* second
        for k in range(n):
            curvature = max(curvature, quadratic.own[k])
        if quadratic.shared > 0.0:
            self.split(state, n, quadratic.n_states)
            first, second = self.first.data(), self.second.data()
            for k in range(n):
                crowd = 0
                for m in range(n):
                    crowd += (first[k] == first[m]) + (second[k] == second[m])
                largest = max(largest, crowd)
        curvature = quadratic.scale * (curvature + quadratic.shared * largest)
        if not curvature > 0.0:
            for k in range(n):
                change[k] = (k == greedy) - weight[k]
            return self.decrease(change, n, quadratic)
        self.point.resize(n)
        for k in range(n):
            change[k] = weight[k] + quadratic.gain[k] / curvature
        project(change, n, self.point.data())
        for k in range(n):
            change[k] = change[k] - weight[k] if change[k] > 0.0 else -weight[k]
        return self.decrease(change, n, quadratic)


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
    update : PlainUpdate
        How a factor moves.
    step : float
        Step size eta of the multipliers.
    """

    cdef readonly FactorState state
    cdef Factors factors
    cdef readonly NodeSearch nodes
    cdef readonly EdgeSearch edges
    cdef readonly PlainUpdate update
    cdef readonly double step
    # of the last pass: sum_i c_i sum_f (the largest gain - the mean gain of the mix), each when the
    # factor was visited
    cdef readonly double gap
    cdef vector[double] gain
    cdef vector[double] own
    cdef vector[double] change

    def __cinit__(self, FactorState state, NodeSearch nodes, EdgeSearch edges,
                  PlainUpdate update, double step):
        if nodes.state is not state or edges.state is not state:
            raise ValueError("the oracles search for the factors of another state")
        self.state, self.factors = state, state.factors
        self.nodes, self.edges = nodes, edges
        self.update, self.step = update, step

    cdef int reserve(self, Py_ssize_t n) except -1 nogil:
        if <Py_ssize_t>self.gain.size() < n:
            self.gain.resize(n)
            self.own.resize(n)
            self.change.resize(n)
        return 0

    cdef double move_node(self, Py_ssize_t i, Py_ssize_t j, Py_ssize_t greedy) except? -1 nogil:
        """Move a node whose gains are known."""
        cdef Mix* mix = &self.state.nodes[j]
        cdef Py_ssize_t k, degree
        cdef Quadratic quadratic
        cdef double decrease
        degree = self.state.incident_offsets[j + 1] - self.state.incident_offsets[j]
        for k in range(mix.n):
            self.own[k] = (
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
            self.own[k] = self.factors.edge_sqnorm(i, e, mix.state[k])
        quadratic.shared = self.state.rho
        decrease = self.propose(i, mix, greedy, &quadratic)
        self.edges.leave(mix, self.change.data())
        self.state.move_edge(i, e, self.change.data())
        self.edges.enter()
        return decrease

    cdef double propose(
        self, Py_ssize_t i, const Mix* mix, Py_ssize_t greedy, Quadratic* quadratic
    ) except? -1 nogil:
        cdef const double* gain = self.gain.data()
        cdef double gap = 0.0
        cdef Py_ssize_t k
        for k in range(mix.n):
            # differences, so that the digits remain where all gains are nearly the same
            gap += mix.weight[k] * (gain[greedy] - gain[k])
        self.gap += self.factors.block_weight[i] * gap
        quadratic.gain, quadratic.own = gain, self.own.data()
        quadratic.scale = self.factors.block_weight[i] / self.state.lam
        quadratic.n_states = <int32_t>self.factors.n_states
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
        self.edges.renew()

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
        self.gap = 0.0
        with nogil:
            for _ in range(n_steps):
                i = sampler.next()
                if self.factors.block_weight[i] == 0.0:
                    continue
                decrease += self.visit(i)
                disagreement += self.ascend(i, self.step)
                if stop.due():
                    break
        return decrease, disagreement

    def run_stored_pass(self, Stop stop=None):
        """Move all factors among the states of their mixes, without the GIL.

        Blocks come in the order of their memory: nothing is searched that others could spoil. The
        multipliers rest: those of factors that lack a state would run away.

        Parameters
        ----------
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
                    decrease += self.revisit(i)
                    disagreement += self.ascend(i, 0.0)
                if stop.due():
                    break
        return decrease, disagreement

    cdef double ascend(self, Py_ssize_t i, double step) except? -1 nogil:
        """Move multipliers by `step`; return the share of the block in the disagreement of all."""
        cdef Py_ssize_t n_ends = 2 * (self.factors.first_edge(i + 1) - self.factors.first_edge(i))
        cdef double distance = self.state.ascend(i, step)
        return self.factors.block_weight[i] * 0.5 * distance / max(n_ends, 1)


cdef void project(double* x, Py_ssize_t n, double* order) noexcept nogil:
    """Project x onto the simplex; `order` is scratch memory."""
    cdef Py_ssize_t k, m
    cdef double total = 0.0, value, shift = 0.0
    for k in range(n):
        value = x[k]
        m = k
        while m > 0 and order[m - 1] < value:
            order[m] = order[m - 1]
            m -= 1
        order[m] = value
    for k in range(n):
        total += order[k]
        value = (total - 1.0) / (k + 1)
        if order[k] > value:
            shift = value
    for k in range(n):
        x[k] = max(x[k] - shift, 0.0)
