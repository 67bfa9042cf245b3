"""Minimum cuts: exact maximisation over the labellings of graphs with two states."""

import threading

import numpy as np

from libc.math cimport fabs
from libc.stdint cimport int32_t

from sskit.oracles.graph.potentials cimport (
    ROUNDING, GraphOracle, GraphPotentials, Potentials, check_capacities, labelling_score,
    pair_score
)
from sskit.parallel.turnstile cimport Turnstile

cdef extern from "Python.h":
    int PyGILState_Check() nogil

# All cuts of all threads.
cdef Turnstile turnstile


cdef class Cut(GraphOracle):
    """Scratch memory for cuts; it grows with the graphs."""

    def __cinit__(self):
        self.exact = self.takes_turns = True

    cdef int reserve(self, Py_ssize_t n_nodes, Py_ssize_t n_edges) except -1 nogil:
        if n_nodes <= self.max_nodes and n_edges <= self.max_edges:
            return 0
        with gil:
            return self.grow(n_nodes, n_edges)

    cdef int grow(self, Py_ssize_t n_nodes, Py_ssize_t n_edges) except -1:
        n_nodes, n_edges = max(n_nodes, self.max_nodes, 1), max(n_edges, self.max_edges, 1)
        graph = flow_graph(n_nodes, n_edges)
        ends = np.empty((2, n_edges), dtype=np.int32)
        gain, capacity = np.empty(n_nodes), np.empty(n_edges)
        places = np.arange(n_nodes, dtype=np.int32)
        arrays = places, gain, np.zeros(n_nodes), *ends, capacity
        self.place.resize(n_nodes)
        self.node_of.resize(n_nodes)
        self.option.resize(n_nodes)
        # all of them or none: memory may end on the way
        self.max_nodes, self.max_edges, self.graph, self.arrays = n_nodes, n_edges, graph, arrays
        self.ends, self.gain, self.capacity = ends, gain, capacity
        self.tail, self.head = &self.ends[0, 0], &self.ends[1, 0]
        return 0

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil:
        cdef Py_ssize_t v
        self.reserve(p.n_nodes, p.n_edges)
        for v in range(p.n_nodes):
            labels[v] = 0
            self.option[v] = <int32_t>(p.n_states - 1)  # 1 of two states, 0 of one
        self.choose(p, self.option.data(), labels)
        return 0

    cpdef GraphOracle fork(self):
        return Cut()

    cdef Py_ssize_t choose(
        self, const Potentials* p, const int32_t* second, int32_t* labels
    ) except -1 nogil:
        cdef Py_ssize_t k, e, v, n_changed = 0
        self.reserve(p.n_nodes, p.n_edges)
        e = self.prepare(p, labels, second)
        if e >= 0:
            with gil:
                raise ValueError(
                    f"edge {e} between the nodes {p.ends[2 * e]} and {p.ends[2 * e + 1]} cannot "
                    "be represented by a cut: its potentials of the states "
                    + _describe(p, e, labels[p.ends[2 * e]], second[p.ends[2 * e]],
                                labels[p.ends[2 * e + 1]], second[p.ends[2 * e + 1]])
                )
        if self.n_nodes == 0:
            return 0
        self.send()
        for k in range(self.n_nodes):
            if self.sides[k]:
                v = self.node_of[k]
                labels[v] = second[v]
                n_changed += 1
        return n_changed

    cdef int read(
        self, const Potentials* p, const int32_t* first, const int32_t* second
    ) except -1 nogil:
        cdef Py_ssize_t v, e
        cdef int32_t a, b
        cdef double neither, both, only_a, only_b, bend
        self.label.resize(p.n_nodes)
        self.pair.resize(p.n_edges)
        for v in range(p.n_nodes):
            self.label[v] = p.node[v * p.stride + second[v]] - p.node[v * p.stride + first[v]]
        for e in range(p.n_edges):
            a, b = p.ends[2 * e], p.ends[2 * e + 1]
            neither = pair_score(p, e, first[a], first[b])
            both = pair_score(p, e, second[a], second[b])
            only_a = pair_score(p, e, second[a], first[b])
            only_b = pair_score(p, e, first[a], second[b])
            bend = (both - only_a) + (neither - only_b)
            # what is rounding must not set nodes against each other
            if fabs(bend) > ROUNDING * (fabs(neither) + fabs(only_a) + fabs(only_b) + fabs(both)):
                self.pair[e] = bend
                self.label[a] += only_a - neither
                self.label[b] += only_b - neither
            else:  # in the middle of what it may be
                self.pair[e] = 0.0
                self.label[a] += 0.5 * ((only_a - neither) + (both - only_b))
                self.label[b] += 0.5 * ((only_b - neither) + (both - only_a))
        return 0

    cdef Py_ssize_t prepare(
        self, const Potentials* p, const int32_t* first, const int32_t* second
    ) except -2 nogil:
        cdef Py_ssize_t v, e
        cdef int32_t a, b
        self.read(p, first, second)
        for v in range(p.n_nodes):
            self.place[v] = -(first[v] == second[v])
        self.begin(p.n_nodes)
        for e in range(p.n_edges):
            a, b = p.ends[2 * e], p.ends[2 * e + 1]
            if self.pair[e] < 0.0:
                return e
            # half of it in either direction, and the rest is linear in each end
            self.label[a] += 0.5 * self.pair[e]
            self.label[b] += 0.5 * self.pair[e]
            if self.pair[e] > 0.0:
                self.join(a, b, 0.5 * self.pair[e])
        for v in range(self.n_nodes):
            self.gain[v] = -self.label[self.node_of[v]]
        return -1

    cdef void begin(self, Py_ssize_t n_nodes) noexcept nogil:
        cdef Py_ssize_t v
        self.n_nodes = 0
        self.n_edges = 0
        for v in range(n_nodes):
            if self.place[v] >= 0:
                self.place[v] = <int32_t>self.n_nodes
                self.node_of[self.n_nodes] = <int32_t>v
                self.n_nodes += 1

    cdef double send(self) except? -1 nogil:
        # who holds the lock already must not let those wait who are on their way to it
        cdef bint queues = not PyGILState_Check()
        if queues:
            turnstile.enter()
        try:
            with gil:
                return self.run()
        finally:
            if queues:
                turnstile.leave()

    cdef double run(self) except? -1:
        cdef object graph = self.graph
        cdef Py_ssize_t n = self.n_nodes, m = self.n_edges
        cdef double flow
        places, gain, zero, tail, head, capacity = self.arrays
        places = places[:n]
        graph.reset()
        graph.add_nodes(n)
        if m:
            capacity = capacity[:m]
            graph.add_edges(tail[:m], head[:m], capacity, capacity)
        graph.add_grid_tedges(places, gain[:n], zero[:n])
        flow = graph.maxflow()
        self.sides = graph.get_grid_segments(places).view(np.uint8)
        return flow

    cdef int marginals(self, double[:, ::1] out) except -1:
        """Write max-marginals.

        A node is forced to its other side by a capacity that outweighs all its edges; the flow
        that this adds is what the best score loses. The flow and the search trees of one node
        serve the next one (Kohli and Torr 2008).
        """
        cdef Py_ssize_t k
        cdef double flow = self.send(), lost, force
        cdef double[::1] forces = np.abs(self.arrays[1][: self.n_nodes])
        cdef const unsigned char[::1] sides = self.sides
        cdef object graph = self.graph
        for k in range(self.n_edges):
            forces[self.tail[k]] += 2.0 * self.capacity[k]
            forces[self.head[k]] += 2.0 * self.capacity[k]
        for k in range(self.n_nodes):
            force = 2.0 * forces[k]
            if sides[k]:
                graph.add_tedge(k, force, 0.0)
            else:
                graph.add_tedge(k, 0.0, force)
            graph.mark_node(k)
            lost = graph.maxflow(True) - flow
            out[self.node_of[k], 1 - sides[k]] -= max(lost, 0.0)
            if sides[k]:
                graph.add_tedge(k, -force, 0.0)
            else:
                graph.add_tedge(k, 0.0, -force)
            graph.mark_node(k)
        return 0


cdef str _describe(const Potentials* p, Py_ssize_t e, int32_t a, int32_t a2, int32_t b, int32_t b2):
    cdef list parts = [
        f"({i}, {j}): {pair_score(p, e, i, j):.6g}"
        for i, j in ((a, b), (a, b2), (a2, b), (a2, b2))
    ]
    return (
        ", ".join(parts) + "; the first and the last must not be less in sum than the other two"
    )


# To make the scratch memory of a cut takes longer than to cut a graph of a hundred nodes: each
# thread leaves that of its last call, unless it is large, to its next call.
_LEFT = threading.local()
cdef Py_ssize_t MOST_LEFT = 100_000  # nodes and edges, about 10 MB


cpdef Cut take_cut():
    """Return scratch memory for cuts, that of this thread's last one if it is there."""
    return _LEFT.__dict__.pop("cut", None) or Cut()


cpdef leave_cut(Cut cut):
    """Leave scratch memory to the next cut of this thread."""
    if cut.max_nodes + cut.max_edges <= MOST_LEFT:
        _LEFT.cut = cut


cdef object flow_graph(Py_ssize_t n_nodes, Py_ssize_t n_edges):
    # on first use: most users of the package never cut a graph
    from maxflow import GraphFloat

    return GraphFloat(n_nodes, n_edges)


def graphcut(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0):
    """Find the best labelling of a graph with two states by a minimum cut.

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. Exact, for any graph
    whose edges score equal states at least as high, in sum, as different ones:
    ``pairwise[e, 0, 0] + pairwise[e, 1, 1] >= pairwise[e, 0, 1] + pairwise[e, 1, 0]``.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, 2)
        Potentials of the nodes, finite.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge. Edges between the same two nodes add up. None means no edges.
    pairwise : array-like, (n_edges,), (2, 2) or (n_edges, 2, 2), default=None
        Potentials of the edges, finite: for each edge a number that counts where its two states
        agree (Potts), or tables from the state of its first node to that of the second; one
        table serves all edges.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        A maximiser, the one with the fewest ones.
    score : float
        The maximum.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, there are not two states, an edge has a
        node that does not exist or joins a node to itself, a cut cannot represent an edge (it
        is named), a true state is out of range or a cost is negative.

    See Also
    --------
    expansion : More than two states.

    References
    ----------
    Kolmogorov and Zabih (2004). What energy functions can be minimized via graph cuts? IEEE
    Transactions on Pattern Analysis and Machine Intelligence 26(2).

    Boykov and Kolmogorov (2004). An experimental comparison of min-cut/max-flow algorithms for
    energy minimization in vision. Same journal, 26(9).

    Examples
    --------
    >>> from sskit.oracles import graphcut
    >>> path = [[0, 1], [1, 2]]
    >>> graphcut([[0, 2], [0.5, 0], [0, 1]], path, [1, 1])
    (array([1, 1, 1], dtype=int32), 5.0)
    """
    cdef GraphPotentials potentials = two_states(nodes, edges, pairwise, truth, cost)
    cdef Cut cut = take_cut()
    labels = np.empty(potentials.struct_.n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    with nogil:
        cut.improve(&potentials.struct_, &out[0])
    leave_cut(cut)
    return labels, labelling_score(&potentials.struct_, &out[0])


def graph_max_marginals(nodes, edges=None, pairwise=None):
    """Compute the max-marginals of a graph with two states by minimum cuts.

    The max-marginal of a node and a state is the best score of all labellings that have this
    state there; the score of a labelling is ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u,
    y_v]``. Exact up to rounding. One cut, and one more for each node, which starts from the flow
    of the one before.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, 2)
        Potentials of the nodes, finite.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge; None means no edges.
    pairwise : array-like, (n_edges,), (2, 2) or (n_edges, 2, 2), default=None
        Potentials of the edges, as `graphcut` takes them.

    Returns
    -------
    scores : ndarray of shape (n_nodes, 2)
        The max-marginals; the larger one of each row is the score of the best labelling.

    Raises
    ------
    ValueError
        As `graphcut`.

    References
    ----------
    Kohli and Torr (2008). Measuring uncertainty in graph cut solutions. Computer Vision and
    Image Understanding 112.

    Examples
    --------
    >>> from sskit.oracles import graph_max_marginals
    >>> graph_max_marginals([[0, 2], [0.5, 0], [0, 1]], [[0, 1], [1, 2]], [1, 1])
    array([[2.5, 5. ],
           [3.5, 5. ],
           [3.5, 5. ]])
    """
    cdef GraphPotentials potentials = two_states(nodes, edges, pairwise)
    cdef Cut cut = Cut()
    cdef int32_t[::1] labels = np.empty(potentials.struct_.n_nodes, dtype=np.int32)
    scores = np.empty((potentials.struct_.n_nodes, 2))
    cdef double[:, ::1] out = scores
    cut.improve(&potentials.struct_, &labels[0])
    out[:, :] = labelling_score(&potentials.struct_, &labels[0])
    cut.marginals(out)
    return scores


cdef GraphPotentials two_states(nodes, edges, pairwise, truth=None, cost=1.0):
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, truth, cost)
    if potentials.struct_.n_states != 2:
        raise ValueError(
            f"nodes must have 2 columns, one for each state, got {potentials.struct_.n_states}; "
            "for more states see expansion"
        )
    check_capacities(&potentials.struct_)
    return potentials
