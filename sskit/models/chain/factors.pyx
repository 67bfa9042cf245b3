"""The chain model bound to data, factor by factor."""

import numpy as np

from sskit.models.shapes import check_chains, check_lengths

from libc.math cimport INFINITY

from sskit.models.row_kernels cimport score_rows
from sskit.models.rows cimport add_row, dot_row, score_part


cdef class ChainFactors(Factors):
    """Nodes and pairs of neighbours of linear chains; weights as in `ChainProblem`.

    Edge e of sequence i leads from node e + i to the next one: sequences have an edge less than
    nodes.

    Parameters
    ----------
    features : FeatureRows
        Features of all nodes, sequence after sequence.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Sequence i has the rows offsets[i] to offsets[i + 1] - 1; at least one.
    n_states : int
        Number of states K.
    labels : ndarray of shape (n_rows,), int32
        True states.
    cost : ndarray of shape (n_rows,), float64
        Loss of a wrong state at each node.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the sequences, summing to one.
    forbidden : ndarray of shape (n_states, padded(n_states)), float64
        0, or -inf for a transition that may not occur.
    forbidden_start, forbidden_end : ndarray of shape (n_states,), float64
        0, or -inf for a state that a sequence may not begin or end with.
    """

    def __cinit__(self, FeatureRows features, const int64_t[::1] offsets, Py_ssize_t n_states,
                  const int32_t[::1] labels, const double[::1] cost, double[::1] block_weight,
                  const double[:, ::1] forbidden, const double[::1] forbidden_start,
                  const double[::1] forbidden_end, *args):
        check_chains(features.n_rows, offsets, n_states, labels, cost, block_weight)
        check_lengths(
            n_states, forbidden=forbidden, forbidden_start=forbidden_start,
            forbidden_end=forbidden_end
        )
        self.features = features
        self.offsets = offsets
        self.labels = labels
        self.costs = cost
        self.block_weight = block_weight
        self.forbidden = forbidden
        self.forbidden_start = forbidden_start
        self.forbidden_end = forbidden_end
        self.n_states = n_states
        self.n_blocks = offsets.shape[0] - 1
        self.n_nodes = features.n_rows
        self.n_edges = self.n_nodes - self.n_blocks
        self.n_terms = features.n_entries / max(self.n_nodes, 1)
        self.transition_weights = features.n_features * n_states
        self.start_weights = self.transition_weights + n_states * n_states
        self.end_weights = self.start_weights + n_states
        self.n_weights = self.end_weights + n_states
        self.forest = True
        self.free = not np.any(forbidden)
        self.pair_weights = self.transition_weights if self.free else -1
        self.row_sqnorm = features.sqnorms()

    cdef Py_ssize_t first_node(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i]

    cdef Py_ssize_t first_edge(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i] - i

    cdef void ends(
        self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t* first, Py_ssize_t* second
    ) noexcept nogil:
        first[0] = e + i
        second[0] = e + i + 1

    cdef int32_t truth(self, Py_ssize_t j) noexcept nogil:
        return self.labels[j]

    cdef double cost(self, Py_ssize_t j) noexcept nogil:
        return self.costs[j]

    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil:
        cdef Py_ssize_t y, n_states = self.n_states
        if stop - start == n_states:
            score_rows(&self.features.rows, j, 1, w, n_states, out)
        else:
            score_part(&self.features.rows, j, w, n_states, start, stop, out)
        if j == self.offsets[i]:
            for y in range(start, stop):
                out[y] += w[self.start_weights + y] + self.forbidden_start[y]
        if j == self.offsets[i + 1] - 1:
            for y in range(start, stop):
                out[y] += w[self.end_weights + y] + self.forbidden_end[y]
        return 0

    cdef double node_score(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, int32_t y
    ) noexcept nogil:
        cdef double score = dot_row(&self.features.rows, j, w + y, self.n_states)
        if j == self.offsets[i]:
            score += w[self.start_weights + y] + self.forbidden_start[y]
        if j == self.offsets[i + 1] - 1:
            score += w[self.end_weights + y] + self.forbidden_end[y]
        return score

    cdef double node_sqnorm(self, Py_ssize_t i, Py_ssize_t j, int32_t y) noexcept nogil:
        # start and end weights are one more feature of the first and the last node
        return (
            self.row_sqnorm[j] + (j == self.offsets[i]) + (j == self.offsets[i + 1] - 1)
        )

    cdef void move_node(
        self, Py_ssize_t i, Py_ssize_t j, int32_t y, double step, double* w
    ) noexcept nogil:
        add_row(&self.features.rows, j, step, w + y, self.n_states)
        if j == self.offsets[i]:
            w[self.start_weights + y] += step
        if j == self.offsets[i + 1] - 1:
            w[self.end_weights + y] += step

    cdef const double* edge_row(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* scratch
    ) noexcept nogil:
        cdef const double* row = w + self.transition_weights + a * self.n_states
        cdef Py_ssize_t b
        if self.free:
            return row
        for b in range(self.n_states):
            scratch[b] = row[b] + self.forbidden[a, b]
        return scratch

    cdef double edge_score(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t pair
    ) noexcept nogil:
        # a pair that is forbidden is no truth and is never found, but may be asked for
        if not self.free and self.forbidden[pair // self.n_states, pair % self.n_states] != 0.0:
            return -INFINITY
        return w[self.transition_weights + pair]

    cdef double edge_sqnorm(self, Py_ssize_t i, Py_ssize_t e, int32_t pair) noexcept nogil:
        return 1.0

    cdef void move_edge(
        self, Py_ssize_t i, Py_ssize_t e, int32_t pair, double step, double* w
    ) noexcept nogil:
        w[self.transition_weights + pair] += step
