"""Quadratic pseudo-Boolean optimisation: graphs with two states and pairs of any sign."""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.oracles.graph.potentials cimport GraphPotentials, check_capacities, labelling_score
from sskit.oracles.graph.roof_dual cimport RoofDual
from sskit.oracles.graph.trws cimport TRWS


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

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil:
        cdef double score = labelling_score(p, labels), value
        self.relax(p)
        self.trial.resize(p.n_nodes)
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
        self.constant.refill(2 * p.n_nodes, 0)
        for v in range(p.n_nodes):
            self.constant[p.n_nodes + v] = <int32_t>(p.n_states - 1)  # 1 of two states, 0 of one
        self.dual.compare(p, self.constant.data(), self.constant.data() + p.n_nodes)
        self.dual.solve(
            p.n_nodes, self.dual.label.data(), p.n_edges, p.ends, self.dual.pair.data(),
            self.halves.data()
        )
        self.n_undecided = 0
        for v in range(p.n_nodes):
            self.n_undecided += self.halves[v] == 1
        self.bound = labelling_score(p, self.constant.data())
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
    fusion : Improve a labelling by choices of this kind.
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
            "see fusion and trws"
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
