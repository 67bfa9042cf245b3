"""Sequential tree-reweighted message passing: labellings and bounds for any pairwise tables."""

from numbers import Real

import numpy as np

from sskit.oracles.validation import check_allowed, check_count

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport (
    ROUNDING, GraphOracle, GraphPotentials, Potentials, Topology, labelling_score
)

cdef extern from "messages.hpp" namespace "sskit" nogil:
    struct PassSums:
        double bound, size, score

    cppclass MessageGraph:
        pass

    cppclass Messages(MessageGraph):
        void load(const Potentials& p, const float* messages) except +
        MessageGraph turned()
        void relabel(Py_ssize_t n_forests, int32_t* labels) except +
        void save(float* messages)

    PassSums pass_over(const MessageGraph& g, int32_t* labels) noexcept


cdef class TRWS(GraphOracle):
    """Message passing over monotonic chains, whose messages may be kept from call to call.

    A sweep is a pass to the last node and one back, and decodes a labelling. The bound is the sum
    of the largest beliefs of a pass, for which any messages will do to begin with: those of an
    earlier call, with other potentials, make for a good bound after few sweeps. Where the best
    labelling does not meet the bound, forests are drawn and labelled anew, each exactly given the
    other nodes. Of random tables on a grid this closes a quarter of what is left between score
    and bound, in the time of as many passes.

    Parameters
    ----------
    max_sweeps : int, default=20
        Number of sweeps at most.
    tol : float, default=1e-2
        Sweeps end when one lowers the bound by no more than this fraction of the difference of
        bound and best score.
    n_moves : int, default=20
        Number of forests.
    """

    cdef readonly Py_ssize_t max_sweeps
    cdef readonly double tol
    cdef readonly Py_ssize_t n_moves     # of forests
    cdef readonly Py_ssize_t n_sweeps    # of the last call
    cdef Messages messages
    cdef Scratch[int32_t] trial          # (n_nodes,) a labelling
    cdef double score                    # of the best labelling so far

    def __cinit__(self, Py_ssize_t max_sweeps=20, double tol=1e-2, Py_ssize_t n_moves=20):
        self.bounds = self.lock_free = self.keeps_messages = True
        self.max_sweeps, self.tol, self.n_moves = max_sweeps, tol, n_moves

    cdef int arrange(self, Topology* topology, Py_ssize_t n_states) except -1 nogil:
        topology.make_sorted()
        return 0

    cdef int improve(
        self, const Potentials* potentials, int32_t* labels, float* messages
    ) except -1 nogil:
        cdef Potentials p = potentials[0]
        p.topology = self.topology_of(potentials)
        self.messages.load(p, messages)
        self.trial.resize(p.n_nodes)
        self.score = labelling_score(&p, labels)
        cdef bint solved = self.sweep(&p, labels)
        if messages != NULL:
            self.messages.save(messages)
        if not solved:
            if self.bound == -INFINITY:
                with gil:
                    check_allowed(False, p.n_nodes)
            self.take(&p, pass_over(self.messages, self.trial.data()).score, labels)
            memcpy(self.trial.data(), labels, p.n_nodes * sizeof(int32_t))
            self.messages.relabel(self.n_moves, self.trial.data())
            self.take(&p, INFINITY, labels)
        self.bound = max(self.bound, self.score)
        return 0

    # sweeps until there is nothing more to gain; is the labelling known to be the best?
    cdef bint sweep(self, const Potentials* p, int32_t* labels) noexcept nogil:
        cdef PassSums there, back
        cdef double before, gap
        self.bound, self.n_sweeps = INFINITY, 0
        while self.n_sweeps < self.max_sweeps:
            before = self.bound
            there = pass_over(self.messages, self.trial.data())
            self.bound = min(self.bound, there.bound)
            if there.bound == -INFINITY:
                return False
            self.take(p, there.score, labels)
            back = pass_over(self.messages.turned(), NULL)
            self.bound = min(self.bound, back.bound)
            self.n_sweeps += 1
            if back.bound == -INFINITY:
                return False
            gap = self.bound - self.score
            if gap <= ROUNDING * back.size:
                return True
            if before - self.bound <= max(self.tol * min(gap, back.size), ROUNDING * back.size):
                return False
        return False

    # take the labelling in `trial`, of this score, if it is better
    cdef void take(self, const Potentials* p, double score, int32_t* labels) noexcept nogil:
        if score > self.score:
            # the same sum in the same order for all, lest rounding decides
            score = labelling_score(p, self.trial.data())
            if score > self.score:
                self.score = score
                memcpy(labels, self.trial.data(), p.n_nodes * sizeof(int32_t))


def trws(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0, start=None, max_sweeps=100,
         tol=1e-3, n_moves=20):
    """Find a good labelling of any graph, and an upper bound, by message passing.

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. Sequential
    tree-reweighted message passing, for pairwise tables of any kind. Each sweep lowers a bound,
    towards that of the linear programming relaxation over the local polytope, and yields a
    labelling. The best one is improved by relabelling forests, one at a time. Labelling and
    bound prove each other to be the best if they are equal, as they are on trees after enough
    sweeps.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge. Edges between the same two nodes add up. None means no edges.
    pairwise : array-like, (n_edges,), (n_states, n_states) or (n_edges, n_states, n_states), \
default=None
        Potentials of the edges: for each edge a number of any sign that counts if its two states
        agree (Potts), or tables from the state of its first node to that of the second; a single
        table is for all edges. ``-inf`` forbids a pair.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.
    start : array-like of int of shape (n_nodes,), default=None
        States with which the result is compared: it is no worse. None means the best state of
        every node without edges.
    max_sweeps : int, default=100
        Largest number of sweeps, each a pass over all nodes and one back.
    tol : float, default=1e-3
        The sweeps end when one lowers the bound by no more than `tol` times the difference of
        bound and best score, non-negative.
    n_moves : int, default=20
        Number of forests relabelled at the end, if score and bound are not equal.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        The best labelling that was found.
    score : float
        Its score.
    bound : float
        No labelling scores more, up to rounding.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf, an edge has a node that does not exist
        or joins a node to itself, a true state or one of `start` is out of range, a cost or `tol`
        is negative, `max_sweeps` or `n_moves` is not an integer or too small, no labelling is
        allowed, or no allowed one was found.

    See Also
    --------
    elimination : Graphs of small treewidth, exactly.
    expansion : Tables that cuts can represent.
    qpbo : Two states.

    References
    ----------
    Kolmogorov (2006). Convergent tree-reweighted message passing for energy minimization. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 28(10).

    Examples
    --------
    >>> from sskit.oracles import trws
    >>> square = [[0, 1], [1, 2], [2, 3], [3, 0]]
    >>> trws([[0, 1], [0, 0], [0, 0], [0, 0.5]], square, [-1, -1, -1, -1])
    (array([1, 0, 1, 0], dtype=int32), 1.0, 1.0)
    """
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, truth, cost, True)
    if not isinstance(tol, Real) or isinstance(tol, bool) or not 0 <= tol < np.inf:
        raise ValueError(f"tol must be a number >= 0, got {tol!r}")
    max_sweeps = check_count(max_sweeps, "max_sweeps")
    n_moves = check_count(n_moves, "n_moves", least=0)
    cdef TRWS oracle = TRWS(max_sweeps, tol, n_moves)
    labels, score = potentials.labelled(oracle, start)
    if score == -INFINITY:
        raise ValueError(
            f"found no labelling of {len(labels)} nodes that the potentials allow, in "
            f"{oracle.n_sweeps} sweeps"
        )
    return labels, score, oracle.bound
