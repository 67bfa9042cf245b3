"""Graphs that are to be labelled, and the weights that label them (see the .pxd)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from sskit.core.checks cimport check_equal, check_index, check_least, check_offsets
from sskit.core.lanes cimport LANES, padded
from sskit.models.features cimport (
    FeatureRows, RowScores, are_modest, score_rows, score_rows_apart
)
from sskit.models.rows cimport Rows, dense_rows
from sskit.oracles.graph.cut cimport Cut, leave_cut, take_cut

NO_TABLE = np.zeros(0, dtype=np.int32)
DOUBLE = np.dtype(np.float64)
cdef PairForm POTTS = PairForm(2, "potts")


cdef class GraphRequest:
    """Graphs to label.

    Parameters
    ----------
    features : list of RowScores
        Scores of the nodes of each graph.
    edge_features : list of FeatureRows
        Features of its edges, or of the tables that they share.
    pairs : ndarray of shape (n_edge_features * n_columns,), float64
        Weights of the pairs.
    ends : ndarray of shape (n_edges, 2), int32
        The two nodes of the edges of all graphs, counted in their graph.
    edges : ndarray of shape (n_blocks + 1,), int64
        Graph i has the edges edges[i] to edges[i + 1] - 1.
    form : PairForm
        How weights make tables of pairs.
    oracle : GraphOracle
        Finds labellings, exactly.
    table : ndarray of shape (n_edges,), int32, default=None
        The table of an edge, a row of its graph's edge features; None: each edge has its own.
    """

    def __cinit__(self, features, edge_features, const double[:] pairs, ends, edges,
                  PairForm form, GraphOracle oracle, table=None):
        cdef RowScores rows
        cdef FeatureRows edge_rows
        cdef Py_ssize_t i
        self.features, self.edge_features = tuple(features), tuple(edge_features)
        self.n_blocks, self.form, self.oracle = len(self.features), form, oracle
        self.ends, self.edges = ends, edges
        self.table = NO_TABLE if table is None else table
        self.n_states, self.stride = form.n_states, padded(form.n_states)
        check_least(self.n_states, 1, "the number of states")
        self.width = 1 if form.width == 1 else padded(form.width)
        check_equal(len(self.edge_features), self.n_blocks, "the number of edge features")
        check_equal(self.edges.shape[0], self.n_blocks + 1, "the length of edges")
        if self.n_blocks != 1 or self.edges[0] != 0 or self.edges[1] != self.ends.shape[0]:
            check_offsets(edges, self.ends.shape[0], 0, "edges")
        check_equal(self.ends.shape[1], 2, "the number of ends")
        if self.table.shape[0]:
            check_equal(self.table.shape[0], self.ends.shape[0], "the length of table")
        sizes = np.zeros(self.n_blocks + 1, dtype=np.int64)
        cdef int64_t[::1] nodes = sizes
        for i in range(self.n_blocks):
            rows, edge_rows = self.features[i], self.edge_features[i]
            self.node_rows.push(<void*>rows)
            self.edge_rows.push(<void*>edge_rows)
            check_equal(rows.n_states, self.n_states, "the number of states")
            check_equal(edge_rows.n_features * form.width, pairs.shape[0], "the length of pairs")
            nodes[i + 1] = nodes[i] + rows.n_rows
            self.max_statistics = max(
                self.max_statistics,
                rows.n_rows * self.stride + edge_rows.n_rows * self.width + LANES
            )
        self.nodes, self.n_nodes = sizes, nodes[self.n_blocks]
        for i in range(self.n_blocks):
            self.check_graph(i)
        self.pair_weights = np.empty(pairs.shape[0] + LANES)
        for i in range(pairs.shape[0]):
            self.pair_weights[i] = pairs[i]
        for i in range(pairs.shape[0], self.pair_weights.shape[0]):
            self.pair_weights[i] = 0.0

    cdef int check_graph(self, Py_ssize_t i) except -1:
        """Raise an error unless edges have nodes and tables of their graph."""
        cdef FeatureRows edge_rows = self.edge_features[i]
        cdef Py_ssize_t n_nodes = self.n_nodes_of(i), n_tables = edge_rows.n_rows, e
        cdef bint wrong = False
        if self.table.shape[0] == 0:
            check_equal(n_tables, self.edges[i + 1] - self.edges[i], "the number of edge features")
        for e in range(self.edges[i], self.edges[i + 1]):
            wrong |= not (0 <= self.ends[e, 0] < n_nodes and 0 <= self.ends[e, 1] < n_nodes)
            if self.table.shape[0]:
                wrong |= not 0 <= self.table[e] < n_tables
        if wrong:
            raise IndexError("an edge has nodes or a table that are none of its graph")
        return 0

    cdef Py_ssize_t n_nodes_of(self, Py_ssize_t i) noexcept nogil:
        return self.nodes[i + 1] - self.nodes[i]

    cdef Potentials potentials(self, Py_ssize_t i, double* theta) noexcept nogil:
        cdef Py_ssize_t n_nodes = self.n_nodes_of(i), first = self.edges[i]
        cdef Py_ssize_t n_tables = (<FeatureRows>self.edge_rows[i]).n_rows
        cdef Potentials p
        (<RowScores>self.node_rows[i]).write(0, n_nodes, theta)
        score_rows_apart(
            &(<FeatureRows>self.edge_rows[i]).rows, 0, n_tables, &self.pair_weights[0],
            self.form.width, theta + n_nodes * self.stride, self.width
        )
        p.n_nodes, p.n_edges, p.n_states = n_nodes, self.edges[i + 1] - first, self.n_states
        p.stride, p.width, p.potts = self.stride, self.width, self.form.potts
        p.node, p.pair, p.n_tables = theta, theta + n_nodes * self.stride, n_tables
        p.ends = &self.ends[first, 0] if p.n_edges else NULL
        p.table = &self.table[first] if self.table.shape[0] and p.n_edges else NULL
        p.column, p.factor = &self.form.column[0, 0], &self.form.factor[0, 0]
        return p

    def is_modest(self):
        """Return whether features and weights are so small that no score can overflow.

        Those of edges are not looked at.
        """
        for rows in self.features:
            if not (<RowScores>rows).modest():
                return False
        return True

    def node_scores(self, Py_ssize_t i):
        """Return the scores of the nodes of a graph alone, shape (V_i, n_states)."""
        check_index(i, self.n_blocks, "graph")
        cdef RowScores rows = self.features[i]
        return rows.table()

    def fork(self):
        """Return the same with an oracle of its own, for another thread."""
        return GraphRequest(
            self.features, self.edge_features, np.asarray(self.pair_weights)[:-LANES],
            np.asarray(self.ends), np.asarray(self.edges), self.form, self.oracle.fork(),
            np.asarray(self.table)
        )


def cut_single(const double[:, ::1] features, const int32_t[:, ::1] ends,
               const double[:, ::1] edge_features, coef, pairs):
    """Return the best labelling of one graph with two states and Potts potentials.

    It is what is served most, and asks nothing of the memory of a `GraphRequest`, which takes as
    long to set up as the cut.

    Parameters
    ----------
    features : ndarray of shape (n_nodes, p), float64
        Features of the nodes.
    ends : ndarray of shape (n_edges, 2), int32
        The two nodes of each edge.
    edge_features : ndarray of shape (n_edges, q), float64
        Features of the edges, finite.
    coef : ndarray of shape (2, p)
        Weights of the nodes, numbers of any kind.
    pairs : ndarray of shape (q,)
        Weights of agreement, finite.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32, or None
        None if features of an edge are negative, or other numbers so large that a score may
        overflow: whoever takes all graphs knows what to say of that.
    """
    if coef.dtype is not DOUBLE:
        coef = coef.astype(np.float64)
    if pairs.dtype is not DOUBLE:
        pairs = pairs.astype(np.float64)
    cdef const double[:, :] weights = coef
    cdef const double[:] pair_weights = pairs
    cdef Py_ssize_t n = features.shape[0], p = features.shape[1], m = ends.shape[0]
    cdef Py_ssize_t q = edge_features.shape[1], stride = padded(2), j, e
    cdef bint inside = True, positive = True
    cdef int32_t a, b
    check_equal(weights.shape[0], 2, "the number of rows of coef")
    check_equal(weights.shape[1], p, "the number of columns of coef")
    check_equal(pair_weights.shape[0], q, "the length of pairs")
    check_equal(ends.shape[1], 2, "the number of ends")
    check_equal(edge_features.shape[0], m, "the number of edge features")
    for e in range(m):
        a, b = ends[e, 0], ends[e, 1]
        inside &= (a >= 0) & (a < n) & (b >= 0) & (b < n) & (a != b)
        for j in range(q):
            positive &= edge_features[e, j] >= 0.0
    if not inside:
        raise IndexError("an edge has nodes that are none of its graph")
    if not (n and p and m and q and positive):
        return None
    # weights by features and those of pairs, each with spare ones; scores of nodes and of edges
    cdef double[::1] memory = np.empty(2 * p + q + 2 * LANES + n * stride + m)
    cdef double* w = &memory[0]
    cdef double* b_w = w + 2 * p + LANES
    cdef double* node = b_w + q + LANES
    cdef double* pair = node + n * stride
    for j in range(p):
        w[2 * j], w[2 * j + 1] = weights[0, j], weights[1, j]
    for j in range(q):
        b_w[j] = pair_weights[j]
    for j in range(LANES):
        w[2 * p + j] = b_w[q + j] = 0.0
    if not (are_modest(w, 2 * p) and are_modest(&features[0, 0], n * p)):
        return None
    cdef Rows rows = dense_rows(&features[0, 0], p)
    cdef Rows edge_rows = dense_rows(&edge_features[0, 0], q)
    score_rows(&rows, 0, n, w, 2, node)
    score_rows_apart(&edge_rows, 0, m, b_w, 1, pair, 1)
    cdef Potentials found
    found.n_nodes, found.n_edges, found.n_states = n, m, 2
    found.stride, found.width, found.potts = stride, 1, True
    found.node, found.ends = node, &ends[0, 0]
    found.table = NULL
    found.pair, found.n_tables = pair, m
    found.column, found.factor = &POTTS.column[0, 0], &POTTS.factor[0, 0]
    labels = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] out = labels
    cdef Cut cut = take_cut()
    with nogil:
        cut.improve(&found, &out[0])
    leave_cut(cut)
    return labels
