"""Potentials of graphs, and what oracles of graphs have in common (see the .pxd)."""

from functools import lru_cache

import numpy as np

from sskit.inputs.edges import check_edges
from sskit.oracles.validation import check_table, check_truth

cimport cython
from libc.math cimport isfinite, pow


# Elimination reads fewer numbers than this: some 50 ms, 60 MB of tables.
DEFAULT_ENTRIES = 2**24

# Names of the oracles of graphs.
NAMES = ("tree", "graphcut", "elimination", "expansion", "qpbo", "trws")


cdef int choose_oracle(
    Topology* topology, Py_ssize_t n_states, bint attractive, bint potts, bint forbids,
    double max_entries, double max_labellings
) except -1 nogil:
    if topology != NULL and topology.closing_edge() < 0:
        return TREE
    if attractive and n_states == 2 and not forbids:
        return GRAPHCUT
    if topology != NULL and (
        pow(n_states, topology.n_nodes) <= max_labellings
        or (max_entries > 0.0 and topology.takes_elimination(n_states, max_entries))
    ):
        return ELIMINATION
    if attractive and not forbids:
        return EXPANSION if potts else TRWS
    return QPBO if n_states <= 2 and not forbids else TRWS


@cython.boundscheck(True)
@cython.wraparound(True)
def choose(Py_ssize_t n_states, Topologies topologies=None, Py_ssize_t i=0, *,
           bint attractive=False, bint potts=False, bint forbids=False, double max_entries=2**14,
           double max_labellings=0):
    """Return the name of the oracle of a graph: the most exact one that is not too slow.

    Parameters
    ----------
    n_states : int
        Number of states.
    topologies : Topologies, default=None
        Of some graphs; None: whatever the edges are.
    i : int, default=0
        Which of these graphs it is.
    attractive : bool, default=False
        Whether edges score equal states no less than different ones, so that there are cuts.
    potts : bool, default=False
        Whether edges score the agreement of states alone; matters only if they are attractive.
    forbids : bool, default=False
        Whether potentials may be ``-inf``.
    max_entries : float, default=2**14
        Largest number of table entries of variable elimination: with so many it takes about as long
        as message passing.
    max_labellings : float, default=0
        If there are no more labellings, they are all tried; this is "elimination" too.

    Returns
    -------
    name : str
        One of `NAMES`.
    """
    cdef Topology* topology = NULL
    if topologies is not None:
        topology = topologies.at(i)
    return NAMES[choose_oracle(
        topology, n_states, attractive, potts, forbids, max_entries, max_labellings
    )]


cdef class Topologies:
    """What follows from the edges of graphs.

    Parameters
    ----------
    n_nodes : array-like of shape (n,)
        Numbers of nodes.
    ends : ndarray of shape (n_edges, 2), int32
        The two nodes of the edges of all graphs, counted in their graph.
    offsets : array-like of shape (n + 1,)
        Graph i has the edges offsets[i] to offsets[i + 1] - 1.
    """

    @cython.boundscheck(True)
    @cython.wraparound(True)
    def __cinit__(self, n_nodes, const int32_t[:, ::1] ends, offsets):
        cdef Py_ssize_t i, n = len(n_nodes)
        cdef bytes own
        number_of = {}
        number = np.empty(n, dtype=np.int32)
        pairs = np.asarray(ends)
        for i in range(n):
            key = int(n_nodes[i]), pairs[offsets[i] : offsets[i + 1]].tobytes()
            number[i] = number_of.setdefault(key, len(number_of))
        self.number = number
        self.different.resize(len(number_of))
        for i, (n_own, own) in enumerate(number_of):
            self.different[i].take(n_own, len(own) // 8, <const int32_t*><const char*>own)

    def __len__(self):
        return self.number.shape[0]

    def is_forest(self, Py_ssize_t i):
        """Return whether a graph has no cycles."""
        return self.at(i).closing_edge() < 0

    @cython.boundscheck(True)
    @cython.wraparound(True)
    def arrange(self, oracles, choice, Py_ssize_t n_states):
        """Make what oracles read.

        Parameters
        ----------
        oracles : sequence of GraphOracle
            The oracles.
        choice : array-like of shape (n,)
            Which of them is that of each graph.
        n_states : int
            Number of states.

        Raises
        ------
        ValueError
            Naming the first graph that its oracle cannot solve.
        """
        cdef GraphOracle oracle
        cdef Py_ssize_t i
        for i in range(len(self)):
            oracle = oracles[choice[i]]
            try:
                oracle.arrange(self.at(i), n_states)
            except ValueError as error:
                raise ValueError(f"X[{i}]: {error}; use inference='trws'") from None


cdef class PairForm:
    """How the numbers of an edge make a table over pairs of states.

    Parameters
    ----------
    n_states : int
        Number of states K.
    kind : {"potts", "symmetric", "full"}
        One number, which counts where the two states agree; K (K + 1) / 2 numbers, the upper
        triangle by rows of a symmetric table; or K^2 numbers, a table by rows.
    """

    def __cinit__(self, Py_ssize_t n_states, kind):
        cdef Py_ssize_t K = n_states
        self.n_states, self.kind = n_states, kind
        self.potts = kind == "potts"
        columns = np.zeros((K, K), dtype=np.int32)
        if kind == "symmetric":
            upper = np.triu_indices(K)
            columns[upper] = columns.T[upper] = np.arange(len(upper[0]))
        elif not self.potts:
            columns.flat = np.arange(K * K)
        self.column = self.columns = columns
        self.first = np.unique(columns, return_index=True)[1]
        self.width = len(self.first)

    def __reduce__(self):
        return PairForm, (self.n_states, self.kind)

    def tables(self, numbers):
        """Return numbers of pairs of states (n, width) as tables (n, K, K), or as (n,) of Potts."""
        return numbers if self.potts else numbers[:, self.columns]

    def numbers(self, tables):
        """Return the inverse of `tables`; of symmetric ones the upper triangles count."""
        return tables if self.potts else tables.reshape(len(tables), -1)[:, self.first]


form_of = lru_cache(maxsize=8)(PairForm)


cdef class GraphPotentials:
    """Potentials of a graph as users give them.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes.
    edges : array-like of int of shape (n_edges, 2) or None
        The two nodes of each edge.
    pairwise : array-like, (n_edges,), (n_states, n_states), (n_edges, n_states, n_states) or None
        Potentials of the edges: a number for each edge that counts where its two states agree,
        or tables.
    truth : array-like of shape (n_nodes,) or None
        True states, whose loss is added to the potentials of the nodes.
    cost : float or array-like of shape (n_nodes,)
        Loss of a wrong state at each node.
    forbids : bool
        Whether potentials may be ``-inf``.

    Raises
    ------
    ValueError
        Naming the first entry that is wrong.
    """

    def __cinit__(self, nodes, edges, pairwise, truth=None, cost=1.0, bint forbids=False):
        nodes = check_table(nodes, "nodes", finite=not forbids)
        n_nodes, n_states = nodes.shape
        ends, pairwise, kind, tied = _pairs(edges, pairwise, n_nodes, n_states, forbids)
        if truth is not None:
            truth, cost = check_truth(truth, cost, n_nodes, n_states)
            nodes = nodes + cost[:, None]
            nodes[np.arange(n_nodes), truth] -= cost
        self.form = form_of(n_states, kind)
        self.node_view = nodes
        self.ends_view = ends
        self.pair_view = pairwise
        self.table_view = np.zeros(len(ends), dtype=np.int32)
        cdef Potentials* p = &self.struct_
        p.n_nodes, p.n_edges = n_nodes, len(ends)
        p.stride, p.width = n_states, self.form.width
        p.node = &self.node_view[0, 0]
        p.ends = &self.ends_view[0, 0] if p.n_edges else NULL
        p.pair = &self.pair_view[0, 0] if p.n_edges else NULL
        p.n_tables = len(pairwise)
        p.table = &self.table_view[0] if tied and p.n_edges else NULL
        self.form.write(p)
        cdef bint may_forbid
        if not isfinite(4.0 * size_of(p, &may_forbid)):  # a cut would never end
            raise ValueError("nodes and pairwise are too large: sums of them overflow")

    cdef tuple labelled(self, GraphOracle oracle, start=None):
        cdef Potentials* p = &self.struct_
        cdef int32_t[::1] out
        if start is None:
            out = labels = np.empty(p.n_nodes, dtype=np.int32)
            nodes_alone(p, &out[0])
        else:
            labels, _ = check_truth(start, 1.0, p.n_nodes, p.n_states, "start")
            out = labels
        with nogil:
            oracle.improve(p, &out[0], NULL)
        return labels, labelling_score(p, &out[0])


def _pairs(edges, pairwise, n_nodes, n_states, forbids):
    """Return edges as int32, numbers as float64 rows, their kind, and if all edges have one row."""
    if (edges is None) != (pairwise is None):
        missing = "edges" if edges is None else "pairwise"
        raise ValueError(f"edges and pairwise go together, but {missing} is None")
    if edges is None:
        return np.zeros((0, 2), dtype=np.int32), np.zeros((0, 1)), "potts", False
    edges = check_edges(edges, n_nodes)
    n_edges = len(edges)
    table = (n_states, n_states)
    shapes = (n_edges,), table, (n_edges, *table)
    pairwise = check_table(pairwise, "pairwise", *shapes, finite=not forbids)
    kind = "potts" if pairwise.ndim == 1 else "full"
    width = 1 if kind == "potts" else n_states * n_states
    tied = pairwise.shape == table
    return edges, np.ascontiguousarray(pairwise.reshape(-1, width)), kind, tied


cdef class GraphOracle:
    """Base of the oracles of graphs."""

    cdef int improve(self, const Potentials* p, int32_t* labels, float* messages) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement improve")

    cdef int arrange(self, Topology* topology, Py_ssize_t n_states) except -1 nogil:
        return 0

    cdef const Topology* topology_of(self, const Potentials* p) except NULL nogil:
        if p.topology != NULL:
            return p.topology
        self.own.take(p.n_nodes, p.n_edges, p.ends)
        self.arrange(&self.own, p.n_states)
        return &self.own
