"""Expansion and swap moves: approximate maximisation over labellings of graphs by cuts."""

import numpy as np

from sskit.oracles.gate import check_truth

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.cut cimport Cut
from sskit.oracles.graph.potentials cimport (
    ROUNDING, GraphOracle, GraphPotentials, Potentials, check_capacities, labelling_score,
    pair_score
)


cdef class Expansion(GraphOracle):
    """Labellings of many states that no move improves; a move is found by one cut.

    Before the moves, nodes of Potts potentials whose best label is certain get it for good:
    certain[v] >= 0, and `reduced` are the potentials of the other nodes given the certain ones.

    Parameters
    ----------
    persistency : bool, default=True
        Whether to look for nodes of Potts potentials whose best label is certain, before the
        moves.
    swaps : bool, default=False
        Whether a move lets all nodes of two states choose between these (alpha-beta-swap), or
        every node change to one state (alpha-expansion).
    """

    cdef readonly bint persistency
    cdef readonly bint swaps
    cdef Cut cut
    cdef Scratch[int32_t] certain    # (n_nodes,) label, or -1
    cdef Scratch[int32_t] trial      # (n_nodes,)
    cdef Scratch[int32_t] second     # (n_nodes,)
    cdef Scratch[double] reduced     # (n_nodes, n_states)

    def __cinit__(self, bint persistency=True, bint swaps=False):
        self.persistency, self.swaps = persistency, swaps
        self.cut = Cut()

    cpdef GraphOracle fork(self):
        return Expansion(self.persistency, self.swaps)

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil:
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
        self.certain.resize(p.n_nodes)
        self.trial.resize(p.n_nodes)
        self.second.resize(p.n_nodes)
        self.reduced.resize(p.n_nodes * p.n_states)
        self.cut.reserve(p.n_nodes, p.n_edges)
        self.find_certain(p)
        for v in range(p.n_nodes):
            if self.certain[v] >= 0:
                # no labelling gets worse by this: the property that makes them certain
                labels[v] = self.certain[v]
        # a gain below the rounding of the score is none, or moves would go in circles
        for v in range(p.n_nodes):
            least += fabs(p.node[v * p.stride + labels[v]])
        for e in range(p.n_edges):
            least += fabs(pair_score(p, e, labels[p.ends[2 * e]], labels[p.ends[2 * e + 1]]))
        least *= ROUNDING
        score = labelling_score(p, labels)
        while idle < n_moves:
            self.options(m, p, labels)
            self.cut.choose(p, self.second.data(), self.trial.data())
            value = labelling_score(p, self.trial.data())
            idle += 1
            if value > score + least:    # nor where a score is not a number
                memcpy(labels, self.trial.data(), p.n_nodes * sizeof(int32_t))
                score, idle = value, 0
            m = (m + 1) % n_moves
        return 0

    cdef int find_certain(self, const Potentials* p) except -1 nogil:
        """Cut each state off from all others (Kovtun 2003).

        A node that takes a state in the smallest cut "this state or the best of the rest" has
        it in a best labelling. What is certain is then given, which makes the next cuts smaller
        and their answers stronger.
        """
        cdef Py_ssize_t v, i, e, n_states = p.n_states
        cdef int32_t k, j, a, b
        cdef double rest
        for v in range(p.n_nodes):
            self.certain[v] = -1
            memcpy(&self.reduced[v * n_states], p.node + v * p.stride, n_states * sizeof(double))
        if not (p.potts and self.persistency):
            return 0
        for k in range(n_states):
            for v in range(p.n_nodes):
                self.cut.place[v] = -(self.certain[v] >= 0)
            self.cut.begin(p.n_nodes)
            for i in range(self.cut.n_nodes):
                v = self.cut.node_of[i]
                rest = -INFINITY
                for j in range(n_states):
                    if j != k:
                        rest = max(rest, self.reduced[v * n_states + j])
                self.cut.gain[i] = rest - self.reduced[v * n_states + k]
            for e in range(p.n_edges):
                a, b = p.ends[2 * e], p.ends[2 * e + 1]
                if self.cut.place[a] >= 0 and self.cut.place[b] >= 0 and p.pair[e] > 0.0:
                    self.cut.join(a, b, p.pair[e])
            if self.cut.n_nodes == 0:
                return 0
            self.cut.send()
            for i in range(self.cut.n_nodes):
                if self.cut.sides[i]:
                    self.certain[self.cut.node_of[i]] = k
            for e in range(p.n_edges):
                a, b = p.ends[2 * e], p.ends[2 * e + 1]
                if self.cut.place[a] < 0 or self.cut.place[b] < 0:
                    continue
                if (self.certain[a] == k) != (self.certain[b] == k):
                    v = b if self.certain[a] == k else a
                    self.reduced[v * n_states + k] += p.pair[e]
        return 0

    cdef void options(
        self, Py_ssize_t m, const Potentials* p, const int32_t* labels
    ) noexcept nogil:
        """Write the two options of each node in move m from these labels."""
        cdef Py_ssize_t v
        cdef int32_t low = 0, high
        if self.swaps:
            while m >= p.n_states - 1 - low:  # m counts the pairs (0, 1), (0, 2), ..., (1, 2), ...
                m -= p.n_states - 1 - low
                low += 1
        high = <int32_t>(low + 1 + m) if self.swaps else <int32_t>m
        for v in range(p.n_nodes):
            self.trial[v] = self.second[v] = labels[v]
            if self.certain[v] < 0 and not self.swaps:
                self.second[v] = high
            elif self.certain[v] < 0 and (labels[v] == low or labels[v] == high):
                self.trial[v], self.second[v] = low, high

    cdef double least_bound(self, const Potentials* p, const int32_t* labels) noexcept nogil:
        """Return the least upper bound of the score that is known without more cuts.

        Alone, every node and edge could have its own best state. For Potts potentials the costs
        of a labelling are what it falls short of that, and expansion moves end within twice the
        least costs (Boykov, Veksler and Zabih 2001, theorem 6.1).
        """
        cdef Py_ssize_t v, e, n_states = p.n_states
        cdef int32_t a, b, i, j
        cdef double best, alone = 0.0, score = labelling_score(p, labels)
        for v in range(p.n_nodes):
            if self.certain[v] >= 0:
                alone += p.node[v * p.stride + self.certain[v]]
                continue
            best = -INFINITY
            for i in range(n_states):
                best = max(best, self.reduced[v * n_states + i])
            alone += best
        for e in range(p.n_edges):
            a, b = self.certain[p.ends[2 * e]], self.certain[p.ends[2 * e + 1]]
            if a >= 0 and b >= 0:
                alone += pair_score(p, e, a, b)
            elif a < 0 and b < 0:
                best = -INFINITY
                for i in range(n_states):
                    for j in range(n_states):
                        best = max(best, pair_score(p, e, i, j))
                alone += best
        return max(score, 0.5 * (score + alone) if p.potts and not self.swaps else alone)


def expansion(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0, start=None,
              moves="expansion", persistency=True, return_bound=False):
    """Find a good labelling of a graph with any number of states by moves, each a minimum cut.

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. An expansion lets all
    nodes at once choose between their state and a given one; a swap lets all nodes of two states
    choose between these. Stops where no move raises the score; not exact.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes, finite.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge. Edges between the same two nodes add up. None means no edges.
    pairwise : array-like, (n_edges,), (n_states, n_states) or \
(n_edges, n_states, n_states), default=None
        Potentials of the edges, finite: for each edge a number >= 0 that counts where its two
        states agree (Potts), or tables from the state of its first node to that of the second;
        one table serves all edges. Expansions need ``pairwise[a, a] + pairwise[b, c] >=
        pairwise[b, a] + pairwise[a, c]`` for all states, swaps this for b = c only.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.
    start : array-like of int of shape (n_nodes,), default=None
        States to start from. None means the best state of every node alone.
    moves : {"expansion", "swap"}, default="expansion"
        Kind of moves.
    persistency : bool, default=True
        Whether to fix nodes of Potts potentials first whose best state is certain, by a cut for
        each state (Kovtun 2003).
    return_bound : bool, default=False
        Whether to return an upper bound of the maximum too.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        A labelling that no move improves, no worse than `start`.
    score : float
        Its score.
    bound : float
        No labelling scores more; only if `return_bound`. For Potts potentials and expansions it
        is at most half as far above the score as the sum of the maxima of all potentials; equal
        to the score (up to rounding) if all nodes were certain.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, an edge has a node that does not exist
        or joins a node to itself, a cut cannot represent a move at an edge (it is named), a true
        state or one of `start` is out of range, a cost is negative or `moves` is unknown.

    See Also
    --------
    graphcut : Two states, exactly.

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
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, truth, cost)
    cdef Potentials* p = &potentials.struct_
    check_capacities(p)
    if start is None:
        labels = potentials.nodes.argmax(axis=1).astype(np.int32)
    else:
        labels, _ = check_truth(start, 1.0, p.n_nodes, p.n_states, "start")
    cdef int32_t[::1] out = labels
    cdef Expansion oracle = Expansion(persistency, moves == "swap")
    with nogil:
        oracle.improve(p, &out[0])
    score = labelling_score(p, &out[0])
    return (labels, score, oracle.least_bound(p, &out[0])) if return_bound else (labels, score)
