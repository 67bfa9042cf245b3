"""Roof duality: graphs with two states and pairs of any sign by one minimum cut."""

import numpy as np

from sskit.oracles.graph.trws import TRWS

from libc.math cimport fabs
from libc.string cimport memcpy

from sskit.oracles.graph.potentials cimport (
    GraphPotentials, Topology, check_capacities, labelling_score
)


cdef int32_t UNDECIDED = -1


cdef class RoofDual:
    """Scratch memory for roof duality; it grows with the graphs (see the .pxd)."""

    def __cinit__(self):
        self.cut = Cut()

    cdef int solve(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* halves
    ) except -1 nogil:
        cdef Py_ssize_t n_open
        cdef bint doubled
        self.gain.resize(n_labels)
        self.low.resize(n_labels)
        self.high.resize(n_labels)
        self.open.resize(n_edges)
        if n_labels:
            memcpy(self.gain.data(), label, n_labels * sizeof(double))
        n_open = self.decide(n_labels, n_edges, ends, pair, halves)
        if n_open:
            doubled = self.exchange(n_labels, n_open, ends, pair)
            self.cut.reserve((1 + doubled) * n_labels, (1 + doubled) * n_open)
            self.join(n_labels, n_open, ends, pair, halves, doubled)
            self.cut.send()
            self.read(n_labels, halves)
        return 0

    cdef Py_ssize_t decide(
        self, Py_ssize_t n_labels, Py_ssize_t n_edges, const int32_t* ends, const double* pair,
        int32_t* halves
    ) noexcept nogil:
        """Decide labels until no label has enough by itself; return how many edges are open."""
        cdef Py_ssize_t k, e, i, n_open = 0, n_kept
        cdef int32_t u, v
        cdef bint decided = True
        for k in range(n_labels):
            halves[k] = UNDECIDED
        for e in range(n_edges):
            if pair[e] != 0.0:
                self.open[n_open] = <int32_t>e
                n_open += 1
        while decided:
            decided = False
            for k in range(n_labels):
                self.low[k] = self.high[k] = 0.0
            for i in range(n_open):
                e = self.open[i]
                for k in range(2 * e, 2 * e + 2):
                    if pair[e] > 0.0:
                        self.high[ends[k]] += pair[e]
                    else:
                        self.low[ends[k]] += pair[e]
            for k in range(n_labels):
                if halves[k] == UNDECIDED:
                    if self.gain[k] + self.high[k] <= 0.0:
                        halves[k] = 0
                    elif self.gain[k] + self.low[k] >= 0.0:
                        halves[k] = 2
                    else:
                        continue
                    decided = True
            n_kept = 0
            for i in range(n_open):
                e = self.open[i]
                u, v = ends[2 * e], ends[2 * e + 1]
                if halves[u] == UNDECIDED and halves[v] == UNDECIDED:
                    self.open[n_kept] = <int32_t>e
                    n_kept += 1
                elif halves[u] == 2:
                    self.gain[v] += pair[e]
                elif halves[v] == 2:
                    self.gain[u] += pair[e]
            n_open = n_kept
        return n_open

    cdef bint exchange(
        self, Py_ssize_t n_labels, Py_ssize_t n_open, const int32_t* ends, const double* pair
    ) except -1 nogil:
        cdef Py_ssize_t k, e, i
        cdef int32_t u, v, a, b
        cdef bint differ, doubled = False
        self.above.resize(n_labels)
        self.differs.refill(n_labels, 0)
        self.odd.refill(n_labels, 0)
        for k in range(n_labels):
            self.above[k] = <int32_t>k
        for i in range(n_open):
            e = self.open[i]
            u, v = ends[2 * e], ends[2 * e + 1]
            a, b = self.find(u), self.find(v)
            differ = self.differs[u] ^ self.differs[v] ^ (pair[e] < 0.0)
            if a != b:
                self.above[b], self.differs[b] = a, differ
                self.odd[a] |= self.odd[b]
            elif differ:
                self.odd[a] = 1
        for i in range(n_open):
            doubled |= self.odd[self.find(ends[2 * self.open[i]])]
        return doubled

    cdef int32_t find(self, int32_t v) noexcept nogil:
        cdef int32_t root = v, above
        cdef char differs = 0, own
        while self.above[root] != root:
            differs ^= self.differs[root]
            root = self.above[root]
        while self.above[v] != root and v != root:
            above, own = self.above[v], self.differs[v]
            self.above[v], self.differs[v] = root, differs
            differs ^= own
            v = above
        return root

    cdef void join(
        self, Py_ssize_t n_labels, Py_ssize_t n_open, const int32_t* ends, const double* pair,
        const int32_t* halves, bint doubled
    ) noexcept nogil:
        """Fill the network; the second option of a node is its label, or if that is exchanged,
        the complement of it, and of the second node of a label too."""
        cdef int32_t* place = self.cut.place.data()
        cdef Py_ssize_t k, e, i
        cdef int32_t u, v, shift = <int32_t>n_labels
        cdef double half
        for k in range(n_labels):
            place[k] = -(halves[k] != UNDECIDED)
            if doubled:
                place[k + shift] = -(
                    halves[k] != UNDECIDED or not self.odd[self.find(<int32_t>k)]
                )
        self.cut.begin((1 + doubled) * n_labels)
        for i in range(n_open):
            e = self.open[i]
            u, v, half = ends[2 * e], ends[2 * e + 1], 0.5 * fabs(pair[e])
            self.gain[u] += 0.5 * pair[e]
            self.gain[v] += 0.5 * pair[e]
            if not self.odd[self.find(u)]:
                self.cut.join(u, v, half)
            elif pair[e] > 0.0:
                self.cut.join(u, v, half)
                self.cut.join(u + shift, v + shift, half)
            else:
                self.cut.join(u, v + shift, half)
                self.cut.join(u + shift, v, half)
        for k in range(n_labels):
            if place[k] < 0:
                continue
            if self.odd[self.find(<int32_t>k)]:
                self.cut.gain[place[k]] = -self.gain[k]
                self.cut.gain[place[k + shift]] = self.gain[k]
            else:
                self.cut.gain[place[k]] = self.gain[k] if self.differs[k] else -self.gain[k]

    cdef void read(self, Py_ssize_t n_labels, int32_t* halves) noexcept nogil:
        cdef const unsigned char* sides = &self.cut.sides[0]
        cdef Py_ssize_t k
        cdef int32_t* place = self.cut.place.data()
        for k in range(n_labels):
            if place[k] < 0:
                continue
            if self.odd[self.find(<int32_t>k)]:
                halves[k] = 1 + sides[place[k]] - sides[place[k + n_labels]]
            else:
                halves[k] = 2 * (sides[place[k]] ^ self.differs[k])

    cdef double optimum(self, const Potentials* p, const int32_t* halves) noexcept nogil:
        cdef Py_ssize_t v, e
        cdef int32_t a, b
        cdef double total = 0.0, pair
        for v in range(p.n_nodes):
            total += self.cut.label[v] * halves[v]
        for e in range(p.n_edges):
            a, b = halves[p.ends[2 * e]], halves[p.ends[2 * e + 1]]
            pair = self.cut.pair[e]
            total += pair * (min(a, b) if pair > 0.0 else max(a + b - 2, 0))
        return 0.5 * total


cdef class QPBO(GraphOracle):
    """Roof duality, whose bound is that of the linear relaxation, and then message passing.

    Exact where the cut decides all nodes, above all where states can be exchanged at some nodes
    such that a cut represents all edges. Nodes that it does not decide get their labels from
    `TRWS`, which begins with those that are given, and single nodes' moves.
    """

    def __cinit__(self):
        self.bounds = self.takes_turns = True
        self.dual = RoofDual()
        self.rest = TRWS()

    cpdef GraphOracle fork(self):
        return QPBO()

    cdef int arrange(self, Topology* topology, Py_ssize_t n_states) except -1 nogil:
        return self.rest.arrange(topology, n_states)

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil:
        cdef double score = labelling_score(p, labels), value
        self.relax(p)
        memcpy(self.trial.data(), labels, p.n_nodes * sizeof(int32_t))
        if self.n_undecided:
            self.write_decided(self.trial.data(), p.n_nodes)
            self.rest.improve(p, self.trial.data())
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

    cdef int relax(self, const Potentials* p) except -1 nogil:
        cdef Py_ssize_t v
        if p.n_states > 2:
            with gil:
                raise ValueError(f"roof duality is for two states, got {p.n_states}")
        self.halves.resize(p.n_nodes)
        self.trial.refill(p.n_nodes, 0)
        self.last.refill(p.n_nodes, <int32_t>(p.n_states - 1))  # 1 of two states, 0 of one
        self.dual.cut.read(p, self.trial.data(), self.last.data())
        self.dual.solve(
            p.n_nodes, self.dual.cut.label.data(), p.n_edges, p.ends, self.dual.cut.pair.data(),
            self.halves.data()
        )
        self.n_undecided = 0
        for v in range(p.n_nodes):
            self.n_undecided += self.halves[v] == 1
        self.bound = labelling_score(p, self.trial.data())
        self.bound += self.dual.optimum(p, self.halves.data())
        return 0


def qpbo(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0):
    """Decide what one cut can decide in any graph with two states (roof duality).

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. Solves the linear
    programming relaxation over the local polytope, for edges that favour equal states, different
    ones or any pairs. Nodes whose state is whole in its optimum have that state in a best
    labelling, all of them together; and to give them these states never makes a labelling worse
    (persistency). All nodes are decided where a cut can represent all edges, at once or after the
    two states of some nodes are exchanged.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, 2)
        Potentials of the nodes, finite.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge. Edges between the same two nodes add up. None means no edges.
    pairwise : array-like, (n_edges,), (2, 2) or (n_edges, 2, 2), default=None
        Potentials of the edges, finite: for each edge a number of any sign that counts where its
        two states agree (Potts), or tables from the state of its first node to that of the
        second; one table serves all edges.
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
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, truth, cost)
    cdef Potentials* p = &potentials.struct_
    if p.n_states != 2:
        raise ValueError(
            f"nodes must have 2 columns, one for each state, got {p.n_states}; for more states "
            "see trws"
        )
    check_capacities(p)
    labels = np.empty(p.n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    cdef QPBO oracle = QPBO()
    cdef Py_ssize_t v
    with nogil:
        oracle.relax(p)
    for v in range(p.n_nodes):
        out[v] = -1 if oracle.halves[v] == 1 else oracle.halves[v] // 2
    return labels, oracle.bound
