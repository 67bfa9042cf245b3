"""Moves that improve labellings whatever the potentials: of single nodes, and by fusion."""

import numpy as np

from sskit.oracles.gate import check_truth
from sskit._numbers import as_array

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy

from sskit.oracles.graph.potentials cimport (
    ROUNDING, GraphPotentials, check_capacities, labelling_score, pair_score
)

# A node is visited so often at most: where potentials differ by rounding there may be circles.
cdef Py_ssize_t MOST_ROUNDS = 1000


cdef class NodeMoves(GraphOracle):
    """Give each node its best state while its neighbours keep theirs, until no node changes.

    For any potentials, also those that forbid.

    References
    ----------
    Besag (1986). On the statistical analysis of dirty pictures. Journal of the Royal Statistical
    Society B 48(3).
    """

    def __cinit__(self):
        self.lock_free = True

    cpdef GraphOracle fork(self):
        return NodeMoves()

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil:
        cdef Py_ssize_t v, i, e, n_changed = p.n_nodes, _round
        if p.n_states == 1:
            return 0
        self.arrange(p)
        self.gain.resize(p.n_states)
        self.stale.refill(p.n_nodes, 1)
        for _round in range(MOST_ROUNDS):
            if n_changed == 0:
                return 0
            n_changed = 0
            for v in range(p.n_nodes):
                if not self.stale[v]:
                    continue
                self.stale[v] = 0
                if self.move(p, v, labels):
                    n_changed += 1
                    for i in range(self.first[v], self.first[v + 1]):
                        e = self.incident[i]
                        self.stale[p.ends[2 * e] + p.ends[2 * e + 1] - v] = 1
        return 0

    cdef int arrange(self, const Potentials* p) except -1 nogil:
        cdef Py_ssize_t v, i
        self.first.refill(p.n_nodes + 1, 0)
        self.incident.resize(2 * p.n_edges)
        for i in range(2 * p.n_edges):
            self.first[p.ends[i] + 1] += 1
        for v in range(p.n_nodes):
            self.first[v + 1] += self.first[v]
        for i in range(2 * p.n_edges):
            v = p.ends[i]
            self.incident[self.first[v]] = <int32_t>(i // 2)
            self.first[v] += 1  # moved to where the next node begins
        for v in range(p.n_nodes, 0, -1):
            self.first[v] = self.first[v - 1]
        self.first[0] = 0
        return 0

    cdef bint move(self, const Potentials* p, Py_ssize_t v, int32_t* labels) noexcept nogil:
        cdef Py_ssize_t i, e
        cdef int32_t k, best = 0, present = labels[v], n_states = <int32_t>p.n_states, other
        cdef double* gain = self.gain.data()
        cdef double size = fabs(p.node[v * p.stride + present])
        for k in range(n_states):
            gain[k] = p.node[v * p.stride + k]
        for i in range(self.first[v], self.first[v + 1]):
            e = self.incident[i]
            if p.ends[2 * e] == v:
                other = labels[p.ends[2 * e + 1]]
                size += fabs(pair_score(p, e, present, other))
                for k in range(n_states):
                    gain[k] += pair_score(p, e, k, other)
            else:
                other = labels[p.ends[2 * e]]
                size += fabs(pair_score(p, e, other, present))
                for k in range(n_states):
                    gain[k] += pair_score(p, e, other, k)
        for k in range(1, n_states):
            if gain[k] > gain[best]:
                best = k
        if gain[present] == -INFINITY:
            size = 0.0  # any number is more
        if not gain[best] > gain[present] + ROUNDING * size:
            return False
        labels[v] = best
        return True


cdef class FusionMoves(GraphOracle):
    """Fuse a labelling with each constant one and move nodes, until that brings nothing any more.

    An expansion move for tables of any kind: where a cut cannot represent the choice between the
    present and the proposed labels, roof duality decides some nodes for certain, and the others
    stay together on the better of the two sides.
    """

    def __cinit__(self):
        self.takes_turns = True
        self.dual = RoofDual()
        self.node_moves = NodeMoves()

    cpdef GraphOracle fork(self):
        return FusionMoves()

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil:
        cdef double before
        while True:
            self.fuse_all(p, labels, p.n_states, NULL)
            before = labelling_score(p, labels)
            # of nodes that stay together because roof duality leaves all of them open
            self.node_moves.improve(p, labels)
            if not labelling_score(p, labels) > before + ROUNDING * fabs(before):
                return 0

    cdef int fuse_all(
        self, const Potentials* p, int32_t* labels, Py_ssize_t n_proposals,
        const int32_t* proposals
    ) except -1 nogil:
        cdef Py_ssize_t idle = 0, m = 0
        cdef const int32_t* proposal
        while idle < n_proposals:
            if proposals == NULL:
                self.other.refill(p.n_nodes, <int32_t>m)
                proposal = self.other.data()
            else:
                proposal = proposals + m * p.n_nodes
            idle = 0 if self.fuse(p, labels, proposal) else idle + 1
            m = (m + 1) % n_proposals
        return 0

    cdef bint fuse(
        self, const Potentials* p, int32_t* labels, const int32_t* proposal
    ) except -1 nogil:
        cdef Py_ssize_t v
        cdef int32_t side
        cdef bint better = False
        cdef double score = labelling_score(p, labels), value
        self.halves.resize(p.n_nodes)
        self.trial.resize(p.n_nodes)
        self.dual.compare(p, labels, proposal)
        self.dual.solve(
            p.n_nodes, self.dual.label.data(), p.n_edges, p.ends, self.dual.pair.data(),
            self.halves.data()
        )
        # what is decided makes neither labelling worse
        for side in range(2):
            for v in range(p.n_nodes):
                self.trial[v] = proposal[v] if self.halves[v] + side > 1 else labels[v]
            value = labelling_score(p, self.trial.data())
            # a gain that is rounding is none, or there would be circles
            if value > score + ROUNDING * (fabs(score) + fabs(value)):
                better = True
                score = value
                memcpy(labels, self.trial.data(), p.n_nodes * sizeof(int32_t))
        return better


def fusion(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0, start=None,
           proposals=None):
    """Improve a labelling of any graph by fusing it with others.

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. A fusion lets all nodes
    at once choose between their state and a proposed one, by roof duality, for pairwise tables of
    any kind. Its answer is no worse than either labelling, and the best of all choices where a
    cut can represent them. Ends when no proposal raises the score; not exact.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes, finite.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge. Edges between the same two nodes add up. None means no edges.
    pairwise : array-like, (n_edges,), (n_states, n_states) or (n_edges, n_states, n_states), \
default=None
        Potentials of the edges, finite: for each edge a number of any sign that counts where its
        two states agree (Potts), or tables from the state of its first node to that of the
        second; one table serves all edges.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.
    start : array-like of int of shape (n_nodes,), default=None
        States to start from. None means the best state of every node alone.
    proposals : array-like of int of shape (n_proposals, n_nodes), default=None
        Labellings to fuse with, in turn. None means those with one state at all nodes, and changes
        of single nodes.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        A labelling no worse than `start`, nor than any proposal.
    score : float
        Its score.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, an edge has a node that does not exist
        or joins a node to itself, a true state, one of `start` or one of `proposals` is out of
        range or a cost is negative.

    See Also
    --------
    expansion : Moves that are exact, for tables that cuts can represent.
    trws : Labellings from the whole graph, and a bound.

    References
    ----------
    Lempitsky, Rother, Roth and Blake (2010). Fusion moves for Markov random field optimization.
    IEEE Transactions on Pattern Analysis and Machine Intelligence 32(8).

    Examples
    --------
    >>> from sskit.oracles import fusion
    >>> triangle = [[0, 1], [1, 2], [2, 0]]
    >>> fusion([[0, 0.5, 0], [0, 0.5, 0], [0, 0.5, 0]], triangle, [-1, -1, -1])
    (array([0, 2, 1], dtype=int32), 0.5)
    """
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, truth, cost)
    cdef Potentials* p = &potentials.struct_
    check_capacities(p)
    if start is None:
        labels = potentials.nodes.argmax(axis=1).astype(np.int32)
    else:
        labels, _ = check_truth(start, 1.0, p.n_nodes, p.n_states, "start")
    cdef int32_t[::1] out = labels
    cdef const int32_t[:, ::1] others
    cdef FusionMoves oracle = FusionMoves()
    if proposals is None:
        with nogil:
            oracle.improve(p, &out[0])
    else:
        others = check_proposals(proposals, p.n_nodes, p.n_states)
        if others.shape[0]:
            with nogil:
                oracle.fuse_all(p, &out[0], others.shape[0], &others[0, 0])
    return labels, labelling_score(p, &out[0])


def check_proposals(proposals, n_nodes, n_states):
    """Return labellings as int32 (n_proposals, n_nodes), checked."""
    proposals = as_array(proposals, "proposals")
    if proposals.ndim != 2 or proposals.shape[1] != n_nodes or proposals.dtype.kind not in "iu":
        raise ValueError(
            f"proposals must be integers of shape (n_proposals, {n_nodes}), got shape "
            f"{proposals.shape} and dtype {proposals.dtype}"
        )
    wrong = np.argwhere((proposals < 0) | (proposals >= n_states))
    if len(wrong):
        m, v = wrong[0]
        raise ValueError(
            f"proposals[{m}, {v}] is {proposals[m, v]}, expected a state from 0 to {n_states - 1}"
        )
    return np.ascontiguousarray(proposals, dtype=np.int32)
