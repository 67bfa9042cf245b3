"""Minimum cuts: two states exactly, more by expansions or swaps, any potentials by roof duality."""

import threading

import numpy as np

from sskit._numbers import check_bool
from sskit.oracles.graph.trws import TRWS

from libc.math cimport fabs
from libc.string cimport memcpy, memset

from sskit.oracles.graph.potentials cimport (
    ROUNDING, GraphPotentials, Topology, labelling_score, pair_score
)
from sskit.parallel.spin_lock cimport SpinLock

cdef extern from "Python.h":
    int PyGILState_Check() nogil

# All cuts of all threads.
cdef SpinLock spin_lock


def graph_class():
    """Return the class of PyMaxflow, imported on first use: most users never cut a graph.

    Returns
    -------
    kind : type
        Graphs of floats.

    Raises
    ------
    ImportError
        If PyMaxflow is not installed.
    """
    try:
        from maxflow import GraphFloat
    except ImportError as error:
        raise ImportError(
            "minimum cuts need PyMaxflow, which is not installed: it has no wheels for some "
            "versions of Python, where 'pip install pymaxflow' compiles it"
        ) from error
    return GraphFloat


cdef class Cut(GraphOracle):
    """Scratch memory for cuts; it grows with the graphs."""

    def __cinit__(self):
        self.exact = self.takes_turns = self.needs_finite = True

    cdef int reserve(self, Py_ssize_t n_nodes, Py_ssize_t n_edges) except -1 nogil:
        if n_nodes > self.max_nodes or n_edges > self.max_edges:
            with gil:
                self.grow(n_nodes, n_edges)
        return 0

    cdef int grow(self, Py_ssize_t n_nodes, Py_ssize_t n_edges) except -1:
        n_nodes, n_edges = max(n_nodes, self.max_nodes, 1), max(n_edges, self.max_edges, 1)
        graph = graph_class()(n_nodes, n_edges)
        ends = np.empty((2, n_edges), dtype=np.int32)
        gain, capacity = np.empty(n_nodes), np.empty(n_edges)
        places = np.arange(n_nodes, dtype=np.int32)
        arrays = places, gain, np.zeros(max(n_nodes, n_edges)), *ends, capacity
        self.network.place.resize(n_nodes)
        self.network.node_of.resize(n_nodes)
        # all of them or none: memory may end on the way
        self.max_nodes, self.max_edges, self.graph, self.arrays = n_nodes, n_edges, graph, arrays
        self.ends, self.gain, self.capacity = ends, gain, capacity
        self.network.gain, self.network.capacity = &self.gain[0], &self.capacity[0]
        self.network.tail, self.network.head = &self.ends[0, 0], &self.ends[1, 0]
        return 0

    cdef int improve(self, const Potentials* p, int32_t* labels, float* messages) except -1 nogil:
        memset(labels, 0, p.n_nodes * sizeof(int32_t))
        self.last.refill(p.n_nodes, <int32_t>(p.n_states - 1))  # 1 of two states, 0 of one
        return self.choose(p, self.last.data(), labels)

    cdef int choose(
        self, const Potentials* p, const int32_t* second, int32_t* labels
    ) except -1 nogil:
        cdef Py_ssize_t i, e
        self.reserve(p.n_nodes, p.n_edges)
        e = self.choice.prepare(p[0], labels, second, self.network)
        if e >= 0:
            with gil:
                refuse_edge(p, e, labels, second)
        if self.network.n_nodes:
            self.send()
        for i in range(self.network.n_nodes):
            if self.sides[i]:
                labels[self.network.node_of[i]] = second[self.network.node_of[i]]
        return 0

    cdef int relax(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* halves
    ) except -1 nogil:
        cdef Py_ssize_t n_open = self.dual.decide(n_labels, label, n_edges, ends, pair, halves)
        if n_open:
            self.reserve(2 * n_labels, 2 * n_open)
            self.dual.prepare(halves, self.network)
            self.send()
            self.dual.read(self.network, &self.sides[0], halves)
        return 0

    cdef double send(self) except? -1 nogil:
        # a thread that holds the interpreter's lock must not wait for threads that wait for that
        # lock
        cdef bint queues = not PyGILState_Check()
        if queues:
            spin_lock.enter()
        try:
            with gil:
                return self.run()
        finally:
            if queues:
                spin_lock.leave()

    cdef double run(self) except? -1:
        cdef object graph = self.graph
        cdef Py_ssize_t n = self.network.n_nodes, m = self.network.n_edges
        cdef double flow
        places, gain, zero, tail, head, capacity = self.arrays
        places = places[:n]
        graph.reset()
        graph.add_nodes(n)
        if m:
            capacity = capacity[:m]
            graph.add_edges(tail[:m], head[:m], capacity, zero[:m] if self.one_way else capacity)
        graph.add_grid_tedges(places, gain[:n], zero[:n])
        flow = graph.maxflow()
        self.sides = graph.get_grid_segments(places).view(np.uint8)
        return flow

    cdef int marginals(self, const Potentials* p, double* out) except -1:
        """Write max-marginals.

        A node is forced to its other side by a capacity that outweighs all its edges; the flow
        that this adds is the loss of the best score. The flow and the search trees of one node are
        used again for the next one (Kohli and Torr 2008).
        """
        cdef Py_ssize_t k, side
        cdef double score, flow, lost, force
        self.labelling.resize(p.n_nodes)
        self.improve(p, self.labelling.data(), NULL)
        score, flow = labelling_score(p, self.labelling.data()), self.send()
        cdef double[::1] forces = np.abs(self.arrays[1][: p.n_nodes])
        cdef const unsigned char[::1] sides = self.sides
        cdef object graph = self.graph
        for k in range(self.network.n_edges):
            forces[self.network.tail[k]] += 2.0 * self.network.capacity[k]
            forces[self.network.head[k]] += 2.0 * self.network.capacity[k]
        for k in range(p.n_nodes):  # all are in the network, in their order
            side, force = sides[k], 2.0 * forces[k]
            graph.add_tedge(k, side * force, (1 - side) * force)
            graph.mark_node(k)
            lost = graph.maxflow(True) - flow
            out[k * p.stride + side] = score
            out[k * p.stride + 1 - side] = score - max(lost, 0.0)
            graph.add_tedge(k, -side * force, (side - 1) * force)
            graph.mark_node(k)
        return 0


cdef int refuse_edge(
    const Potentials* p, Py_ssize_t e, const int32_t* first, const int32_t* second
) except -1:
    cdef int32_t u = p.ends[2 * e], v = p.ends[2 * e + 1]
    cdef list parts = [
        f"({i}, {j}): {pair_score(p, e, i, j):.6g}"
        for i in (first[u], second[u]) for j in (first[v], second[v])
    ]
    raise ValueError(
        f"edge {e} between the nodes {u} and {v} cannot be represented by a cut: its potentials "
        f"of the states {', '.join(parts)}; the first and the last must not be less in sum than "
        "the other two"
    )


# Allocating the scratch memory of a cut takes longer than cutting a graph of a hundred nodes: each
# thread keeps that of its last call, unless it is large, for the next one.
_LEFT = threading.local()
cdef Py_ssize_t MOST_LEFT = 100_000  # nodes and edges, about 10 MB


cdef Cut take_cut():
    """Return scratch memory for cuts, that of this thread's last one if it is there."""
    return _LEFT.__dict__.pop("cut", None) or Cut()


cdef leave_cut(Cut cut):
    """Keep scratch memory for the next cut of this thread."""
    if cut.max_nodes + cut.max_edges <= MOST_LEFT:
        _LEFT.cut = cut


cdef class Expansion(GraphOracle):
    """Labellings of many states that no expansion (or swap) improves, each found by one cut.

    Nodes of Potts potentials whose best label is certain get it first, for good.

    Parameters
    ----------
    persistency : bool, default=True
        Whether to search first for nodes of Potts potentials whose best label is certain.
    swaps : bool, default=False
        Whether a cut lets all nodes of two states choose between these (alpha-beta-swap), or
        every node change to one state (alpha-expansion).
    """

    cdef readonly bint persistency, swaps
    cdef Cut cut
    cdef BinaryChoices choices

    def __cinit__(self, bint persistency=True, bint swaps=False):
        self.persistency, self.swaps = persistency, swaps
        self.needs_finite, self.cut = True, Cut()

    cdef int improve(self, const Potentials* p, int32_t* labels, float* messages) except -1 nogil:
        cdef Py_ssize_t n_states = p.n_states, m = 0, idle = 0, v, e
        cdef Py_ssize_t n_moves = n_states * (n_states - 1) // 2 if self.swaps else n_states
        cdef double score, value, least = 0.0
        if p.potts:
            for e in range(p.n_edges):
                if p.pair[e] < 0.0:
                    with gil:
                        raise ValueError(
                            f"edge {e} between the nodes {p.ends[2 * e]} and "
                            f"{p.ends[2 * e + 1]} cannot be represented by a cut: its potential "
                            f"is {p.pair[e]:.6g}, expected a number >= 0"
                        )
        self.choices.begin(p[0])
        if p.potts and self.persistency:
            self.find_certain(p)
        for v in range(p.n_nodes):
            if self.choices.certain[v] >= 0:
                # persistency: giving these nodes their labels makes no labelling worse
                labels[v] = self.choices.certain[v]
        # a gain below the rounding of the score is none, or cuts would go in circles
        for v in range(p.n_nodes):
            least += fabs(p.node[v * p.stride + labels[v]])
        for e in range(p.n_edges):
            least += fabs(pair_score(p, e, labels[p.ends[2 * e]], labels[p.ends[2 * e + 1]]))
        least *= ROUNDING
        score = labelling_score(p, labels)
        while idle < n_moves:
            self.choices.options(p[0], self.swaps, m, labels)
            self.cut.choose(p, self.choices.second.data(), self.choices.trial.data())
            value = labelling_score(p, self.choices.trial.data())
            idle += 1
            if value > score + least:    # nor where a score is not a number
                memcpy(labels, self.choices.trial.data(), p.n_nodes * sizeof(int32_t))
                score, idle = value, 0
            m = (m + 1) % n_moves
        return 0

    # cut each state off from all others
    cdef int find_certain(self, const Potentials* p) except -1 nogil:
        cdef int32_t k
        self.cut.reserve(p.n_nodes, p.n_edges)
        for k in range(<int32_t>p.n_states):
            self.choices.cut_off(p[0], k, self.cut.network)
            if self.cut.network.n_nodes == 0:
                return 0
            self.cut.send()
            self.choices.keep(p[0], k, self.cut.network, &self.cut.sides[0])
        return 0


cdef class QPBO(GraphOracle):
    """Roof duality, whose bound is that of the linear relaxation, and then message passing.

    Exact where the cut decides all nodes, above all where states can be exchanged at some nodes
    such that a cut represents all edges. Nodes that it does not decide get their labels from
    `TRWS`, which begins with those that are given.
    """

    cdef readonly Py_ssize_t n_undecided  # nodes, in the last call
    cdef Cut cut
    cdef GraphOracle rest            # TRWS
    cdef Scratch[int32_t] halves     # (n_nodes,) twice the states of the relaxation's optimum
    cdef Scratch[int32_t] trial      # (n_nodes,) a labelling
    cdef Scratch[int32_t] last       # (n_nodes,) the last state

    def __cinit__(self):
        self.bounds = self.takes_turns = self.needs_finite = True
        self.cut, self.rest = Cut(), TRWS()

    cdef int arrange(self, Topology* topology, Py_ssize_t n_states) except -1 nogil:
        return self.rest.arrange(topology, n_states)

    cdef int improve(self, const Potentials* p, int32_t* labels, float* messages) except -1 nogil:
        cdef double score = labelling_score(p, labels), value
        self.relax(p)
        memcpy(self.trial.data(), labels, p.n_nodes * sizeof(int32_t))
        if self.n_undecided:
            self.write_decided(self.trial.data(), p.n_nodes)
            self.rest.improve(p, self.trial.data(), NULL)
        self.write_decided(self.trial.data(), p.n_nodes)
        value = labelling_score(p, self.trial.data())
        if value > score:  # but for rounding it is no less
            memcpy(labels, self.trial.data(), p.n_nodes * sizeof(int32_t))
            score = value
        self.bound = max(self.bound, score)
        return 0

    cdef void write_decided(self, int32_t* labels, Py_ssize_t n_nodes) noexcept nogil:
        cdef Py_ssize_t v
        for v in range(n_nodes):
            if self.halves[v] != 1:
                labels[v] = self.halves[v] // 2

    # fill halves, n_undecided and bound
    cdef int relax(self, const Potentials* p) except -1 nogil:
        cdef Choice* choice = &self.cut.choice
        cdef Py_ssize_t v
        if p.n_states > 2:
            with gil:
                raise ValueError(f"roof duality is for two states, got {p.n_states}")
        self.halves.resize(p.n_nodes)
        self.trial.refill(p.n_nodes, 0)
        self.last.refill(p.n_nodes, <int32_t>(p.n_states - 1))  # 1 of two states, 0 of one
        choice.read(p[0], self.trial.data(), self.last.data())
        self.cut.relax(
            p.n_nodes, choice.label.data(), p.n_edges, p.ends, choice.pair.data(),
            self.halves.data()
        )
        self.n_undecided = 0
        for v in range(p.n_nodes):
            self.n_undecided += self.halves[v] == 1
        self.bound = labelling_score(p, self.trial.data())
        self.bound += choice.optimum(p[0], self.halves.data())
        return 0


cdef GraphPotentials two_states(nodes, edges, pairwise, truth=None, cost=1.0, more="expansion"):
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, truth, cost)
    if potentials.struct_.n_states != 2:
        raise ValueError(
            f"nodes must have 2 columns, one for each state, got {potentials.struct_.n_states}; "
            f"for more states see {more}"
        )
    return potentials


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
        Potentials of the edges, finite: for each edge a number that counts if its two states agree
        (Potts), or tables from the state of its first node to that of the second; a single table
        is for all edges.
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
        node that does not exist or joins a node to itself, a cut cannot represent an edge (the
        error names it), a true state is out of range or a cost is negative.

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
    result = potentials.labelled(cut)
    leave_cut(cut)
    return result


def graph_max_marginals(nodes, edges=None, pairwise=None):
    """Compute the max-marginals of a graph with two states by minimum cuts.

    The max-marginal of a node and a state is the best score of all labellings with this state at
    this node; the score of a labelling is ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]``.
    Exact up to rounding. One cut, and one more for each node, which starts from the flow of the
    one before.

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
    cdef double[:, ::1] out
    out = scores = np.empty((potentials.struct_.n_nodes, 2))
    Cut().marginals(&potentials.struct_, &out[0, 0])
    return scores


def expansion(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0, start=None,
              moves="expansion", persistency=True):
    """Find a good labelling of a graph with any number of states by expansions or swaps.

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. An expansion lets all
    nodes at once choose between their state and a given one; a swap lets all nodes of two states
    choose between these. Stops when none of these minimum cuts raises the score; not exact.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes, finite.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge. Edges between the same two nodes add up. None means no edges.
    pairwise : array-like, (n_edges,), (n_states, n_states) or \
(n_edges, n_states, n_states), default=None
        Potentials of the edges, finite: for each edge a number >= 0 that counts if its two states
        agree (Potts), or tables from the state of its first node to that of the second; a single
        table is for all edges. Expansions need ``pairwise[a, a] + pairwise[b, c] >= pairwise[b, a]
        + pairwise[a, c]`` for all states, swaps this for b = c only.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.
    start : array-like of int of shape (n_nodes,), default=None
        States to start from. None means the best state of every node without edges.
    moves : {"expansion", "swap"}, default="expansion"
        Which of the two.
    persistency : bool, default=True
        Whether to fix nodes of Potts potentials first whose best state is certain, by a cut for
        each state (Kovtun 2003).

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        A labelling that none of them improves, no worse than `start`.
    score : float
        Its score. For Potts potentials and expansions, its difference to the sum of all maxima is
        at most twice the least of any labelling.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, an edge has a node that does not exist or
        joins a node to itself, a cut cannot represent a choice at an edge (the error names it), a
        true state or one of `start` is out of range, a cost is negative or `moves` is unknown.

    See Also
    --------
    graphcut : Two states, exactly.
    trws : Any tables, with an upper bound of all scores.

    References
    ----------
    Boykov, Veksler and Zabih (2001). Fast approximate energy minimization via graph cuts. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 23(11).

    Kovtun (2003). Partial optimal labeling search for a NP-hard subclass of (max,+) problems.
    DAGM Symposium.

    Examples
    --------
    >>> from sskit.oracles import expansion
    >>> nodes = [[2, 0, 0], [0, 0.5, 0], [0, 0, 2], [0, 0, 1]]
    >>> path = [[0, 1], [1, 2], [2, 3]]
    >>> expansion(nodes, path, [1, 0.75, 0.75])
    (array([0, 0, 2, 2], dtype=int32), 6.75)
    """
    if not isinstance(moves, str) or moves not in ("expansion", "swap"):
        raise ValueError(f"moves must be 'expansion' or 'swap', got {moves!r}")
    check_bool(persistency, "persistency")
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, truth, cost)
    return potentials.labelled(Expansion(persistency, moves == "swap"), start)


def qpbo(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0):
    """Decide what one cut can decide in any graph with two states (roof duality).

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. Solves the linear
    programming relaxation over the local polytope, for edges that favour equal states, different
    ones or any pairs. Nodes whose state is integer in its optimum have that state in a best
    labelling, all of them together; giving them these states never makes a labelling worse
    (persistency). All nodes are decided if a cut can represent all edges, directly or after
    exchanging the two states of some nodes.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, 2)
        Potentials of the nodes, finite.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge. Edges between the same two nodes add up. None means no edges.
    pairwise : array-like, (n_edges,), (2, 2) or (n_edges, 2, 2), default=None
        Potentials of the edges, finite: for each edge a number of any sign that counts if its two
        states agree (Potts), or tables from the state of its first node to that of the second; a
        single table is for all edges.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        0, 1, or -1 for a node that is not decided.
    bound : float
        No labelling scores more: the optimum of the relaxation. The score of `labels`, up to
        rounding, if all nodes are decided.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, there are not two states, an edge has a
        node that does not exist or joins a node to itself, a true state is out of range or a cost
        is negative.

    See Also
    --------
    graphcut : Edges that a cut can represent.
    trws : Labels for all nodes.

    References
    ----------
    Kolmogorov and Rother (2007). Minimizing nonsubmodular functions with graph cuts: a review.
    IEEE Transactions on Pattern Analysis and Machine Intelligence 29(7).

    Examples
    --------
    >>> from sskit.oracles import qpbo
    >>> edges = [[0, 1], [1, 2], [2, 0], [2, 3]]
    >>> qpbo([[0, 0], [0, 0], [0, 0], [0, 3]], edges, [-1, -1, -1, -1])
    (array([-1, -1, -1,  1], dtype=int32), 2.5)
    """
    cdef GraphPotentials potentials = two_states(nodes, edges, pairwise, truth, cost, "trws")
    cdef QPBO oracle = QPBO()
    with nogil:
        oracle.relax(&potentials.struct_)
    halves = np.array(<int32_t[: potentials.struct_.n_nodes]>oracle.halves.data())
    return np.where(halves == 1, -1, halves // 2).astype(np.int32), oracle.bound
