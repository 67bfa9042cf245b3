"""The graph model bound to data (see the .pxd)."""

import numpy as np

from libc.string cimport memcpy, memset

from sskit.models.features import cut_columns
from sskit.models.graph.data import graph_fingerprint

from sskit.core.checks cimport all_below
from sskit.core.lanes cimport LANES, padded
from sskit.models.features cimport (
    FeatureRows, active_rows, add_rows, add_rows_between, gram_sqnorm, score_rows, score_rows_apart,
    squares
)
from sskit.models.rows cimport add_row, clear_rows, clip_rows, dot_row
from sskit.oracles.graph.potentials cimport labelling_score, nodes_alone

# So many graphs say how often features occur.
COUNTED_GRAPHS = 100
# One worker's part of the weights has all those of pairs.
MOST_PAIR_WEIGHTS = 4096


cdef class GraphProblem(Problem):
    """Graphs bound to data.

    Parameters
    ----------
    features, edge_features : list of FeatureRows
        Features of the nodes of each graph, and of its edges, or of the tables that they share.
    ends : ndarray of shape (n_edges, 2), int32
        The two nodes of the edges of all graphs, counted in their graph.
    edges : ndarray of shape (n_blocks + 1,), int64
        Graph i has the edges edges[i] to edges[i + 1] - 1.
    labels : ndarray of shape (n_nodes,), int32
        True states; 0 where a node has no label, and then it has no edges either.
    cost : ndarray of shape (n_nodes,), float64
        Loss of a wrong state at each node; 0 where it has no label.
    labelled : ndarray of shape (n_nodes,), bool
        Which nodes have a label.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the graphs, summing to one.
    form : PairForm
        How weights make tables of pairs.
    oracle : GraphOracle
        Finds labellings.
    table : ndarray of shape (n_edges,), int32, default=None
        The table of an edge, a row of its graph's edge features; None: each edge has its own.
    """

    def __cinit__(self, features, edge_features, ends, edges, labels, cost, labelled,
                  block_weight, PairForm form, GraphOracle oracle, table=None):
        features, edge_features = tuple(features), tuple(edge_features)  # nobody changes them
        sizes, n_tables = (
            np.array([part.n_rows for part in parts]) for parts in (features, edge_features)
        )
        cdef FeatureRows rows
        for rows in features:
            self.node_rows.push_back(rows.rows)
        for rows in edge_features:
            self.edge_rows.push_back(rows.rows)
        self.features = features, edge_features
        self.nodes = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.tables = np.concatenate([[0], np.cumsum(n_tables)]).astype(np.int64)
        self.ends, self.edges = ends, edges
        self.table = np.zeros(0, dtype=np.int32) if table is None else table
        self.labels, self.cost, self.labelled = labels, cost, labelled.view(np.uint8)
        self.last = np.full(len(labels), -1, dtype=np.int32)
        self.block_weight, self.form, self.oracle = block_weight, form, oracle
        self.n_states, self.n_nodes = form.n_states, len(labels)
        self.n_features = features[0].n_features
        self.n_edge_features = edge_features[0].n_features
        self.stride = padded(self.n_states)
        self.n_columns, self.n_blocks = form.width, len(features)
        self.width = 1 if form.width == 1 else padded(form.width)
        self.pair_weights = self.n_features * self.n_states
        self.n_weights = self.pair_weights + self.n_edge_features * self.n_columns
        self.max_code_length = sizes.max()
        self.max_statistics = (sizes * self.stride + n_tables * self.width).max()
        self.max_support = (2 * sizes + 2 * np.diff(edges)).max()
        self.exact, self.costly = oracle.exact, True
        self.lock_free, self.takes_turns = oracle.lock_free, oracle.takes_turns
        self.gram, self.gram_offset = np.empty(1), np.full(self.n_blocks, -1, dtype=np.int64)
        self.augmented = np.zeros(self.max_code_length * self.stride)
        self.active, self.fresh = np.zeros((2, self.max_code_length), dtype=np.int32)
        self.image = np.zeros(self.n_weights + LANES)

    def set_grams(self, gram, gram_offset):
        """Take packed Gram matrices, which make sqnorm cheaper.

        Parameters
        ----------
        gram : ndarray of shape (n,)
            Packed upper triangles of the Gram matrices of the graphs' node features.
        gram_offset : ndarray of shape (n_blocks,), int64
            Where that of a graph begins, -1 if it has none.
        """
        self.gram, self.gram_offset = gram, gram_offset

    def set_topologies(self, Topologies topologies):
        """Take what follows from the edges, and make what the oracle reads of it."""
        topologies.arrange((self.oracle,), np.zeros(self.n_blocks, dtype=np.int8), self.n_states)
        self.topologies = topologies

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return self.n_nodes_of(i)

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return all_below(code, self.n_nodes_of(i), self.n_states)

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        memcpy(code, &self.labels[self.nodes[i]], self.n_nodes_of(i) * sizeof(int32_t))
        return 0

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        cdef Py_ssize_t n_nodes = self.n_nodes_of(i)
        score_rows(&self.node_rows[i], 0, n_nodes, w, self.n_states, theta)
        score_rows_apart(
            &self.edge_rows[i], 0, self.n_tables_of(i), w + self.pair_weights, self.n_columns,
            theta + n_nodes * self.stride, self.width
        )
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t entry, v
        cdef unsigned int j, table = <unsigned int>(self.n_nodes_of(i) * self.stride)
        cdef unsigned int width = <unsigned int>self.width
        if self.request == 2147483647:
            self.request = 0
            self.fresh[:] = 0
        self.request += 1
        for entry in range(count):
            j = <unsigned int>index[entry]
            if j >= table:
                theta[j] = dot_row(
                    &self.edge_rows[i], (j - table) // width,
                    w + self.pair_weights + (j - table) % width, self.n_columns
                )
                continue
            v = j // <unsigned int>self.stride
            if self.fresh[v] != self.request:
                self.fresh[v] = self.request
                score_rows(
                    &self.node_rows[i], v, 1, w, self.n_states, theta + v * self.stride
                )
        return 0

    cdef Potentials potentials(
        self, Py_ssize_t i, const double* theta, double loss_weight
    ) noexcept nogil:
        cdef Potentials p
        cdef Py_ssize_t n_nodes = self.n_nodes_of(i), first = self.nodes[i], v, k
        cdef double* node = &self.augmented[0]
        memcpy(node, theta, n_nodes * self.stride * sizeof(double))
        for v in range(n_nodes):
            if not self.labelled[first + v]:
                for k in range(self.n_states):
                    node[k] = -(k != 0)
            # a loss on all states but one is, up to a constant, a bonus taken from that one
            node[self.labels[first + v]] -= loss_weight * self.cost[first + v]
            node += self.stride
        p.n_nodes, p.n_edges, p.n_states = n_nodes, self.n_edges_of(i), self.n_states
        p.stride, p.width = self.stride, self.width
        p.node = &self.augmented[0]
        p.n_tables, p.pair = self.n_tables_of(i), theta + n_nodes * self.stride
        p.ends, p.table = self.ends_of(i), self.tables_of(i)
        p.potts = self.form.potts
        p.column = &self.form.column[0, 0]
        p.factor = &self.form.factor[0, 0]
        if self.topologies is not None:
            p.topology = self.topologies.at(i)
        return p

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Potentials p = self.potentials(i, theta, loss_weight)
        if not self.exact:
            self.begin(i, &p, loss_weight > 0.0, code)
        self.oracle.improve(&p, code)
        memcpy(&self.last[self.nodes[i]], code, self.n_nodes_of(i) * sizeof(int32_t))
        loss[0] = self.loss_of(i, code)
        return 0

    cdef double loss_of(self, Py_ssize_t i, const int32_t* labels) noexcept nogil:
        cdef Py_ssize_t first = self.nodes[i], v
        cdef double loss = 0.0
        for v in range(self.n_nodes_of(i)):
            if labels[v] != self.labels[first + v]:
                loss += self.cost[first + v]
        return loss

    cdef void begin(
        self, Py_ssize_t i, const Potentials* p, bint with_truth, int32_t* labels
    ) noexcept nogil:
        cdef const int32_t* candidates[2]
        cdef Py_ssize_t c, first = self.nodes[i]
        cdef double score, best
        nodes_alone(p, labels)
        best = labelling_score(p, labels)
        candidates[0] = &self.labels[first] if with_truth else NULL
        candidates[1] = &self.last[first] if self.last[first] >= 0 else NULL
        for c in range(2):
            if candidates[c] != NULL:
                score = labelling_score(p, candidates[c])
                if score > best:
                    best = score
                    memcpy(labels, candidates[c], p.n_nodes * sizeof(int32_t))

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef const int32_t* labels = &self.labels[self.nodes[i]]
        cdef const int32_t* ends = self.ends_of(i)
        cdef const int32_t* table = self.tables_of(i)
        cdef Py_ssize_t n_nodes = self.n_nodes_of(i), v, e, pair, n = 0
        cdef int32_t a, b
        for v in range(n_nodes):
            if code[v] != labels[v]:
                index[n] = <int32_t>(v * self.stride + labels[v])
                index[n + 1] = <int32_t>(v * self.stride + code[v])
                value[n] = 1.0
                value[n + 1] = -1.0
                n += 2
        for e in range(self.n_edges_of(i)):
            a, b = ends[2 * e], ends[2 * e + 1]
            if code[a] != labels[a] or code[b] != labels[b]:
                pair = n_nodes * self.stride + (e if table == NULL else table[e]) * self.width
                index[n] = <int32_t>(pair + self.form.column[labels[a], labels[b]])
                value[n] = self.form.factor[labels[a], labels[b]]
                n += value[n] != 0.0
                index[n] = <int32_t>(pair + self.form.column[code[a], code[b]])
                value[n] = -self.form.factor[code[a], code[b]]
                n += value[n] != 0.0
                if n > 1 and index[n - 1] == index[n - 2] and value[n - 1] == -value[n - 2]:
                    n -= 2  # the same statistic before and after
        return n

    cdef Py_ssize_t find_active(self, Py_ssize_t i, Direction delta) noexcept nogil:
        return active_rows(&delta.value[0], self.n_nodes_of(i), self.stride, &self.active[0])

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef Py_ssize_t n_active = self.find_active(i, delta)
        add_rows(
            &self.node_rows[i], 0, &self.active[0], n_active, step, &delta.value[0],
            self.n_states, v
        )
        self.scatter_pairs(i, delta, step, v + self.pair_weights)
        return 0

    cdef double scatter_part(
        self, Py_ssize_t i, Direction delta, double step, const int64_t* part, double* v
    ) noexcept nogil:
        cdef Py_ssize_t n_active = self.find_active(i, delta)
        cdef double growth = add_rows_between(
            &self.node_rows[i], 0, &self.active[0], n_active, step, &delta.value[0],
            self.n_states, part[0], part[1], v
        )
        if part[0] == 0:
            growth -= squares(v + self.pair_weights, self.n_weights - self.pair_weights)
            self.scatter_pairs(i, delta, step, v + self.pair_weights)
            growth += squares(v + self.pair_weights, self.n_weights - self.pair_weights)
        return growth

    def cut_weights(self, n_parts):
        """Return the features of nodes with which parts of the weights begin."""
        if self.n_weights - self.pair_weights > MOST_PAIR_WEIGHTS:
            return None
        sample = self.features[0][:: max(1, self.n_blocks // COUNTED_GRAPHS)]
        return cut_columns(sum(features.count_columns() for features in sample), n_parts)

    cdef void scatter_pairs(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) noexcept nogil:
        cdef Py_ssize_t table = self.n_nodes_of(i) * self.stride, entry, j
        for entry in range(delta.n):
            j = delta.index[entry]
            if j >= table and delta.value[j] != 0.0:
                add_row(
                    &self.edge_rows[i], (j - table) // self.width, step * delta.value[j],
                    v + (j - table) % self.width, self.n_columns
                )

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef Py_ssize_t j, n_active = self.find_active(i, delta)
        clip_rows(
            &self.node_rows[i], 0, &self.active[0], n_active, self.n_states, v, lower, upper, w
        )
        for j in range(self.pair_weights, self.n_weights):
            w[j] = min(max(v[j], lower[j]), upper[j])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef Py_ssize_t j, n_active = self.find_active(i, delta)
        cdef double* image = &self.image[0]
        cdef double total = 0.0
        self.scatter_pairs(i, delta, 1.0, image + self.pair_weights)
        for j in range(self.pair_weights, self.n_weights):
            total += image[j] * image[j]
        memset(image + self.pair_weights, 0, (self.n_weights - self.pair_weights) * sizeof(double))
        if self.gram_offset[i] >= 0:
            return total + gram_sqnorm(
                &self.gram[self.gram_offset[i]], &self.active[0], n_active, &delta.value[0],
                self.stride
            )
        add_rows(
            &self.node_rows[i], 0, &self.active[0], n_active, 1.0, &delta.value[0],
            self.n_states, image
        )
        for j in range(self.pair_weights):
            total += image[j] * image[j]
        clear_rows(&self.node_rows[i], 0, &self.active[0], n_active, self.n_states, image)
        return total

    cpdef Problem fork(self):
        cdef GraphProblem other = type(self)(
            *self.features, np.asarray(self.ends), np.asarray(self.edges),
            np.asarray(self.labels), self.cost, np.asarray(self.labelled).view(bool),
            self.block_weight, self.form, self.oracle.fork(), np.asarray(self.table)
        )
        other.last, other.gram, other.gram_offset = self.last, self.gram, self.gram_offset
        other.topologies = self.topologies
        return other

    def fingerprint(self):
        """Return by what the same graphs, labels and losses are known again."""
        whole = {
            "the model": "graph",
            "the number of features": self.n_features,
            "the number of edge features": self.n_edge_features,
            "the number of labels": self.n_states,
            "the form of the pairs": self.n_columns,
        }
        numbers = {
            "the edges of X": (np.asarray(self.ends).ravel(), 2 * np.asarray(self.edges)),
            "y": (self.labels, self.nodes),
            "which nodes have a label in y": (self.labelled, self.nodes),
            "the loss of y": (self.cost, self.nodes),
        }
        if self.table.shape[0]:
            numbers["the kinds of the edges of X"] = self.table, self.edges
        return graph_fingerprint(whole, *self.features, numbers)
