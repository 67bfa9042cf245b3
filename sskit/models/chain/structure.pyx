"""Linear chains: labellings of a sequence, with tables for edges and three labels in a row."""

import numpy as np

from sskit.models.integer_losses import integer_losses

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from sskit.core.checks cimport all_below
from sskit.core.coded_planes cimport CodedPlanes
from sskit.core.decomposition cimport Factors
from sskit.core.direction cimport Direction
from sskit.core.lanes cimport padded
from sskit.core.vectors cimport Scratch
from sskit.models.feature_map cimport FeatureMap, score_rows
from sskit.models.rows cimport Rows, add_products, add_row, dot_row
from sskit.models.structure cimport Block, NodeLoss, Structure, StructuredProblem
from sskit.oracles.chain.viterbi cimport Beam, Chain, ChainOracle, LossIndexed, chain_score

cdef extern from "coded_chains.hpp" namespace "sskit" nogil:
    cdef struct ChainPotentials:
        const double* node
        const double* table
        Py_ssize_t stride
        Py_ssize_t table_stride
    void subtract_chains(
        const ChainPotentials& p, const int32_t* truth, const int32_t* labels, Py_ssize_t T,
        Py_ssize_t n, double* out
    )
    void mark_differences(
        const int32_t* truth, const int32_t* labels, Py_ssize_t T, Py_ssize_t n, int32_t* marks
    )


cdef class ChainStructure(Structure):
    """Labellings of linear chains.

    Potentials are those of a `FeatureMap` whose head is the table of transitions, whose edges, if
    there are some, have tables of their own, and whose tail, if there is one, is a table of three
    labels in a row.

    Parameters
    ----------
    map : FeatureMap
        Where the potentials are.
    beam_size : int, default=None
        Number of states that are kept at each node; None keeps all.
    """

    cdef FeatureMap map
    cdef readonly Py_ssize_t n_states
    cdef Py_ssize_t stride
    cdef Py_ssize_t triples                  # where their potentials begin; 0: there are none
    cdef bint has_tables
    cdef object beam_size
    # scratch
    cdef Beam beam
    cdef Scratch[double] nodes               # potentials of nodes with losses
    cdef Scratch[size_t] pointers            # (longest,) tables of the steps
    cdef LossIndexed programme
    cdef const int32_t[::1] levels           # (n_nodes,) cost of a wrong label, in units
    cdef const double[::1] unit              # (n_blocks,)
    cdef ChainOracle oracle

    def __cinit__(self, FeatureMap map, beam_size=None):
        cdef Py_ssize_t longest = max(map.longest, 1)
        self.map, self.beam_size = map, beam_size
        self.n_states, self.stride = map.n_columns, map.stride
        self.has_tables = map.edge_pairs
        self.levels = self.unit = None
        self.triples = map.tail_base if map.tail_rows else 0
        self.max_code_length = longest
        self.max_support = (6 if self.triples else 4) * longest
        if beam_size is not None and beam_size < self.n_states and not self.triples:
            self.beam = Beam(longest, self.n_states, <Py_ssize_t>beam_size)
        self.pointers.resize(longest if self.has_tables else 0)

    cdef const double** tables(self, const Block* b) noexcept nogil:
        cdef Py_ssize_t e
        cdef const double** out = <const double**>self.pointers.data()
        if not self.has_tables:
            return NULL
        for e in range(b.n - 1):
            out[e] = b.theta + self.map.edge_table(b.i, e)
        return out

    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        return all_below(code, b.n, self.n_states)

    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        cdef const double* node = b.theta + self.map.node_base
        cdef const double* cost = NULL
        cdef const int32_t* truth = NULL
        cdef Chain c
        if loss.is_bonus:
            truth, cost = &loss.truth[b.first], &loss.cost[b.first]
        elif weight != 0.0 or loss.has_masks:
            self.nodes.resize(b.n * self.stride)
            memcpy(self.nodes.data(), node, b.n * self.stride * sizeof(double))
            loss.add(b.first, b.n, weight, self.nodes.data(), self.stride)
            node = self.nodes.data()
        c = self.chain(b, node)
        # a beam may have lost all labellings that are allowed
        if not self.beam.size or self.beam.decode(c, code) == -INFINITY:
            self.oracle.best(c, truth, cost, weight, code)
        return 0

    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil:
        cdef int32_t stride = <int32_t>self.stride, node = <int32_t>self.map.node_base, table = 0
        cdef int32_t triples = <int32_t>self.triples, K = <int32_t>self.n_states
        cdef Py_ssize_t t, n, differs, differed = code[0] != truth[0], n_nodes = b.n
        cdef bint has_tables = self.has_tables
        # Every entry is written, and counted only if the labels differ there: branches would be
        # mispredicted too often.
        index[0], index[1] = node + truth[0], node + code[0]
        value[0], value[1] = 1.0, -1.0
        n = 2 * differed
        for t in range(1, n_nodes):
            node += stride
            differs = code[t] != truth[t]
            index[n], index[n + 1] = node + truth[t], node + code[t]
            value[n], value[n + 1] = 1.0, -1.0
            n += 2 * differs
            if has_tables:
                table = <int32_t>self.map.edge_table(b.i, t - 1)
            index[n] = table + truth[t - 1] * stride + truth[t]
            index[n + 1] = table + code[t - 1] * stride + code[t]
            value[n], value[n + 1] = 1.0, -1.0
            n += 2 * (differs | differed)
            differed = differs
        for t in range(2, n_nodes if triples else 0):
            if code[t] == truth[t] and code[t - 1] == truth[t - 1] and code[t - 2] == truth[t - 2]:
                continue
            index[n] = triples + (truth[t - 2] * K + truth[t - 1]) * stride + truth[t]
            index[n + 1] = triples + (code[t - 2] * K + code[t - 1]) * stride + code[t]
            value[n], value[n + 1] = 1.0, -1.0
            n += 2
        return n

    cdef Py_ssize_t candidates(
        self, const Block* b, NodeLoss loss, double* h, double* g
    ) except -1 nogil:
        cdef const int32_t* truth = &loss.truth[b.first]
        cdef Py_ssize_t e
        cdef Py_ssize_t n_units = self.programme.solve(self.chain(b), truth, &self.levels[b.first])
        cdef double right = self.score(b, truth)
        for e in range(n_units + 1):
            h[e], g[e] = self.programme.best[e] - right, e * self.unit[b.i]
        return n_units + 1

    cdef int take(
        self, const Block* b, NodeLoss loss, Py_ssize_t candidate, int32_t* code
    ) except -1 nogil:
        self.programme.labelling(
            self.chain(b), &loss.truth[b.first], &self.levels[b.first], candidate, code
        )
        return 0

    def n_candidates(self, NodeLoss loss):
        """Return the largest number of units of a loss, and one more, if losses are counts."""
        counts = None
        if loss.is_bonus and not self.triples:
            cost, nodes = np.asarray(loss.cost), np.asarray(self.map.nodes)
            counts = integer_losses(cost, nodes, self.n_states)
        return 0 if counts is None else self.index_losses(*counts)

    def index_losses(self, levels, unit, most):
        """Take the losses of candidates; return how many of these there can be.

        Parameters
        ----------
        levels : ndarray of shape (n_nodes,), int32
            Loss of a wrong state at each node, in units.
        unit : ndarray of shape (n_blocks,)
            The unit of a chain.
        most : int
            The largest loss of a chain, in units.
        """
        self.levels, self.unit = levels, unit
        return most + 1

    # of the potentials of a block, or of others of its nodes
    cdef Chain chain(self, const Block* b, const double* node=NULL) noexcept nogil:
        cdef const double* triples = NULL
        if node == NULL:
            node = b.theta + self.map.node_base
        if self.triples:
            triples = b.theta + self.triples
        return Chain(node, b.theta, self.tables(b), b.n, self.n_states, triples)

    def prepare_k_best(self, Py_ssize_t k):
        """Return k, or the number of labellings of the longest sequence if that is smaller."""
        return min(k, self.n_states ** min(self.max_code_length, int(k).bit_length()))

    cdef Py_ssize_t k_best(
        self, const Block* b, Py_ssize_t k, int32_t* codes, double* scores
    ) except -1 nogil:
        return self.oracle.k_best(self.chain(b), k, codes, scores)

    def prepare_marginals(self, const double[::1] theta):
        """Transpose the tables that are the same for all blocks."""
        cdef Block b
        b.i, b.n, b.theta = 0, 0, &theta[0]
        self.oracle.begin(self.chain(&b))

    cdef void change_tables(self, const Block* b) noexcept nogil:
        self.oracle.begin(self.chain(b))

    cdef int max_marginals(self, const Block* b, double* out) except -1 nogil:
        self.oracle.max_marginals(self.chain(b), out)
        return 0

    cdef double marginals(self, const Block* b, double* nodes, double* pairs) except? -1 nogil:
        cdef Py_ssize_t place = 0, step = 0
        cdef double* triples = NULL
        cdef double log_sum = self.oracle.forward(self.chain(b))
        if log_sum == -INFINITY or nodes == NULL:
            return log_sum
        if self.has_tables:
            place, step = self.map.edge_base(b.i), self.n_states * self.stride
        if pairs != NULL:
            if self.triples:
                triples = pairs + self.triples
            pairs += place
        self.oracle.backward(nodes, pairs, step, triples, 0)
        return log_sum

    cdef Py_ssize_t statistics(
        self, const Block* b, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef Py_ssize_t t, n = 0, table = 0
        for t in range(b.n):
            index[n] = <int32_t>(self.map.node_base + t * self.stride + code[t])
            n += 1
            if t and self.has_tables:
                table = self.map.edge_table(b.i, t - 1)
            if t:
                index[n] = <int32_t>(table + code[t - 1] * self.stride + code[t])
                n += 1
            if t > 1 and self.triples:
                index[n] = <int32_t>(
                    self.triples + (code[t - 2] * self.n_states + code[t - 1]) * self.stride
                    + code[t]
                )
                n += 1
        for t in range(n):
            value[t] = 1.0
        return n

    cdef int sample(self, const Block* b, const double* uniform, int32_t* code) except -1 nogil:
        self.oracle.sample(uniform, code)
        return 0

    cdef double score(self, const Block* b, const int32_t* code) except? -1 nogil:
        return chain_score(self.chain(b), code)

    cpdef Structure fork(self):
        cdef ChainStructure other = Structure.fork(self)
        other.unit, other.levels = self.unit, self.levels
        return other

    def bound_to(self, map):
        """Return the same structure for other sequences."""
        return ChainStructure(map, self.beam_size)

    def decomposition(self, StructuredProblem problem):
        """Return the nodes and pairs of neighbours of all sequences, as `ChainFactors`.

        None if the loss of a node is not one cost, in a kernel space, and if three labels in a row
        have weights: the factors are nodes and pairs.
        """
        if self.triples or not problem.loss.is_bonus or problem.space.is_kernel_space:
            return None
        return ChainFactors(problem.map, problem.loss, problem.block_weight)

    def coded_planes(self, StructuredProblem problem):
        """Return products of planes by labels.

        None if edges have tables of their own, with three labels in a row, and in a kernel space.
        """
        if self.triples or self.has_tables or problem.space.is_kernel_space:
            return None
        return CodedChains(problem)


cdef class CodedChains(CodedPlanes):
    """Products of planes of chains of the first order with the same table for all steps.

    Parameters
    ----------
    problem : StructuredProblem
        Of such chains.
    """

    cdef FeatureMap map
    cdef NodeLoss loss
    cdef ChainPotentials taken
    cdef Scratch[double] nodes               # rows of potentials
    cdef Scratch[int32_t] marks              # (longest,) other than zero: planes read the node

    def __cinit__(self, StructuredProblem problem):
        cdef FeatureMap map = problem.map
        self.map, self.loss = map, problem.loss
        self.nodes.resize(max(map.longest, 1) * map.stride)
        self.marks.resize(max(map.longest, 1))
        self.taken.stride = map.stride

    cdef int take_scores(
        self, Py_ssize_t i, const double* w, const double* theta, const int32_t* codes,
        Py_ssize_t n
    ) except -1 nogil:
        cdef Py_ssize_t T = self.map.count(i), start, stop = 0
        if theta != NULL:
            self.taken.node, self.taken.table = theta + self.map.node_base, theta
            self.taken.table_stride = self.map.stride
            return 0
        self.taken.node, self.taken.table = self.nodes.data(), w + self.map.head_weights
        self.taken.table_stride = self.map.n_columns
        mark_differences(
            &self.loss.truth[self.map.nodes[i]], codes, T, n, self.marks.data()
        )
        while stop < T:
            start = stop
            stop += 1
            if not self.marks.data()[start]:
                continue
            while stop < T and self.marks.data()[stop]:
                stop += 1
            score_rows(
                &self.map.rows, self.map.first_row(i) + start, stop - start, w, self.map.n_columns,
                self.nodes.data() + start * self.map.stride, self.map.stride
            )
        return 0

    cdef int take_products(
        self, Py_ssize_t i, Direction delta, const int32_t* codes, Py_ssize_t n
    ) except -1 nogil:
        cdef Py_ssize_t T = self.map.count(i), stride = self.map.stride, t, n_active
        cdef const double* direction = &delta.value[self.map.node_base]
        cdef double* row = self.nodes.data()
        cdef bint by_gram
        self.taken.node, self.taken.table = row, &delta.value[0]
        self.taken.table_stride = stride
        if self.map.is_single:
            for t in range(self.map.n_columns):
                row[t] = self.map.row_sqnorm[i] * direction[t]
            return 0
        mark_differences(
            &self.loss.truth[self.map.nodes[i]], codes, T, n, self.marks.data()
        )
        by_gram = self.map.grams.has(i)
        n_active = self.map.find_active(i, delta)
        if not by_gram:
            self.map.add_node_image(i, delta)
        for t in range(T):
            if not self.marks.data()[t]:
                continue
            if by_gram:
                self.map.grams.row_of(
                    i, t, &self.map.active[0], n_active, direction, stride, row + t * stride
                )
            else:
                score_rows(
                    &self.map.rows, self.map.first_row(i) + t, 1, &self.map.image[0],
                    self.map.n_columns, row + t * stride, stride
                )
        if not by_gram:
            self.map.take_node_image(i, delta)
        return 0

    cdef void subtract(
        self, Py_ssize_t i, const int32_t* codes, Py_ssize_t n, double* out
    ) noexcept nogil:
        subtract_chains(
            self.taken, &self.loss.truth[self.map.nodes[i]], codes, self.map.count(i), n, out
        )


cdef class ChainFactors(Factors):
    """Nodes and pairs of neighbours of linear chains; weights as in the `FeatureMap`.

    Edge e of sequence i leads from node e + i to the next one: sequences have an edge less than
    nodes.

    Parameters
    ----------
    map : FeatureMap
        Of chains.
    loss : NodeLoss
        One cost at each node.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the sequences, summing to one.
    """

    cdef FeatureMap map
    cdef double[::1] row_sqnorm              # (n_nodes,) of the features of a node
    cdef double[::1] edge_row_sqnorm         # (n_edges,) likewise
    cdef bint free                           # is nothing forbidden?

    def __cinit__(self, FeatureMap map, NodeLoss loss, double[::1] block_weight):
        features = map.features
        self.map, self.block_weight = map, block_weight
        self.truth, self.cost, self.first_node = loss.truth, loss.cost, map.nodes
        self.n_states, self.n_blocks, self.n_weights = map.n_columns, map.n_blocks, map.n_weights
        self.n_nodes, self.n_edges = features.n_rows, features.n_rows - map.n_blocks
        self.first_edge = np.asarray(map.nodes) - np.arange(map.n_blocks + 1, dtype=np.int64)
        nodes = np.arange(map.longest + 1, dtype=np.int32)
        self.ends = np.column_stack([nodes[:-1], nodes[1:]])
        self.n_terms = features.n_entries / max(self.n_nodes, 1)
        self.forest = True
        self.free = map.mask == NULL
        self.pair_weights = map.head_weights if self.free and not map.edge_pairs else -1
        self.row_sqnorm = features.sqnorms()
        self.edge_row_sqnorm = map.edge_features.sqnorms() if map.edge_pairs else np.zeros(0)

    # 0 or -inf
    cdef double mask(self, Py_ssize_t i, Py_ssize_t j, Py_ssize_t y) noexcept nogil:
        cdef double total = 0.0
        if j == self.map.nodes[i] and self.map.first_mask != NULL:
            total += self.map.first_mask[y]
        if j == self.map.nodes[i + 1] - 1 and self.map.last_mask != NULL:
            total += self.map.last_mask[y]
        return total

    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil:
        cdef Py_ssize_t y, n_states = self.n_states
        cdef const Rows* rows = &self.map.rows
        if stop - start == n_states:
            score_rows(rows, j, 1, w, n_states, out, padded(n_states))
        else:
            memset(out + start, 0, (stop - start) * sizeof(double))
            add_products(rows, j, w + start, n_states, stop - start, out + start)
        if not self.free and (j == self.map.nodes[i] or j == self.map.nodes[i + 1] - 1):
            for y in range(start, stop):
                out[y] += self.mask(i, j, y)
        return 0

    cdef void edge_scores(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* out
    ) noexcept nogil:
        cdef Py_ssize_t b
        memcpy(out, w + self.map.head_weights + a * self.n_states, self.n_states * sizeof(double))
        if self.map.edge_pairs:
            add_products(
                &self.map.edge_rows, e, w + self.map.edge_weights + a * self.n_states,
                self.map.edge_columns, self.n_states, out
            )
        if not self.free:
            for b in range(self.n_states):
                out[b] += self.map.mask[a * self.map.stride + b]

    cdef double score(
        self, Py_ssize_t i, Py_ssize_t f, const int32_t* s, const double* w
    ) noexcept nogil:
        cdef Py_ssize_t a = s[0], b = s[1], pair = a * self.n_states + b
        cdef double score
        if f < self.n_nodes:
            score = dot_row(&self.map.rows, f, w + a, self.n_states)
            return score if self.free else score + self.mask(i, f, a)
        score = w[self.map.head_weights + pair]
        if self.map.edge_pairs:
            score += dot_row(
                &self.map.edge_rows, f - self.n_nodes,
                w + self.map.edge_weights + pair, self.map.edge_columns
            )
        # a pair that is forbidden is no truth and is never found, but may be evaluated
        return score if self.free else score + self.map.mask[a * self.map.stride + b]

    cdef double sqnorm(self, Py_ssize_t i, Py_ssize_t f, const int32_t* s) noexcept nogil:
        cdef Py_ssize_t e = f - self.n_nodes
        if e < 0:
            return self.row_sqnorm[f]
        return 1.0 + (self.edge_row_sqnorm[e] if self.map.edge_pairs else 0.0)

    cdef void scatter(
        self, Py_ssize_t i, Py_ssize_t f, const int32_t* s, double step, double* w
    ) noexcept nogil:
        cdef Py_ssize_t pair = s[0] * self.n_states + s[1]
        if f < self.n_nodes:
            add_row(&self.map.rows, f, step, w + s[0], self.n_states)
            return
        w[self.map.head_weights + pair] += step
        if self.map.edge_pairs:
            add_row(
                &self.map.edge_rows, f - self.n_nodes, step,
                w + self.map.edge_weights + pair, self.map.edge_columns
            )
