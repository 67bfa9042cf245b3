"""The chain model with features of edges: bound to data, and sequences that are to be labelled."""

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.models.features import make_grams, no_grams, row_digests

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.direction cimport Direction
from sskit.core.lanes cimport LANES, prefetch_memory
from sskit.core.problem cimport Problem
from sskit.core.vectors cimport Scratch
from sskit.models.chain.problem cimport ChainFactors, ChainProblem
from sskit.models.chain.request cimport ChainRequest
from sskit.models.features cimport (
    FeatureRows, SequenceGrams, active_rows, are_modest, grow, score_rows
)
from sskit.models.rows cimport Rows, add_row, clip_rows, dot_row

MOST_STATISTICS = 2**31 - 1

cdef extern from "edge_tables.hpp" namespace "sskit":
    # The first of the last features whose tables of `size` weights cannot be read in whole vectors
    # where they lie, as numbers behind the last one would be read too.
    Py_ssize_t late_feature(Py_ssize_t n_features, Py_ssize_t size) noexcept nogil
    # does row t have no entries? Dense rows have.
    bint is_bare(const Rows* rows, Py_ssize_t t) noexcept nogil
    # <row s, row t>
    double row_inner(const Rows* rows, Py_ssize_t s, Py_ssize_t t) noexcept nogil
    # weights += step * row t, the weight of feature f at weights[f * stride]; returns by how much
    # the squared norm of the weights grows
    double add_growing(
        const Rows* rows, Py_ssize_t t, double step, double* weights, Py_ssize_t stride
    ) noexcept nogil
    # weights = value clipped to [lower, upper] at the features of row t, placed likewise
    void clip_edge(
        const Rows* rows, Py_ssize_t t, const double* value, const double* lower,
        const double* upper, double* weights, Py_ssize_t stride
    ) noexcept nogil
    # out[b] += sum over the entries (f, x) of row t of x * weights[f * stride + b], b < n_states
    void add_edge_row(
        const Rows* rows, Py_ssize_t t, const double* weights, Py_ssize_t stride,
        Py_ssize_t n_states, double* out
    ) noexcept nogil
    # entries of row t: how many, and the column of entry j
    Py_ssize_t count_entries(const Rows* rows, Py_ssize_t t) noexcept nogil
    Py_ssize_t column_at(const Rows* rows, Py_ssize_t t, Py_ssize_t j) noexcept nogil
    # out = base + sum over the entries (j, x) of row t of x * (weights of feature j). Tables have
    # rows of padded(n_states) numbers, those of weights rows of n_states; weights from the
    # late_feature on are read at `end`, where LANES numbers behind them can be read. The padding of
    # out is arbitrary.
    void edge_table(
        const Rows* rows, Py_ssize_t t, const double* base, const double* weights,
        const double* end, Py_ssize_t n_states, double* out
    ) noexcept nogil


cdef class EdgeChainProblem(ChainProblem):
    """Linear chains whose edges have features: statistics, potentials and weights.

    Edge e of a sequence leads from node e to the next one. If it has features, statistic
    (n_states + T + e * n_states + a) * stride + b, with T nodes, says that its transition is that
    from a to b; else the transition is counted where `ChainProblem` counts all of them. Statistics
    of nodes are those of `ChainProblem`. Potentials likewise: the table that edges without
    features share, nodes, and a table for each edge, of those without features not written.

    Weights, flat: those of `ChainProblem`, and (n_edge_features, n_states, n_states), so that the
    table of a feature is one stretch of memory.

    Parameters
    ----------
    features, offsets, n_states, labels, cost, block_weight : object
        As of `ChainProblem`.
    allowed, allowed_start, allowed_end : ndarray or None
        Likewise.
    edges : FeatureRows
        Features of all edges, sequence after sequence: one row less than nodes for each.
    """

    cdef FeatureRows edges
    cdef Py_ssize_t edge_weights             # where they begin
    cdef Py_ssize_t n_pairs                  # n_states^2: weights of a feature of edges
    cdef SequenceGrams edge_grams            # of blocks where they cost less than features
    # scratch
    cdef size_t[::1] pointers                # (longest,) see steps
    cdef double[::1] pair_total              # (n_states * stride,) zero between calls
    cdef int32_t[::1] chain_head             # (n_states * stride,) -1 between calls
    cdef Scratch[int32_t] chain_next         # by place in a direction

    def __cinit__(self, FeatureRows features, offsets, Py_ssize_t n_states, labels, cost,
                  block_weight, allowed, allowed_start, allowed_end, FeatureRows edges not None):
        longest = self.max_code_length
        self.edges, self.n_pairs = edges, n_states * n_states
        self.edge_weights = self.n_weights
        self.n_weights += edges.n_features * self.n_pairs
        self.max_statistics += (longest - 1) * n_states * self.stride
        if self.max_statistics > MOST_STATISTICS:
            raise ValueError(
                f"a sequence of {longest} tokens has too many tables of {n_states} labels: with "
                f"features of edges {MOST_STATISTICS // (n_states * self.stride)} tokens are "
                "possible"
            )
        self.edge_grams = no_grams(self.n_blocks)
        self.pointers = np.zeros(longest, dtype=np.uintp)
        self.pair_total = np.zeros(n_states * self.stride)
        self.chain_head = np.full(n_states * self.stride, -1, dtype=np.int32)

    def prepare_steps(self):
        """Compute what sqnorm needs: Gram matrices of all short enough blocks."""
        ChainProblem.prepare_steps(self)
        offsets = np.asarray(self.offsets)
        self.edge_grams = make_grams(self.edges, offsets - np.arange(len(offsets)), ends=0.0)

    # the row of edge e of block i
    cdef Py_ssize_t edge_row(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return self.offsets[i] - i + e

    # the first statistic of an edge of block i
    cdef Py_ssize_t edge_statistics(self, Py_ssize_t i) noexcept nogil:
        return (self.n_states + self.length(i)) * self.stride

    # <x_e, x_f>, of edges of block i
    cdef double edge_inner(self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t f) noexcept nogil:
        if self.edge_grams.has(i):
            return self.edge_grams.at(i, e, f)
        return row_inner(&self.edges.rows, self.edge_row(i, e), self.edge_row(i, f))

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        cdef Py_ssize_t e, n_edges = self.length(i) - 1, row = self.edge_row(i, 0)
        cdef Py_ssize_t size = self.n_states * self.stride
        cdef const double* weights = w + self.edge_weights
        cdef const double* end = weights + self.n_pairs * late_feature(
            self.edges.n_features, self.n_pairs
        )
        cdef double* out = theta + self.edge_statistics(i)
        ChainProblem.scores(self, i, w, theta)
        for e in range(n_edges):
            if e + 1 < n_edges and count_entries(&self.edges.rows, row + e + 1) > 0:
                prefetch_memory(
                    weights + column_at(&self.edges.rows, row + e + 1, 0) * self.n_pairs,
                    self.n_pairs * sizeof(double)
                )
            if not is_bare(&self.edges.rows, row + e):
                edge_table(
                    &self.edges.rows, row + e, theta, weights, end, self.n_states, out + e * size
                )
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t entry, t, k, e, pair, last = self.length(i) - 1, n_states = self.n_states
        cdef unsigned int j, table = <unsigned int>(n_states * self.stride)
        cdef unsigned int first = <unsigned int>self.edge_statistics(i)
        cdef double* node
        if self.request == 2147483647:
            self.request = 0
            self.fresh[:] = 0
        self.request += 1
        for entry in range(count):
            j = <unsigned int>index[entry]
            if j < table:
                theta[j] = w[self.transition_weights + self.weight_of[j]]
                continue
            if j >= first:
                e, pair = (j - first) // table, self.weight_of[(j - first) % table]
                theta[j] = w[self.transition_weights + pair] + dot_row(
                    &self.edges.rows, self.edge_row(i, e), w + self.edge_weights + pair,
                    self.n_pairs
                )
                continue
            t = (j - table) // <unsigned int>self.stride
            if self.fresh[t] == self.request:
                continue
            self.fresh[t] = self.request
            node = theta + (n_states + t) * self.stride
            score_rows(&self.features.rows, self.offsets[i] + t, 1, w, n_states, node)
            for k in range(n_states if t == 0 else 0):
                node[k] += w[self.start_weights + k]
            for k in range(n_states if t == last else 0):
                node[k] += w[self.end_weights + k]
        return 0

    cdef const double** steps(self, Py_ssize_t i, const double* theta) noexcept nogil:
        cdef const double** tables = <const double**>&self.pointers[0]
        cdef const double* first = theta + self.edge_statistics(i)
        cdef Py_ssize_t e, row = self.edge_row(i, 0), size = self.n_states * self.stride
        for e in range(self.length(i) - 1):
            tables[e] = theta if is_bare(&self.edges.rows, row + e) else first + e * size
        return tables

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef const int32_t* labels = &self.labels[self.offsets[i]]
        cdef int32_t stride = <int32_t>self.stride, table
        cdef int32_t node = <int32_t>(self.n_states * self.stride)
        cdef Py_ssize_t t, n, differs, differed = code[0] != labels[0]
        index[0], index[1] = node + labels[0], node + code[0]
        value[0], value[1] = 1.0, -1.0
        n = 2 * differed
        for t in range(1, self.length(i)):
            node += stride
            differs = code[t] != labels[t]
            if differs:
                index[n], index[n + 1] = node + labels[t], node + code[t]
                value[n], value[n + 1] = 1.0, -1.0
                n += 2
            if differs or differed:
                table = 0
                if not is_bare(&self.edges.rows, self.edge_row(i, t - 1)):
                    table = <int32_t>(
                        self.edge_statistics(i) + (t - 1) * self.n_states * self.stride
                    )
                index[n] = table + labels[t - 1] * stride + labels[t]
                index[n + 1] = table + code[t - 1] * stride + code[t]
                value[n], value[n + 1] = 1.0, -1.0
                n += 2
            differed = differs
        return n

    cdef double scatter_rest(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) noexcept nogil:
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, entry, j, pair
        cdef Py_ssize_t table = n_states * stride, first = self.edge_statistics(i)
        cdef const double* begin = &delta.value[table]
        cdef const double* last = begin + (self.length(i) - 1) * stride
        cdef double growth = 0.0
        for entry in range(delta.n):
            j = delta.index[entry]
            if table <= j < first:
                continue
            pair = self.weight_of[j if j < table else (j - first) % table]
            growth += grow(&v[self.transition_weights + pair], step * delta.value[j])
            if j >= first and delta.value[j] != 0.0:
                growth += add_growing(
                    &self.edges.rows, self.edge_row(i, (j - first) // table),
                    step * delta.value[j], v + self.edge_weights + pair, self.n_pairs
                )
        for j in range(n_states):
            growth += grow(&v[self.start_weights + j], step * begin[j])
            growth += grow(&v[self.end_weights + j], step * last[j])
        return growth

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef Py_ssize_t n_states = self.n_states, entry, j, pair
        cdef Py_ssize_t table = n_states * self.stride, first = self.edge_statistics(i)
        cdef Py_ssize_t n_active = active_rows(
            &delta.value[table], self.length(i), self.stride, &self.active[0]
        )
        clip_rows(
            &self.features.rows, self.offsets[i], &self.active[0], n_active, n_states, v, lower,
            upper, w
        )
        for entry in range(delta.n):
            j = delta.index[entry]
            if table <= j < first:
                continue
            pair = self.weight_of[j if j < table else (j - first) % table]
            if j >= first:
                clip_edge(
                    &self.edges.rows, self.edge_row(i, (j - first) // table),
                    v + self.edge_weights + pair, lower + self.edge_weights + pair,
                    upper + self.edge_weights + pair, w + self.edge_weights + pair, self.n_pairs
                )
            j = self.transition_weights + pair
            w[j] = min(max(v[j], lower[j]), upper[j])
        for j in range(self.start_weights, self.edge_weights):
            w[j] = min(max(v[j], lower[j]), upper[j])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        # Entries of the same pair of labels form a list, and only those share weights: with
        # numbers x_e, || sum_e d_e outer(x_e, pair) ||^2 is a sum over the pairs of entries.
        cdef Py_ssize_t table = self.n_states * self.stride, first = self.edge_statistics(i)
        cdef Py_ssize_t entry, j, e, cell
        cdef int32_t other
        cdef double total = 0.0, value
        self.chain_next.resize(delta.n)
        for entry in range(delta.n):
            j = delta.index[entry]
            value = delta.value[j]
            if table <= j < first or value == 0.0:
                continue
            if j < table:
                self.pair_total[j] += value
                continue
            e, cell = (j - first) // table, (j - first) % table
            self.pair_total[cell] += value
            total += value * value * self.edge_inner(i, e, e)
            other = self.chain_head[cell]
            while other >= 0:
                total += 2.0 * value * delta.value[delta.index[other]] * self.edge_inner(
                    i, (delta.index[other] - first) // table, e
                )
                other = self.chain_next[other]
            self.chain_next[entry] = self.chain_head[cell]
            self.chain_head[cell] = <int32_t>entry
        for entry in range(delta.n):
            j = delta.index[entry]
            if table <= j < first:
                continue
            cell = j if j < table else (j - first) % table
            total += self.pair_total[cell] * self.pair_total[cell]
            self.pair_total[cell] = 0.0
            self.chain_head[cell] = -1
        return self.add_node_sqnorm(i, delta, total)

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        ChainProblem.prefetch(self, i)
        self.edges.prefetch(self.edge_row(i, 0), self.length(i) - 1)

    cpdef Problem fork(self):
        cdef EdgeChainProblem other = ChainProblem.fork(self)
        other.edge_grams = self.edge_grams
        return other

    def decomposition(self):
        """Return the nodes and pairs of neighbours of all sequences, as `EdgeChainFactors`.

        None where nodes may have several right labels.
        """
        if self.has_sets:
            return None
        return EdgeChainFactors(
            self.features, self.offsets, self.n_states, self.labels, self.cost,
            self.block_weight, self.forbidden, self.forbidden_start, self.forbidden_end,
            self.edges
        )

    def fingerprint(self):
        """Return by what the same sequences, labels, losses and transitions are known again."""
        inner, offsets = ChainProblem.fingerprint(self), np.asarray(self.offsets)
        whole = {"the model": "chain with features of edges"}
        whole["the number of edge features"] = self.edges.n_features
        edges = row_digests(self.edges, offsets - np.arange(len(offsets)))
        return Fingerprint(inner.whole | whole, inner.blocks | {"the edge features of X": edges})


cdef class EdgeChainFactors(ChainFactors):
    """Nodes and pairs of neighbours; weights as in `EdgeChainProblem`.

    Parameters
    ----------
    features, offsets, n_states, labels, cost, block_weight : object
        As of `ChainFactors`.
    forbidden, forbidden_start, forbidden_end : ndarray
        Likewise.
    edges : FeatureRows
        Features of all edges.
    """

    cdef FeatureRows edges
    cdef Py_ssize_t edge_weights
    cdef Py_ssize_t n_pairs
    cdef double[::1] edge_row_sqnorm         # (n_edges,) of the features of an edge

    def __cinit__(self, features, offsets, n_states, labels, cost, block_weight, forbidden,
                  forbidden_start, forbidden_end, FeatureRows edges not None):
        self.edges, self.n_pairs = edges, self.n_states * self.n_states
        self.edge_weights = self.n_weights
        self.n_weights += edges.n_features * self.n_pairs
        self.pair_weights = -1
        self.edge_row_sqnorm = edges.sqnorms()

    cdef const double* edge_row(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* scratch
    ) noexcept nogil:
        cdef Py_ssize_t b, n_states = self.n_states
        memcpy(scratch, w + self.transition_weights + a * n_states, n_states * sizeof(double))
        add_edge_row(
            &self.edges.rows, e, w + self.edge_weights + a * n_states, self.n_pairs, n_states,
            scratch
        )
        if not self.free:
            for b in range(n_states):
                scratch[b] += self.forbidden[a, b]
        return scratch

    cdef double edge_score(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t pair
    ) noexcept nogil:
        # a pair that is forbidden is no truth and is never found, but may be asked for
        if not self.free and self.forbidden[pair // self.n_states, pair % self.n_states] != 0.0:
            return -INFINITY
        return w[self.transition_weights + pair] + dot_row(
            &self.edges.rows, e, w + self.edge_weights + pair, self.n_pairs
        )

    cdef double edge_sqnorm(self, Py_ssize_t i, Py_ssize_t e, int32_t pair) noexcept nogil:
        return 1.0 + self.edge_row_sqnorm[e]

    cdef void move_edge(
        self, Py_ssize_t i, Py_ssize_t e, int32_t pair, double step, double* w
    ) noexcept nogil:
        w[self.transition_weights + pair] += step
        add_row(&self.edges.rows, e, step, w + self.edge_weights + pair, self.n_pairs)


cdef class EdgeChainRequest(ChainRequest):
    """Sequences with features of edges that are to be labelled, and the weights that label them.

    Tables of weights are read where they lie, those of the features that occur. Threads share the
    request; the potentials of a sequence are theirs.

    Parameters
    ----------
    features, offsets, transitions, start, end : object
        As of `ChainRequest`.
    allowed, allowed_start, allowed_end : ndarray or None
        Likewise.
    edges : FeatureRows
        Features of all edges, one row less than tokens for each sequence.
    tables : ndarray of shape (n_edge_features, n_states * n_states), float64
        Weights of the features of edges: tables of transitions.
    """

    cdef FeatureRows edges
    cdef const double[:, ::1] tables         # (n_edge_features, n_states^2)
    cdef double[::1] last                    # the last ones, and what may be read behind them

    def __cinit__(self, features, offsets, transitions, start, end, allowed, allowed_start,
                  allowed_end, FeatureRows edges not None, const double[:, ::1] tables not None):
        self.edges, self.tables = edges, tables
        late = late_feature(edges.n_features, tables.shape[1])
        self.last = np.concatenate([np.ravel(tables[late:]), np.zeros(LANES)])

    # nodes, pointers to the tables of the steps, and these
    cdef Py_ssize_t room(self) noexcept nogil:
        return self.longest * ((self.n_states + 1) * self.stride + 1) + LANES

    cdef const double** load(self, Py_ssize_t i, double* out) noexcept nogil:
        cdef Py_ssize_t e, row = self.offsets[i] - i, size = self.n_states * self.stride
        cdef const double** steps = <const double**>(out + self.length(i) * self.stride)
        cdef double* table = out + self.length(i) * (self.stride + 1)
        self.nodes(i, out)
        for e in range(self.length(i) - 1):
            steps[e] = &self.transitions[0]
            if not is_bare(&self.edges.rows, row + e):
                edge_table(
                    &self.edges.rows, row + e, &self.transitions[0], &self.tables[0, 0],
                    &self.last[0], self.n_states, table
                )
                steps[e] = table
                table += size
        return steps

    def is_modest(self):
        """Return whether features and their weights are so small that no score can overflow."""
        cdef Py_ssize_t e, j, size = self.tables.shape[1]
        # of smaller types all numbers are small
        cdef bint modest = ChainRequest.is_modest(self) and (
            self.edges.rows.values == NULL
            or are_modest(self.edges.rows.values, self.edges.n_entries)
        )
        for e in range(self.edges.n_rows if modest else 0):
            for j in range(count_entries(&self.edges.rows, e)):
                modest = modest and are_modest(
                    &self.tables[column_at(&self.edges.rows, e, j), 0], size
                )
        return modest
