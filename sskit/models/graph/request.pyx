"""Graphs that are to be labelled, and the weights that label them (see the .pxd)."""

import numpy as np

from libc.stdint cimport int64_t

from sskit.core.checks cimport check_equal, check_index, check_least, check_offsets
from sskit.core.lanes cimport LANES, padded
from sskit.models.features cimport FeatureRows, RowScores, score_rows_apart

NO_TABLE = np.zeros(0, dtype=np.int32)


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
