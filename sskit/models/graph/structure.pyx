"""Graphs and trees: labellings of the nodes of any graph, and the oracles that find the best."""

import numpy as np

from sskit.models.features import value_digests
from sskit.oracles.tree.choice import ORACLES

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.checks cimport all_below
from sskit.models.features cimport are_modest
from sskit.oracles.graph.cut cimport Cut, leave_cut, take_cut
from sskit.oracles.graph.potentials cimport (
    GraphOracle, labelling_score, nodes_alone, size_of, table_of
)
from sskit.oracles.tree.max_sum cimport TreeOracle


EMPTY = tuple([np.empty(0, dtype=kind) for kind in ("i4", "f8", "i4", "f4", "i8")])


cdef class GraphStructure(Structure):
    """Labellings of graphs, each of which has an oracle.

    Potentials are those of a `FeatureMap` that has edges, whose columns are those of a `PairForm`.
    A node without a label has no edges and keeps the state 0.

    Parameters
    ----------
    map : FeatureMap
        Where the potentials are.
    form : PairForm
        How the potentials of an edge make a table of pairs.
    ends : ndarray of shape (n_edges, 2), int32
        The two nodes of the edges of all graphs, counted in their graph.
    edges : tuple of two ndarray of shape (n_blocks,), int64
        Where the edges of each graph begin, and where they end.
    kinds : sequence of str
        Names of the oracles that find labellings.
    choice : ndarray of shape (n_blocks,), int8
        The number of the oracle of each graph.
    topologies : Topologies, default=None
        What follows from the edges; None: the oracles make what they need.
    table : ndarray of shape (n_edges,), int32, default=None
        Which row of edge features of its graph an edge has; None: each has its own.
    allowed_pairs : ndarray of shape (K, K), bool, default=None
        Which states may stand at both ends of an edge; only of the form of all pairs. None: all.
    marginals : bool, default=False
        Whether max-marginals are exact, as a single oracle for trees or cuts finds them. Else they
        are the scores of the best labelling with the state of one node replaced.
    **more : object
        For subclasses.
    """

    def __cinit__(self, FeatureMap map, PairForm form, ends, edges, kinds, choice, *,
                  Topologies topologies=None, table=None, allowed_pairs=None,
                  bint marginals=False, **more):
        cdef GraphOracle oracle
        self.map, self.form, self.ends, (self.edge_first, self.edge_stop) = map, form, ends, edges
        self.oracles = tuple([ORACLES[name]() for name in kinds])
        self.choice, self.marginals_are_true = choice, marginals
        self.topologies = topologies
        self.table, self.forbidden, self.last, self.messages, self.message_offset = EMPTY
        if table is not None:
            self.table = table
        if allowed_pairs is not None:
            self.forbidden = np.where(allowed_pairs, 0.0, -np.inf).ravel()
        self.costly = self.bounds = self.takes_turns = True
        self.work = 1.0 if set(kinds) <= {"tree"} else 3.0  # see the benchmarks, "Stored passes"
        for oracle in self.oracles:
            self.oracle_of.push_back(<void*>oracle)
            self.exact = self.exact and oracle.exact
            self.lock_free = self.lock_free and oracle.lock_free
            self.takes_turns = self.takes_turns and (oracle.lock_free or oracle.takes_turns)
            self.bounds = self.bounds and (oracle.exact or oracle.bounds)
        self.bounds = self.bounds and not self.exact
        self.takes_turns = self.takes_turns and not self.lock_free
        self.pair_width = map.edge_stride
        if map.head_rows:
            self.pair_width = map.node_base // map.head_rows
        self.max_code_length = map.longest
        self.max_support = 2 * (map.longest + np.max(edges[1] - edges[0], initial=0))

    def arrange(self):
        """Make what oracles read of the edges, or raise ValueError naming the graph."""
        if self.topologies is not None:
            self.topologies.arrange(self.oracles, self.choice, self.form.n_states)

    def remember(self, Py_ssize_t most):
        """Keep the last labellings, and messages: of as many graphs as so many floats allow."""
        keeps = np.array([oracle.keeps_messages for oracle in self.oracles])
        size = np.subtract(self.edge_stop, self.edge_first) * self.form.n_states
        size *= keeps[np.asarray(self.choice)]
        total = np.cumsum(size)
        stored = (size > 0) & (total <= most)
        self.last = np.full(self.map.nodes[self.map.n_blocks], -1, dtype=np.int32)
        self.messages = np.zeros(total[stored].max(initial=1), dtype=np.float32)
        self.message_offset = np.where(stored, total - size, -1)

    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        return all_below(code, b.n, self.form.n_states)

    cdef int load(self, const Block* b, Potentials* p) except -1 nogil:
        cdef Py_ssize_t first = self.edge_first[b.i]
        p.n_nodes, p.n_edges = b.n, self.edge_stop[b.i] - first
        p.stride, p.node = self.map.stride, b.theta + self.map.node_base
        p.pair, p.width = b.theta + self.pair_base(b.i), self.pair_width
        p.n_tables = self.map.n_edges(b.i)
        if self.map.head_rows:
            p.n_tables = self.map.head_rows if p.n_edges else 0
        p.ends = &self.ends[first, 0] if p.n_edges else NULL
        p.table = &self.table[first] if p.n_edges and self.table.shape[0] else NULL
        self.form.write(p)
        p.topology = NULL
        return 0

    cdef int prepare(self, const Block* b, Potentials* p) except -1 nogil:
        cdef Py_ssize_t e, k
        if self.topologies is not None:
            p.topology = self.topologies.at(b.i)
        if self.forbidden.shape[0]:
            self.pairs.resize(p.n_tables * p.width + 1)
            for e in range(p.n_tables):
                for k in range(self.forbidden.shape[0]):
                    self.pairs[e * p.width + k] = p.pair[e * p.width + k] + self.forbidden[k]
            p.pair = self.pairs.data()
        return 0

    cdef double* copy_nodes(self, Potentials* p) except NULL nogil:
        if p.node != self.nodes.data():
            self.nodes.resize(p.n_nodes * p.stride)
            memcpy(self.nodes.data(), p.node, p.n_nodes * p.stride * sizeof(double))
            p.node = self.nodes.data()
        return self.nodes.data()

    cdef int make_finite(self, Potentials* p) except -1 nogil:
        cdef Py_ssize_t v, k
        cdef double* node = NULL
        cdef double never = 0.0
        cdef bint _forbids
        for v in range(p.n_nodes):
            for k in range(p.n_states):
                if p.node[v * p.stride + k] == -INFINITY:
                    if node == NULL:
                        # less than the difference of the scores of any two labellings
                        node, never = self.copy_nodes(p), -1.0 - 2.0 * size_of(p, &_forbids)
                    node[v * p.stride + k] = never
        return 0

    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        cdef Potentials p
        self.load(b, &p)
        if weight != 0.0 or loss.has_masks:
            loss.add(b.first, b.n, weight, self.copy_nodes(&p), p.stride)
        return self.find(b, &p, &loss.truth[b.first] if weight > 0.0 else NULL, code)

    cdef int find(
        self, const Block* b, Potentials* p, const int32_t* truth, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t k = self.choice[b.i]
        cdef int32_t* last = &self.last[b.first] if self.last.shape[0] else NULL
        cdef float* messages = NULL
        self.excess = 0.0
        self.prepare(b, p)
        if (<GraphOracle>self.oracle_of[k]).needs_finite:
            self.make_finite(p)
        if (<GraphOracle>self.oracle_of[k]).exact:
            return (<GraphOracle>self.oracle_of[k]).improve(p, code, NULL)
        nodes_alone(p, code)
        take_better(p, truth, code)
        if last != NULL and last[0] >= 0:
            take_better(p, last, code)
        if last != NULL and self.message_offset[b.i] >= 0:
            messages = &self.messages[self.message_offset[b.i]]
        self.run_oracle(k, p, code, messages)
        if last != NULL:
            memcpy(last, code, p.n_nodes * sizeof(int32_t))
        return 0

    cdef int run_oracle(
        self, Py_ssize_t k, const Potentials* p, int32_t* labels, float* messages
    ) except -1 nogil:
        self.excess = 0.0
        (<GraphOracle>self.oracle_of[k]).improve(p, labels, messages)
        if (<GraphOracle>self.oracle_of[k]).bounds:
            self.excess = max(
                (<GraphOracle>self.oracle_of[k]).bound - labelling_score(p, labels), 0.0
            )
        return 0

    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil:
        cdef Potentials p
        self.load(b, &p)
        return graph_plane(
            p, <int32_t>self.map.node_base, <int32_t>self.pair_base(b.i), truth, code, index, value
        )

    cdef double score(self, const Block* b, const int32_t* code) except? -1 nogil:
        cdef Potentials p
        self.load(b, &p)
        return labelling_score(&p, code)

    def prepare_k_best(self, Py_ssize_t k):
        """Make room for k labellings, or for all of the largest tree if these are fewer."""
        return min(k, self.form.n_states ** min(self.map.longest, int(k).bit_length()))

    cdef Py_ssize_t k_best(
        self, const Block* b, Py_ssize_t k, int32_t* codes, double* scores
    ) except -1 nogil:
        cdef Potentials p
        self.load(b, &p)
        self.prepare(b, &p)
        return (<TreeOracle>self.oracle_of[0]).of(&p).k_best(k, codes, scores)

    cdef int max_marginals(self, const Block* b, double* out) except -1 nogil:
        cdef Potentials p
        self.load(b, &p)
        if not self.marginals_are_true:
            return self.put_in(b, &p, out)
        self.prepare(b, &p)
        if (<GraphOracle>self.oracle_of[0]).needs_finite:
            with gil:
                return self.cut_marginals(&p, out)
        (<TreeOracle>self.oracle_of[0]).of(&p).max_marginals(out)
        return 0

    cdef int cut_marginals(self, Potentials* p, double* out) except -1:
        cdef Cut cut = self.oracles[0]
        cdef const double* node = p.node
        cdef Py_ssize_t k
        self.make_finite(p)
        cut.marginals(p, out)
        for k in range(p.n_nodes * p.stride):
            if node[k] == -INFINITY:
                out[k] = -INFINITY
        return 0

    cdef int put_in(self, const Block* b, Potentials* p, double* out) except -1 nogil:
        cdef const double* node = p.node
        self.labels.resize(p.n_nodes)
        self.find(b, p, NULL, self.labels.data())
        p.node = node
        put_in_each(p[0], self.labels.data(), out)
        return 0

    cdef double marginals(self, const Block* b, double* nodes, double* pairs) except? -1 nogil:
        cdef Potentials p
        cdef Py_ssize_t K = self.form.n_states, stride = self.map.stride, e, place
        cdef int32_t a, c
        cdef double log_sum
        cdef double* counts = NULL
        self.load(b, &p)
        self.prepare(b, &p)
        if nodes == NULL:
            self.nodes.resize(b.n * stride)
            nodes = self.nodes.data()
        if pairs != NULL:
            self.counts.refill(p.n_edges * K * stride + 1, 0.0)
            counts = self.counts.data()
        log_sum = (<TreeOracle>self.oracle_of[self.choice[b.i]]).of(&p).infer(nodes, counts)
        for e in range(p.n_edges if pairs != NULL and log_sum != -INFINITY else 0):
            place = self.pair_base(b.i) + table_of(&p, e) * p.width
            for a in range(K):
                for c in range(K):
                    if a == c or not p.potts:  # which count where states agree
                        pairs[place + self.form.column[a, c]] += counts[(e * K + a) * stride + c]
        return log_sum

    cdef Py_ssize_t statistics(
        self, const Block* b, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef Potentials p
        cdef Py_ssize_t e, n = b.n, place
        cdef int32_t u, v
        self.load(b, &p)
        for e in range(b.n):
            index[e] = <int32_t>(self.map.node_base + e * p.stride + code[e])
        for e in range(p.n_edges):
            u, v = code[p.ends[2 * e]], code[p.ends[2 * e + 1]]
            if p.potts and u != v:
                continue
            place = self.pair_base(b.i) + table_of(&p, e) * p.width
            index[n] = <int32_t>(place if p.potts else place + self.form.column[u, v])
            n += 1
        for e in range(n):
            value[e] = 1.0
        return n

    cpdef Structure fork(self):
        cdef GraphStructure other = Structure.fork(self)
        other.last, other.messages = self.last, self.messages
        other.message_offset = self.message_offset
        return other

    def digest(self):
        """Return what distinguishes structures."""
        return {
            "the model": "graph",
            "the form of the pairs": self.form.width,
            "allowed_pairs": bytes(self.forbidden),
        }

    def digests(self):
        """Return a key of the graphs: their edges, and which edges have one table."""
        edges = np.append(self.edge_first, self.edge_stop[-1:])
        out = {"the edges of X": value_digests(np.ravel(self.ends), 2 * edges)}
        if len(self.table):
            out["the kinds of the edges of X"] = value_digests(self.table, edges)
        return out


# labels become those of another labelling, unless NULL, if it scores more
cdef void take_better(const Potentials* p, const int32_t* other, int32_t* labels) noexcept nogil:
    if other != NULL and labelling_score(p, other) > labelling_score(p, labels):
        memcpy(labels, other, p.n_nodes * sizeof(int32_t))


cdef PairForm POTTS = PairForm(2, "potts")


def cut_single(features, const int32_t[:, ::1] ends, edge_features, coef, pairs):
    """Return the best labelling of one graph with two states and Potts potentials.

    This is the most frequent request: a map, a structure and a request take longer to make than
    the cut.

    Parameters
    ----------
    features : ndarray of shape (n_nodes, p), float64
        Features of the nodes.
    ends : ndarray of shape (n_edges, 2), int32
        The two nodes of each edge; there is one.
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
        overflow: the caller that takes all graphs raises the error.
    """
    cdef const double[:, ::1] node = features.dot(np.asarray(coef, dtype=np.float64).T)
    cdef const double[::1] pair = edge_features.dot(np.asarray(pairs, dtype=np.float64))
    cdef const double[:, ::1] edge_values = edge_features
    cdef Py_ssize_t e, k
    cdef bint sound = are_modest(&node[0, 0], 2 * node.shape[0]) and are_modest(&pair[0], len(pair))
    for e in range(edge_values.shape[0]):
        for k in range(edge_values.shape[1]):
            sound &= edge_values[e, k] >= 0.0
    if not sound:
        return None
    cdef Potentials p
    cdef Cut cut
    POTTS.write(&p)
    p.n_nodes, p.n_edges, p.n_tables = node.shape[0], ends.shape[0], ends.shape[0]
    p.stride, p.width, p.node, p.pair, p.ends = 2, 1, &node[0, 0], &pair[0], &ends[0, 0]
    p.table = NULL
    p.topology = NULL
    labels = np.empty(p.n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    cut = take_cut()
    cut.improve(&p, &out[0], NULL)
    leave_cut(cut)
    return labels
