"""Variable elimination: exact maximisation over the labellings of graphs of small treewidth."""

from sskit.oracles.validation import check_allowed, check_count
from sskit.oracles.graph.potentials import DEFAULT_ENTRIES

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memset

from sskit.oracles.graph.potentials cimport (
    GraphOracle, GraphPotentials, Potentials, Topology, labelling_score
)

cdef extern from "elimination.hpp" namespace "sskit" nogil:
    cppclass Eliminator:
        void label(const Potentials& p, const Topology& topology, int32_t* labels) except +


cdef class Elimination(GraphOracle):
    """Exact for any potentials, for graphs that fall apart by few nodes at a time.

    Parameters
    ----------
    max_entries : int, default=2**24
        Largest number of table entries: for each node, the joint states of it and its neighbours
        when it is eliminated. Larger graphs are refused.
    """

    cdef readonly Py_ssize_t max_entries
    cdef Eliminator programme

    def __cinit__(self, Py_ssize_t max_entries=DEFAULT_ENTRIES):
        self.exact = self.lock_free = self.bounds = True
        self.max_entries = max_entries

    cdef int arrange(self, Topology* topology, Py_ssize_t n_states) except -1 nogil:
        cdef Py_ssize_t width
        topology.make_incidence()
        if topology.takes_elimination(n_states, self.max_entries):
            return 0
        width = topology.most
        with gil:
            raise ValueError(
                f"the induced width of {topology.n_nodes} nodes with {topology.n_edges} edges is "
                + (f"{topology.width}, which takes {topology.count_entries(n_states):.0f} entries"
                   if topology.width <= width else f"larger than {width}")
                + f" of tables over {n_states} states: more than "
                f"max_entries={self.max_entries}"
            )

    cdef int improve(self, const Potentials* p, int32_t* labels, float* messages) except -1 nogil:
        if p.n_states == 1:
            memset(labels, 0, p.n_nodes * sizeof(int32_t))
        else:
            self.programme.label(p[0], self.topology_of(p)[0], labels)
        self.bound = labelling_score(p, labels)
        if self.bound == -INFINITY:
            with gil:
                check_allowed(False, p.n_nodes)
        return 0


def elimination(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0,
                max_entries=DEFAULT_ENTRIES):
    """Find the best labelling of a graph of small treewidth by variable elimination.

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. Exact. Nodes are
    eliminated one by one, each for all joint states of its remaining neighbours, which are then
    connected with each other; the order is that of minimum fill. Takes n_states^(width + 1) time
    and n_states^width memory a node, where the width is at most the number of neighbours at an
    elimination: 1 on trees, 2 on cycles and ladders, about the shorter side on grids.

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
    max_entries : int, default=2**24
        Raise an error for graphs with more joint states, of each node and its neighbours when it
        is eliminated, summed over the nodes.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        A maximiser.
    score : float
        The maximum.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf, an edge has a node that does not exist
        or joins a node to itself, a true state is out of range, a cost is negative, `max_entries`
        is not a positive integer, there are more entries, or no labelling is allowed.

    See Also
    --------
    tree_max_sum : Trees.
    trws : Any graph, not exactly.

    References
    ----------
    Dechter (1999). Bucket elimination: a unifying framework for reasoning. Artificial
    Intelligence 113.

    Examples
    --------
    >>> from sskit.oracles import elimination
    >>> triangle = [[0, 1], [1, 2], [2, 0]]
    >>> elimination([[0, 0.5], [0, 0.25], [0, 0]], triangle, [[-1, 0], [0, -1]])
    (array([1, 1, 0], dtype=int32), -0.25)
    """
    cdef Elimination oracle = Elimination(check_count(max_entries, "max_entries"))
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, truth, cost, True)
    return potentials.labelled(oracle)
