"""Potentials that are arrays, of a network or calibrated, in place of those of features."""

import numpy as np

from sskit.oracles.graph.potentials import NAMES
from sskit.oracles.tree.choice import ORACLES

from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from sskit.core.vectors cimport Scratch
from sskit.models.feature_map cimport FeatureMap
from sskit.models.request cimport Request
from sskit.models.structure cimport Block, NodeLoss, Structure
from sskit.oracles.graph.potentials cimport (
    ELIMINATION, QPBO, ROUNDING, TREE, TRWS, GraphOracle, PairForm, Potentials, Topology,
    choose_oracle, labelling_score, pair_score, table_of
)
from sskit.oracles.tree.max_sum cimport TreeMaxSum, TreeSumProduct

# Elimination may look at so many numbers: some 3 ms.
cdef Py_ssize_t MODEST_ENTRIES = 2**20


cdef class Numbers:
    """Numbers as they were given.

    Parameters
    ----------
    values : ndarray of shape (n,), float32 or float64
        They are not copied.
    """

    cdef const float[::1] single
    cdef const double[::1] wide
    cdef bint is_single

    def __cinit__(self, values):
        self.is_single = values.dtype == np.float32
        if self.is_single:
            self.single = values
        else:
            self.wide = values

    # copy rows, one after the other, to rows `stride` apart
    cdef void copy(
        self, Py_ssize_t start, Py_ssize_t n, Py_ssize_t columns, double* out, Py_ssize_t stride
    ) noexcept nogil:
        cdef const float* f
        cdef Py_ssize_t r, k
        for r in range(n):
            if self.is_single:
                f = &self.single[start + r * columns]
                for k in range(columns):
                    out[k] = f[k]
            else:
                memcpy(out, &self.wide[start + r * columns], columns * sizeof(double))
            out += stride


cdef class GivenMap(FeatureMap):
    """Where potentials lie that are given: edges have tables of their own, or those of a block one.

    Arguments are those of a `FeatureMap`, of rows without features.
    """

    cdef public bint one_each                # has a block one table?

    cdef bint is_bare(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return False

    cdef Py_ssize_t edge_table(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return self.edge_base(i) + (0 if self.one_each else e * self.edge_stride)


cdef class Given(Request):
    """Blocks whose potentials of nodes are given, and those of edges if they are not weights.

    Parameters
    ----------
    map, structure, weights : object
        As for a `Request`.
    nodes : ndarray of shape (n_rows * n_states,), float32 or float64
        Potentials of nodes, row after row, numbers or -inf.
    first : ndarray of shape (n_blocks,), int64
        The row of the first node of a block.
    tables : ndarray, float32 or float64, default=None
        Potentials of edges, table after table; None: features of edges have weights.
    table_first : ndarray of shape (n_blocks,), int64, default=None
        The first table of a block.
    step : {0, 1}, default=1
        0 if all edges of a block have its first table.
    """

    cdef Numbers node_numbers
    cdef Numbers tables
    cdef const int64_t[::1] row
    cdef const int64_t[::1] table_first
    cdef Py_ssize_t step
    cdef dict given

    def __cinit__(self, FeatureMap map, Structure structure, weights, *, nodes, first, tables=None,
                  table_first=None, Py_ssize_t step=1):
        self.given = dict(
            nodes=nodes, first=first, tables=tables, table_first=table_first, step=step
        )
        self.node_numbers, self.row, self.step = Numbers(nodes), first, step
        self.n_rows = len(nodes) // map.n_columns
        if tables is not None:
            self.tables, self.table_first = Numbers(tables), table_first

    cdef int load(self, Py_ssize_t i, double* theta, Block* b) except -1 nogil:
        cdef Py_ssize_t n = self.map.count(i), K = self.map.n_columns, stride = self.map.edge_stride
        cdef Py_ssize_t n_rows = 1, columns = self.map.edge_columns, e
        b.i, b.n, b.first, b.theta = i, n, self.row[i], theta
        if self.tables is None and self.map.edge_pairs:
            self.map.own_scores(i, &self.weights[0], theta)
        self.node_numbers.copy(b.first * K, n, K, theta + self.map.node_base, self.map.stride)
        if self.map.edge_pairs:
            n_rows, columns = self.map.head_rows, self.map.head_columns
        theta += self.map.edge_base(i)
        for e in range(self.map.n_edges(i) if self.tables is not None else 0):
            self.tables.copy(
                (self.table_first[i] + self.step * e) * n_rows * columns, n_rows, columns,
                theta + e * stride, stride // n_rows
            )
        return 0

    def fork(self):
        """Return the same request for another thread."""
        return Given(self.map, self.structure.fork(), self.weights, **self.given)


cdef class GivenGraphs(Structure):
    """Labellings of graphs, whose oracles are chosen by their potentials, or of forests.

    Potentials are those of a `FeatureMap`: nodes, and tables of edges, which are the rows of its
    head, or its edges.

    Parameters
    ----------
    map : FeatureMap
        Where the potentials are.
    form : PairForm
        How the potentials of an edge make a table of pairs.
    ends : ndarray of shape (n_edges, 2), int32
        The two nodes of each edge, counted in their graph.
    edge_first, n_edges : ndarray of shape (n_blocks,), int64
        The first edge of a graph, and how many it has.
    table : ndarray of shape (n_edges,), int32, default=None
        Which table of the head, or of its graph, an edge has; None: each has its own.
    forests : bool, default=True
        Whether a cycle is an error.
    words : tuple of str, default=("tree", "node")
        What a graph and a node are called.
    """

    cdef FeatureMap map
    cdef PairForm form
    cdef const int32_t[:, ::1] ends
    cdef const int64_t[::1] edge_first
    cdef const int64_t[::1] n_edges
    cdef const int32_t[::1] table
    cdef bint has_table
    cdef bint forests
    cdef tuple words
    cdef dict given
    cdef list oracles                # by their numbers in the rule of choice
    cdef vector[void*] oracle_of
    cdef TreeSumProduct sums
    # scratch
    cdef Topology topology           # of the edges at hand
    cdef Py_ssize_t of               # the graph at hand
    cdef Potentials p                # of it
    cdef Potentials rest             # of its nodes without a label
    cdef Scratch[double] node
    cdef Scratch[double] counts
    cdef Scratch[int32_t] place      # of a node among those without a label, -1: it has one
    cdef Scratch[double] rest_pair
    cdef Scratch[int32_t] rest_table
    cdef Scratch[int32_t] rest_ends
    cdef Scratch[int32_t] rest_label

    def __cinit__(self, FeatureMap map, PairForm form, ends, edge_first, n_edges, table=None,
                  bint forests=True, tuple words=("tree", "node")):
        self.given = dict(
            map=map, form=form, ends=ends, edge_first=edge_first, n_edges=n_edges, table=table,
            forests=forests, words=words,
        )
        self.map, self.form, self.ends, self.forests = map, form, ends, forests
        self.edge_first, self.n_edges, self.words = edge_first, n_edges, words
        self.has_table = table is not None
        if self.has_table:
            self.table = table
        self.oracles = [ORACLES[name]() for name in NAMES]
        self.oracles[ELIMINATION] = ORACLES["elimination"](MODEST_ENTRIES)
        for oracle in self.oracles:
            self.oracle_of.push_back(<void*>oracle)
        self.sums = TreeSumProduct()
        self.max_code_length = map.longest
        self.max_support = 2 * (map.longest + np.max(n_edges, initial=0))

    cdef int load(self, const Block* b) except -1 nogil:
        cdef Potentials* p = &self.p
        cdef Py_ssize_t first = self.edge_first[b.i], m = self.n_edges[b.i]
        self.of = b.i
        p.n_nodes, p.n_edges, p.stride, p.node = b.n, m, self.map.stride, b.theta
        p.node += self.map.node_base
        if self.map.head_rows:
            p.pair, p.n_tables = b.theta, self.map.head_rows if m else 0
            p.width = self.map.node_base // self.map.head_rows
        else:
            p.pair, p.width = b.theta + self.map.edge_base(b.i), self.map.edge_stride
            p.n_tables = self.map.n_edges(b.i)
        p.ends = &self.ends[first, 0] if m else NULL
        p.table = &self.table[first] if m and self.has_table else NULL
        self.take_form(p)
        return 0

    cdef void take_form(self, Potentials* p) noexcept nogil:
        p.column, p.factor = &self.form.column[0, 0], &self.form.factor[0, 0]
        p.n_states, p.potts = self.form.n_states, self.form.potts

    cdef int refuse(self, str what) except -1:
        raise ValueError(f"{self.words[0]} {self.of}: {what}")

    # potentials of nodes that may be written to
    cdef double* copy_nodes(self) except NULL nogil:
        cdef Py_ssize_t size = self.p.n_nodes * self.p.stride
        self.node.resize(size)
        memcpy(self.node.data(), self.p.node, size * sizeof(double))
        return self.node.data()

    # With a loss `code` holds a labelling to begin with.
    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        cdef double* node
        self.load(b)
        if weight == 0.0:
            return self.complete(b, loss, code)
        node = self.copy_nodes()
        loss.add(b.first, b.n, weight, node, self.p.stride)
        self.p.node = node
        return self.improve(&self.p, code)

    # a best labelling, if the oracle is exact; `labels` has one to begin with
    cdef int improve(self, Potentials* p, int32_t* labels) except -1 nogil:
        cdef double score
        cdef bint finite = True, cuts = False
        cdef int k
        self.excess = 0.0
        if self.forests:
            self.take_forest(p)
        else:
            self.topology.take(p.n_nodes, p.n_edges, p.ends)
            p.topology = &self.topology
        if self.topology.closing_edge() >= 0:
            finite = self.is_finite(p)
            cuts = p.n_states == 2 and finite and self.takes_cuts(p)
        k = choose_oracle(
            &self.topology, p.n_states, cuts, p.potts, not finite, MODEST_ENTRIES, 0.0
        )
        (<GraphOracle>self.oracle_of[k]).arrange(&self.topology, p.n_states)
        if finite:
            (<GraphOracle>self.oracle_of[k]).improve(p, labels)
        else:
            with gil:
                self.ask_carefully(self.oracles[k], p, labels)
        if k == QPBO or k == TRWS:
            score = labelling_score(p, labels)
            self.excess = (<GraphOracle>self.oracle_of[k]).bound - score
            if self.excess <= 1e-9 * (1.0 + fabs(score)):
                self.excess = 0.0
        return 0

    # improve by an oracle, which may find that nothing is allowed
    cdef int ask_carefully(
        self, GraphOracle oracle, const Potentials* p, int32_t* labels
    ) except -1:
        try:
            oracle.improve(p, labels)
        except ValueError as error:
            self.refuse(str(error))
        return 0

    # can a cut represent all edges of two states?
    cdef bint takes_cuts(self, const Potentials* p) noexcept nogil:
        cdef Py_ssize_t e
        cdef double s, t, u, v
        for e in range(p.n_edges):
            s, t = pair_score(p, e, 0, 0), pair_score(p, e, 1, 1)
            u, v = pair_score(p, e, 0, 1), pair_score(p, e, 1, 0)
            if not (s + t) - (u + v) >= -ROUNDING * (fabs(s) + fabs(t) + fabs(u) + fabs(v)):
                return False
        return True

    # are all numbers so, and their sums?
    cdef bint is_finite(self, const Potentials* p) noexcept nogil:
        cdef Py_ssize_t v, k
        cdef double total = 0.0
        for v in range(p.n_nodes):
            for k in range(p.n_states):
                total += fabs(p.node[v * p.stride + k])
        for k in range(p.n_tables * p.width):
            total += fabs(p.pair[k]) * p.n_edges
        return isfinite(4.0 * total)

    # take the edges, which must form a forest
    cdef int take_forest(self, Potentials* p) except -1 nogil:
        cdef Py_ssize_t e
        self.topology.take(p.n_nodes, p.n_edges, p.ends)
        p.topology = &self.topology
        e = self.topology.closing_edge()
        if e >= 0:
            with gil:
                self.refuse(
                    f"edges[{e}] between the {self.words[1]}s {p.ends[2 * e]} and "
                    f"{p.ends[2 * e + 1]} closes a cycle; the edges of a tree form a forest"
                )
        self.topology.make_forest()
        return 0

    # The best labelling that agrees with what is known: nodes of one possible state are left out,
    # for the rest may be a simpler graph.
    cdef int complete(self, const Block* b, NodeLoss loss, int32_t* labels) except -1 nogil:
        cdef Py_ssize_t v, k, n_hidden = 0
        cdef int32_t count
        self.place.resize(b.n)
        for v in range(b.n):
            count = 0
            for k in range(self.p.n_states if loss.possible.shape[0] else 0):
                if loss.possible[b.first + v, k]:
                    labels[v] = <int32_t>k
                    count += 1
            self.place[v] = -1
            if count != 1:
                self.place[v] = <int32_t>n_hidden
                n_hidden += 1
        self.excess = 0.0
        if n_hidden:
            self.reduce(n_hidden, labels)
            self.improve(&self.rest, self.rest_label.data())
            for v in range(b.n):
                if self.place[v] >= 0:
                    labels[v] = self.rest_label[self.place[v]]
        return 0

    # the potentials of the nodes without a label, given the labels of the others
    cdef int reduce(self, Py_ssize_t n_hidden, const int32_t* labels) except -1 nogil:
        cdef const Potentials* p = &self.p
        cdef Potentials* rest = &self.rest
        cdef Py_ssize_t v, e, k, stride = p.stride, n_edges = 0
        cdef int32_t a, b
        cdef double* node = self.copy_nodes()
        cdef double* row
        self.rest_label.resize(n_hidden)
        self.rest_ends.resize(2 * p.n_edges)
        self.rest_table.resize(p.n_edges)
        self.rest_pair.resize(p.n_edges)
        # rows only move up
        for v in range(p.n_nodes):
            if self.place[v] >= 0 and self.place[v] < v:
                memcpy(node + self.place[v] * stride, node + v * stride, stride * sizeof(double))
        for e in range(p.n_edges):
            a, b = self.place[p.ends[2 * e]], self.place[p.ends[2 * e + 1]]
            if a >= 0 and b >= 0:
                self.rest_ends[2 * n_edges] = a
                self.rest_ends[2 * n_edges + 1] = b
                self.rest_pair[n_edges] = p.pair[table_of(p, e) * p.width]
                self.rest_table[n_edges] = <int32_t>table_of(p, e)
                n_edges += 1
            elif a >= 0:
                row = node + a * stride
                for k in range(p.n_states):
                    row[k] += pair_score(p, e, <int32_t>k, labels[p.ends[2 * e + 1]])
            elif b >= 0:
                row = node + b * stride
                for k in range(p.n_states):
                    row[k] += pair_score(p, e, labels[p.ends[2 * e]], <int32_t>k)
        rest.n_nodes, rest.n_edges, rest.stride = n_hidden, n_edges, stride
        rest.width, rest.node, rest.ends = p.width, node, self.rest_ends.data()
        rest.pair, rest.n_tables, rest.table = p.pair, p.n_tables, self.rest_table.data()
        if p.potts:  # these share no tables
            rest.pair, rest.n_tables = self.rest_pair.data(), n_edges
            rest.table = NULL
        self.take_form(rest)
        for v in range(n_hidden):
            self.rest_label[v] = 0
            row = node + v * stride
            for k in range(1, p.n_states):
                if row[k] > row[self.rest_label[v]]:
                    self.rest_label[v] = <int32_t>k
        return 0

    # where the score of an edge with these states lies
    cdef Py_ssize_t pair_at(
        self, const Block* b, Py_ssize_t e, int32_t first, int32_t second
    ) noexcept nogil:
        return (
            (self.p.pair - b.theta) + table_of(&self.p, e) * self.p.width
            + self.form.column[first, second]
        )

    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil:
        cdef Py_ssize_t v, e, n = 0
        cdef int32_t a, c
        self.load(b)
        for v in range(b.n):
            if code[v] != truth[v]:
                index[n] = <int32_t>(self.map.node_base + v * self.map.stride + truth[v])
                index[n + 1] = index[n] + code[v] - truth[v]
                value[n], value[n + 1] = 1.0, -1.0
                n += 2
        for e in range(self.p.n_edges):
            a, c = self.p.ends[2 * e], self.p.ends[2 * e + 1]
            if code[a] != truth[a] or code[c] != truth[c]:
                index[n] = <int32_t>self.pair_at(b, e, truth[a], truth[c])
                value[n] = self.form.factor[truth[a], truth[c]]
                n += value[n] != 0.0
                index[n] = <int32_t>self.pair_at(b, e, code[a], code[c])
                value[n] = -self.form.factor[code[a], code[c]]
                n += value[n] != 0.0
        return n

    cdef double score(self, const Block* b, const int32_t* code) except? -1 nogil:
        self.load(b)
        return labelling_score(&self.p, code)

    cdef int max_marginals(self, const Block* b, double* out) except -1 nogil:
        cdef Py_ssize_t n_states = self.form.n_states, v, k
        self.load(b)
        self.take_forest(&self.p)
        (<TreeMaxSum>self.oracle_of[TREE]).marginals(&self.p, out)
        # to rows `stride` apart
        for v in range(b.n - 1, -1, -1):
            for k in range(n_states - 1, -1, -1):
                out[v * self.map.stride + k] = out[v * n_states + k]
        return 0

    cdef double marginals(self, const Block* b, double* nodes, double* pairs) except? -1 nogil:
        cdef Py_ssize_t K = self.form.n_states, stride = self.map.stride, e
        cdef int32_t a, c
        cdef double log_sum
        cdef double* counts = NULL
        self.load(b)
        self.take_forest(&self.p)
        if nodes == NULL:
            self.node.resize(b.n * stride)
            nodes = self.node.data()
        if pairs != NULL:
            self.counts.refill(self.p.n_edges * K * stride + 1, 0.0)
            counts = self.counts.data()
        log_sum = self.sums.infer(&self.p, nodes, counts)
        for e in range(self.p.n_edges if pairs != NULL and log_sum != -INFINITY else 0):
            for a in range(K):
                for c in range(K):
                    pairs[self.pair_at(b, e, a, c)] += counts[(e * K + a) * stride + c]
        return log_sum

    cdef int sample(self, const Block* b, const double* uniform, int32_t* code) except -1 nogil:
        self.sums.sample(&self.p, uniform, code)
        return 0

    cpdef Structure fork(self):
        """Return the same structure for another thread."""
        return GivenGraphs(**self.given)


def find_hinges(Given given, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the hinges of the blocks start .. stop - 1.

    Parameters
    ----------
    given : Given
        The blocks.
    start, stop : int
        Which of them.
    out : tuple
        ``(label, known, loss, slack, completed, found, value, scale, exact)``. Labels (n_rows,)
        that are true, -1 where they are not known; a `NodeLoss` of the states that agree with
        them, and one whose truth is `completed`, or None for completions alone; the number of
        candidates for slack rescaling, 0 for margin rescaling. Then what is written: the labels,
        completed by the best ones (n_rows,); those that violate most; hinges (n_blocks,), -inf
        where the completed labels are forbidden; factors of their gradients; and whether both
        maxima are certain.
    """
    cdef const int32_t[::1] label = out[0]
    cdef NodeLoss known = out[1], loss = out[2]
    cdef bint has_loss = loss is not None, slack = out[3] > 0, certain
    cdef int32_t[::1] completed = out[4], found = out[5]
    cdef double[::1] value = out[6], scale = out[7], theta = given.begin()
    cdef unsigned char[::1] exact = out[8]
    cdef Structure structure = given.structure
    cdef int32_t[::1] index = np.empty(structure.max_support + 1, dtype=np.int32)
    cdef double[::1] sign = np.empty(structure.max_support + 1)
    cdef double[::1] h = np.empty(out[3]), g = np.empty(out[3])
    cdef Py_ssize_t i, t, c, best, n_known, n_wrong
    cdef int32_t* truth
    cdef int32_t* labels
    cdef double more
    cdef Block b
    with nogil:
        for i in range(start, stop):
            if not given.map.count(i):
                continue
            given.load(i, &theta[0], &b)
            truth, labels = &completed[b.first], &found[b.first]
            n_known, certain = 0, True
            for t in range(b.n):
                n_known += label[b.first + t] >= 0
                truth[t] = max(label[b.first + t], 0)
            if n_known < b.n:
                structure.best(&b, known, 0.0, truth)
                certain = structure.excess == 0.0
            # where nothing is allowed any labelling may be found
            n_wrong = 0
            for t in range(b.n):
                n_wrong += label[b.first + t] >= 0 and truth[t] != label[b.first + t]
            if n_wrong or not structure.score(&b, truth) > -INFINITY:
                value[i] = -INFINITY
                continue
            if not has_loss:
                continue
            memcpy(labels, truth, b.n * sizeof(int32_t))
            if slack:
                best, more = 0, 0.0
                for c in range(structure.candidates(&b, loss, &h[0], &g[0])):
                    if g[c] * (1.0 + h[c]) > more:
                        best, more = c, g[c] * (1.0 + h[c])
                scale[i] = g[best]
                if best:
                    structure.take(&b, loss, best, labels)
            else:
                structure.best(&b, loss, 1.0, labels)
                certain = certain and structure.excess == 0.0
            exact[i] = certain
            more = 0.0
            # equal terms cancel to the last bit
            for t in range(structure.plane(&b, truth, labels, &index[0], &sign[0])):
                more -= sign[t] * theta[index[t]]
            if slack:
                value[i] = max(scale[i] * (1.0 + more), 0.0)
            else:
                value[i] = max(structure.loss_of(&b, loss, labels) + more, 0.0)
