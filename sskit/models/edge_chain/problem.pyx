"""The chain model with features of edges bound to data (see the .pxd)."""

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.models.chain.grams import make_grams, no_grams
from sskit.models.edge_chain.factors import EdgeChainFactors
from sskit.models.row_hashes import row_digests

from sskit.core.checks cimport check_equal, check_least
from sskit.core.lanes cimport prefetch_memory
from sskit.core.problem cimport Problem
from sskit.models.edge_chain.edge_tables cimport (
    add_growing, clip_edge, column_at, count_entries, edge_table, is_bare, late_feature,
    row_inner
)
from sskit.models.row_kernels cimport active_rows, grow, score_rows
from sskit.models.rows cimport clip_rows, dot_row
from sskit.oracles.chain.stepwise cimport viterbi_steps

MOST_STATISTICS = 2**31 - 1


cdef class EdgeChainProblem(ChainProblem):
    """Linear chains with features of edges bound to data.

    Parameters
    ----------
    features, offsets, n_states, labels, cost, block_weight : object
        As of `ChainProblem`.
    allowed, allowed_start, allowed_end : ndarray or None
        Likewise.
    edges : FeatureRows
        Features of all edges, sequence after sequence: one row less than nodes for each.
    """

    def __cinit__(self, FeatureRows features, offsets, Py_ssize_t n_states, labels, cost,
                  block_weight, allowed, allowed_start, allowed_end, FeatureRows edges not None):
        longest = self.max_code_length
        check_equal(edges.n_rows, self.n_nodes - self.n_blocks, "the number of edges")
        check_least(edges.n_features, 1, "the number of features of edges")
        check_equal(edges.rows.n_further, 0, "the number of marks of edges")
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

    cdef Py_ssize_t edge_row(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return self.offsets[i] - i + e

    cdef Py_ssize_t edge_statistics(self, Py_ssize_t i) noexcept nogil:
        return (self.n_states + self.length(i)) * self.stride

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

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef const int32_t* labels = &self.labels[self.offsets[i]]
        cdef const double* cost = &self.cost[self.offsets[i]]
        cdef Py_ssize_t t
        viterbi_steps(
            theta + self.n_states * self.stride, self.steps(i, theta), self.length(i),
            self.n_states, labels, cost, loss_weight, &self.value[0], code
        )
        loss[0] = 0.0
        for t in range(self.length(i)):
            if code[t] != labels[t]:
                loss[0] += cost[t]
        return 0

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
        cdef EdgeChainProblem other = EdgeChainProblem(
            self.features, np.asarray(self.offsets), self.n_states, self.labels, self.cost,
            self.block_weight, None, None, None, self.edges
        )
        other.forbidden, other.forbidden_start = self.forbidden, self.forbidden_start
        other.forbidden_end = self.forbidden_end
        other.grams, other.edge_grams = self.grams, self.edge_grams
        other.image = np.zeros(self.image.shape[0])
        other.slack_kind = self.slack_kind
        return other

    def decomposition(self):
        """Return the nodes and pairs of neighbours of all sequences, as `EdgeChainFactors`."""
        return EdgeChainFactors(
            self.features, self.offsets, self.n_states, self.labels, self.cost,
            self.block_weight, self.forbidden, self.forbidden_start, self.forbidden_end,
            self.edges
        )

    def potentials(self, Py_ssize_t i, const double[::1] w):
        """Return the potentials of a sequence under some weights, as arrays.

        Parameters
        ----------
        i : int
            Number of the sequence.
        w : ndarray of shape (n_weights + LANES,)
            Flat weights with spare ones.

        Returns
        -------
        unary : ndarray of shape (T, n_states)
            Of the nodes, those of the first and the last label included.
        pairwise : ndarray of shape (T - 1, n_states, n_states)
            Of the transitions, -inf where one is forbidden.
        """
        self.check_run(i, i + 1, w.shape[0])
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, n = self.length(i), e
        theta = np.zeros(self.max_statistics)
        cdef double[::1] out = theta
        self.scores(i, &w[0], &out[0])
        unary = theta[n_states * stride : (n_states + n) * stride].reshape(n, stride)
        pairwise = np.empty((n - 1, n_states, n_states))
        first = self.edge_statistics(i)
        for e in range(n - 1):
            start = first + e * n_states * stride
            if is_bare(&self.edges.rows, self.edge_row(i, e)):
                start = 0
            table = theta[start : start + n_states * stride].reshape(n_states, stride)
            pairwise[e] = table[:, :n_states]
        return unary[:, :n_states].copy(), pairwise

    def fingerprint(self):
        """Return by what the same sequences, labels, losses and transitions are known again."""
        inner, offsets = ChainProblem.fingerprint(self), np.asarray(self.offsets)
        whole = {"the model": "chain with features of edges"}
        whole["the number of edge features"] = self.edges.n_features
        edges = row_digests(self.edges, offsets - np.arange(len(offsets)))
        return Fingerprint(inner.whole | whole, inner.blocks | {"the edge features of X": edges})
