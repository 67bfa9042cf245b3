"""Sets of labels in terms of nodes and edges."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.decomposition cimport Factors, LabelFactors
from sskit.core.lanes cimport LANES

cdef int32_t BOTH = 3                    # the state (1, 1) of a pair


cdef class LabelNodes(Factors):
    """Factors of nodes and edges made of those of sets of labels.

    Node i * n_labels + l of block i is label l; edge i * m + e is pair e of m. A label scores in
    state 1, a pair in the state (1, 1) only.

    For solvers that know nodes and edges only, and that keep something for every edge of every
    block. The scores of all labels are computed where one is asked for.

    Parameters
    ----------
    labels : LabelFactors
        The problem.
    """

    cdef LabelFactors labels
    cdef Py_ssize_t n_labels
    cdef Py_ssize_t n_pairs
    cdef double[::1] row                 # (n_labels + LANES,) scratch
    cdef double[::1] change              # (n_labels + LANES,) zero between calls

    def __cinit__(self, LabelFactors labels):
        self.labels = labels
        self.n_labels, self.n_pairs = labels.n_labels, labels.n_edges
        self.n_blocks = labels.n_blocks
        self.n_nodes = labels.n_blocks * labels.n_labels
        self.n_edges = labels.n_blocks * labels.n_edges
        self.n_states = 2
        self.n_weights = labels.n_weights
        self.forest = labels.n_edges == 0
        self.block_weight = labels.block_weight
        self.row = np.zeros(labels.n_labels + LANES)
        self.change = np.zeros(labels.n_labels + LANES)

    cdef Py_ssize_t first_node(self, Py_ssize_t i) noexcept nogil:
        return i * self.n_labels

    cdef Py_ssize_t first_edge(self, Py_ssize_t i) noexcept nogil:
        return i * self.n_pairs

    cdef void ends(
        self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t* first, Py_ssize_t* second
    ) noexcept nogil:
        first[0] = i * self.n_labels + self.labels.ends[e - i * self.n_pairs, 0]
        second[0] = i * self.n_labels + self.labels.ends[e - i * self.n_pairs, 1]

    cdef int32_t truth(self, Py_ssize_t j) noexcept nogil:
        return self.labels.truth(j // self.n_labels)[j % self.n_labels]

    cdef double cost(self, Py_ssize_t j) noexcept nogil:
        return self.labels.cost[j % self.n_labels]

    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil:
        out[0] = 0.0
        out[1] = self.node_score(i, j, w, 1)
        return 0

    cdef double node_score(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, int32_t y
    ) noexcept nogil:
        if y == 0:
            return 0.0
        self.labels.scores(i, w, &self.row[0])
        return self.row[j - i * self.n_labels]

    cdef double node_sqnorm(self, Py_ssize_t i, Py_ssize_t j, int32_t y) noexcept nogil:
        return self.labels.sqnorm(i) if y == 1 else 0.0

    cdef void move_node(
        self, Py_ssize_t i, Py_ssize_t j, int32_t y, double step, double* w
    ) noexcept nogil:
        if y == 0:
            return
        self.change[j - i * self.n_labels] = 1.0
        self.labels.move(i, &self.change[0], step, w)
        self.change[j - i * self.n_labels] = 0.0

    cdef const double* edge_row(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* scratch
    ) noexcept nogil:
        scratch[0] = 0.0
        scratch[1] = self.edge_score(i, e, w, BOTH) if a == 1 else 0.0
        return scratch

    cdef double edge_score(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t pair
    ) noexcept nogil:
        if pair != BOTH:
            return 0.0
        return w[self.labels.pair_weights + e - i * self.n_pairs]

    cdef double edge_sqnorm(self, Py_ssize_t i, Py_ssize_t e, int32_t pair) noexcept nogil:
        return 1.0 if pair == BOTH else 0.0

    cdef void move_edge(
        self, Py_ssize_t i, Py_ssize_t e, int32_t pair, double step, double* w
    ) noexcept nogil:
        if pair == BOTH:
            w[self.labels.pair_weights + e - i * self.n_pairs] += step
