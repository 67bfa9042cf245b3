"""State of dual-decomposed training (see the .pxd for what it holds).

Mixes and messages hold a handful of states, so that going through all of them is the fastest
search.
"""

import numpy as np

from libc.math cimport sqrt
from libc.stdlib cimport calloc, free

from sskit.core.checks cimport check_least
from sskit.core.lanes cimport LANES
from sskit.core.memory cimport grown

# the largest whose pairs int32 can number
MOST_STATES = 46340


cdef class FactorState:
    """Dual variables of factors, at the truth to begin with.

    Parameters
    ----------
    factors : Factors
        The problem.
    lam : float
        Regularisation strength.
    rho : float
        Weight of the disagreement of factors, in units of c_i^2 / lam.
    w : ndarray of shape (n_weights + LANES,)
        Where the weights are kept; zero, or the prior.

    Raises
    ------
    ValueError
        If nodes have too many states for pairs of them to be numbered.
    """

    def __cinit__(self, Factors factors, double lam, double rho, double[::1] w):
        cdef Py_ssize_t i, e, j, side, k
        cdef Py_ssize_t ends[2]
        if factors.n_states > MOST_STATES:
            raise ValueError(f"{factors.n_states} states are more than {MOST_STATES}")
        check_least(w.shape[0], factors.n_weights + LANES, "the length of w")
        self.factors, self.lam, self.rho, self.w = factors, lam, rho, w
        if np.any(w):
            self.prior = np.array(w)
        self.n_nodes, self.n_edges = factors.n_nodes, factors.n_edges
        self.apart = np.zeros(factors.n_states)
        self.nodes = <Mix*>calloc(max(factors.n_nodes, 1), sizeof(Mix))
        self.edges = <Mix*>calloc(max(factors.n_edges, 1), sizeof(Mix))
        self.messages = <Message*>calloc(max(2 * factors.n_edges, 1), sizeof(Message))
        if self.nodes == NULL or self.edges == NULL or self.messages == NULL:
            raise MemoryError(f"no memory for {factors.n_nodes + factors.n_edges} factors")
        for j in range(factors.n_nodes):
            self.nodes[j].weight[place(&self.nodes[j], factors.truth(j))] = 1.0
        self.incident_offsets = np.zeros(factors.n_nodes + 1, dtype=np.int64)
        self.incident = np.empty(2 * factors.n_edges, dtype=np.int64)
        for i in range(factors.n_blocks):
            for e in range(factors.first_edge(i), factors.first_edge(i + 1)):
                factors.ends(i, e, &ends[0], &ends[1])
                k = place(&self.edges[e], self.true_pair(ends[0], ends[1]))
                self.edges[e].weight[k] = 1.0
                self.incident_offsets[ends[0] + 1] += 1
                self.incident_offsets[ends[1] + 1] += 1
        np.cumsum(self.incident_offsets, out=np.asarray(self.incident_offsets))
        cdef int64_t[::1] free_place = np.array(self.incident_offsets)
        for i in range(factors.n_blocks):
            for e in range(factors.first_edge(i), factors.first_edge(i + 1)):
                factors.ends(i, e, &ends[0], &ends[1])
                for side in range(2):
                    self.incident[free_place[ends[side]]] = 2 * e + side
                    free_place[ends[side]] += 1

    def __dealloc__(self):
        cdef Py_ssize_t j, e
        if self.nodes != NULL:
            for j in range(self.n_nodes):
                free(self.nodes[j].state)
                free(self.nodes[j].weight)
            free(self.nodes)
        if self.edges != NULL:
            for e in range(self.n_edges):
                free(self.edges[e].state)
                free(self.edges[e].weight)
            free(self.edges)
        if self.messages != NULL:
            for e in range(2 * self.n_edges):
                free(self.messages[e].label)
                free(self.messages[e].residual)
                free(self.messages[e].multiplier)
            free(self.messages)

    cdef int32_t true_pair(self, Py_ssize_t first, Py_ssize_t second) noexcept nogil:
        return self.factors.truth(first) * <int32_t>self.factors.n_states + (
            self.factors.truth(second)
        )

    cdef double penalty(self, Py_ssize_t i) noexcept nogil:
        return self.rho * self.factors.block_weight[i] / self.lam

    cdef int move_node(self, Py_ssize_t i, Py_ssize_t j, const double* change) except -1 nogil:
        cdef Mix* mix = &self.nodes[j]
        cdef double scale = self.factors.block_weight[i] / self.lam
        cdef Py_ssize_t k, m
        for k in range(mix.n):
            if change[k] == 0.0:
                continue
            self.factors.move_node(i, j, mix.state[k], -scale * change[k], &self.w[0])
            for m in range(self.incident_offsets[j], self.incident_offsets[j + 1]):
                disagree(&self.messages[self.incident[m]], mix.state[k], -change[k])
        apply_change(mix, change)
        return 0

    cdef int move_edge(self, Py_ssize_t i, Py_ssize_t e, const double* change) except -1 nogil:
        cdef Mix* mix = &self.edges[e]
        cdef double scale = self.factors.block_weight[i] / self.lam
        cdef int32_t n_states = <int32_t>self.factors.n_states
        cdef Py_ssize_t k
        for k in range(mix.n):
            if change[k] == 0.0:
                continue
            self.factors.move_edge(i, e, mix.state[k], -scale * change[k], &self.w[0])
            disagree(&self.messages[2 * e], mix.state[k] // n_states, change[k])
            disagree(&self.messages[2 * e + 1], mix.state[k] % n_states, change[k])
        apply_change(mix, change)
        return 0

    cdef double ascend(self, Py_ssize_t i, double step) except? -1 nogil:
        cdef Py_ssize_t e, k, n, side
        cdef Py_ssize_t ends[2]
        cdef double total = 0.0, squares = 0.0, residual, multiplier
        cdef double* apart = &self.apart[0]
        cdef int32_t label
        cdef Message* message
        cdef Mix* pair
        cdef Mix* node
        cdef int32_t n_states = <int32_t>self.factors.n_states
        for e in range(self.factors.first_edge(i), self.factors.first_edge(i + 1)):
            self.factors.ends(i, e, &ends[0], &ends[1])
            pair = &self.edges[e]
            for side in range(2):
                message = &self.messages[2 * e + side]
                node = &self.nodes[ends[side]]
                # from the mixes: a residual that is a sum of steps would never be zero again
                for k in range(pair.n):
                    label = end_of(pair.state[k], side, n_states)
                    apart[label] += pair.weight[k]
                for k in range(node.n):
                    apart[node.state[k]] -= node.weight[k]
                n = 0
                for k in range(message.n):
                    label = message.label[k]
                    residual, apart[label] = apart[label], 0.0
                    multiplier = message.multiplier[k] + step * residual
                    if residual == 0.0 and multiplier == 0.0:
                        continue
                    message.label[n], message.residual[n] = label, residual
                    message.multiplier[n] = multiplier
                    total += abs(residual)
                    squares += residual * residual
                    n += 1
                message.n = n
                # labels on which they agreed so far
                for k in range(pair.n):
                    label = end_of(pair.state[k], side, n_states)
                    self.append(message, label, step, &total, &squares)
                for k in range(node.n):
                    self.append(message, node.state[k], step, &total, &squares)
        self.ascent += self.factors.block_weight[i] * self.penalty(i) * step * squares
        return total

    cdef int append(
        self, Message* message, int32_t label, double step, double* total, double* squares
    ) except -1 nogil:
        cdef double residual = self.apart[label]
        if residual == 0.0:
            return 0
        self.apart[label] = 0.0
        total[0] += abs(residual)
        squares[0] += residual * residual
        return add_label(message, label, residual, step * residual)

    def rebuild(self):
        """Sum the weights from the dual variables anew: they are a sum of many small moves."""
        cdef Py_ssize_t i, j, e, k
        cdef Py_ssize_t ends[2]
        cdef Factors factors = self.factors
        cdef double* w = &self.w[0]
        cdef double scale
        np.asarray(self.w)[:] = 0.0 if self.prior is None else self.prior
        with nogil:
            for i in range(factors.n_blocks):
                scale = factors.block_weight[i] / self.lam
                for j in range(factors.first_node(i), factors.first_node(i + 1)):
                    factors.move_node(i, j, factors.truth(j), scale, w)
                    for k in range(self.nodes[j].n):
                        factors.move_node(
                            i, j, self.nodes[j].state[k], -scale * self.nodes[j].weight[k], w
                        )
                for e in range(factors.first_edge(i), factors.first_edge(i + 1)):
                    factors.ends(i, e, &ends[0], &ends[1])
                    factors.move_edge(i, e, self.true_pair(ends[0], ends[1]), scale, w)
                    for k in range(self.edges[e].n):
                        factors.move_edge(
                            i, e, self.edges[e].state[k], -scale * self.edges[e].weight[k], w
                        )

    def largest_loss(self):
        """Return the mean over blocks of the sum of the losses of all nodes, P(0)."""
        cdef Py_ssize_t i, j
        cdef double total = 0.0
        if self.factors.n_states == 1:
            return 0.0
        for i in range(self.factors.n_blocks):
            for j in range(self.factors.first_node(i), self.factors.first_node(i + 1)):
                total += self.factors.block_weight[i] * self.factors.cost(j)
        return total

    def mixes(self):
        """Return copies of the mixes of all nodes and edges, lists of (states, weights)."""
        cdef Py_ssize_t j, e
        return (
            [as_arrays(&self.nodes[j]) for j in range(self.factors.n_nodes)],
            [as_arrays(&self.edges[e]) for e in range(self.factors.n_edges)],
        )

    def multipliers(self):
        """Return copies of labels and multipliers of all messages, a list of pairs."""
        cdef Py_ssize_t m, k
        return [
            (
                np.array([self.messages[m].label[k] for k in range(self.messages[m].n)], int),
                np.array([self.messages[m].multiplier[k] for k in range(self.messages[m].n)]),
            )
            for m in range(2 * self.factors.n_edges)
        ]


def disagreement_scale(Factors factors, double lam):
    """Return the weight of disagreements that suits a problem, in units of c_i^2 / lam.

    Multipliers balance the losses of nodes, which takes c_i L of them, and they grow by c_i^2 /
    lam a step for each unit of this weight: lam L / c_i units lead them there at once. More
    units than the curvature of a node, ||x||^2, would hold the weights up. This is a third of
    the geometric mean of the two, which was near the best from lam = 1e-3 to 1 on the letters
    and on other data; a weight three times smaller or larger takes a few passes more.

    Parameters
    ----------
    factors : Factors
        The problem.
    lam : float
        Regularisation strength.

    Returns
    -------
    scale : float
        Positive.
    """
    cdef Py_ssize_t i, j
    cdef double sqnorm = 0.0, cost = 0.0, weight = 0.0, product
    cdef Py_ssize_t n_nodes = 0, n_blocks = 0
    with nogil:
        for i in range(factors.n_blocks):
            if factors.block_weight[i] == 0.0:
                continue
            weight += factors.block_weight[i]
            n_blocks += 1
            for j in range(factors.first_node(i), factors.first_node(i + 1)):
                # and one for an edge
                sqnorm += factors.node_sqnorm(i, j, factors.truth(j)) + 1.0
                cost += factors.cost(j)
                n_nodes += 1
    product = (sqnorm / n_nodes) * lam * (cost / n_nodes) * (n_blocks / weight)
    return sqrt(product) / 3.0 if product > 0.0 else 1.0


cdef void apply_change(Mix* mix, const double* change) noexcept nogil:
    """Add a change to a mix; states whose weight is gone leave it."""
    cdef Py_ssize_t k
    cdef double total = 0.0
    for k in range(mix.n):
        mix.weight[k] = max(mix.weight[k] + change[k], 0.0)
        total += mix.weight[k]
    for k in range(mix.n):
        mix.weight[k] /= total
    compress(mix)


cdef as_arrays(const Mix* mix):
    cdef Py_ssize_t k
    return (
        np.array([mix.state[k] for k in range(mix.n)]),
        np.array([mix.weight[k] for k in range(mix.n)]),
    )


cdef Py_ssize_t place(Mix* mix, int32_t state) except -1 nogil:
    cdef Py_ssize_t k = find(mix.state, mix.n, state), room = 2 * mix.room + 1
    if k >= 0:
        return k
    if mix.n == mix.room:
        mix.state = <int32_t*>grown(mix.state, room * sizeof(int32_t))
        mix.weight = <double*>grown(mix.weight, room * sizeof(double))
        mix.room = room
    mix.state[mix.n] = state
    mix.weight[mix.n] = 0.0
    mix.n += 1
    return mix.n - 1


cdef void compress(Mix* mix) noexcept nogil:
    """Leave out the states whose weight is zero."""
    cdef Py_ssize_t k, n = 0
    for k in range(mix.n):
        if mix.weight[k] > 0.0:
            mix.state[n] = mix.state[k]
            mix.weight[n] = mix.weight[k]
            n += 1
    mix.n = n


cdef int disagree(Message* message, int32_t label, double change) except -1 nogil:
    """residual += change at a label."""
    cdef Py_ssize_t k = find(message.label, message.n, label)
    if k < 0:
        return add_label(message, label, change, 0.0)
    message.residual[k] += change
    return 0


cdef int add_label(
    Message* message, int32_t label, double residual, double multiplier
) except -1 nogil:
    """Add a label that is not there yet."""
    cdef Py_ssize_t k = message.n, room = 2 * message.room + 2
    if k == message.room:
        message.label = <int32_t*>grown(message.label, room * sizeof(int32_t))
        message.residual = <double*>grown(message.residual, room * sizeof(double))
        message.multiplier = <double*>grown(message.multiplier, room * sizeof(double))
        message.room = room
    message.label[k] = label
    message.residual[k] = residual
    message.multiplier[k] = multiplier
    message.n += 1
    return 0
