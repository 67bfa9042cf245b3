"""The contract of factors between models and solvers (see the .pxd)."""

import numpy as np

from libc.stdint cimport int32_t

cdef int32_t BOTH = 3                    # the state (1, 1) of a pair


cdef class Factors:
    """Base of all factors; a subclass fills the sizes and overrides every method."""

    def __cinit__(self, *args):
        self.pair_weights = -1
        self.block_weight = np.zeros(0)

    cdef Py_ssize_t first_node(self, Py_ssize_t i) noexcept nogil:
        return 0

    cdef Py_ssize_t first_edge(self, Py_ssize_t i) noexcept nogil:
        return 0

    cdef void ends(
        self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t* first, Py_ssize_t* second
    ) noexcept nogil:
        pass

    cdef int32_t truth(self, Py_ssize_t j) noexcept nogil:
        return 0

    cdef double cost(self, Py_ssize_t j) noexcept nogil:
        return 0.0

    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement node_scores")

    cdef double node_score(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, int32_t y
    ) noexcept nogil:
        return 0.0

    cdef double node_sqnorm(self, Py_ssize_t i, Py_ssize_t j, int32_t y) noexcept nogil:
        return 0.0

    cdef void move_node(
        self, Py_ssize_t i, Py_ssize_t j, int32_t y, double step, double* w
    ) noexcept nogil:
        pass

    cdef const double* edge_row(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* scratch
    ) noexcept nogil:
        return scratch

    cdef double edge_score(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t pair
    ) noexcept nogil:
        return 0.0

    cdef double edge_sqnorm(self, Py_ssize_t i, Py_ssize_t e, int32_t pair) noexcept nogil:
        return 0.0

    cdef void move_edge(
        self, Py_ssize_t i, Py_ssize_t e, int32_t pair, double step, double* w
    ) noexcept nogil:
        pass


cdef class LabelFactors(Factors):
    """Base of all factors of sets of labels."""

    def __cinit__(self, *args):
        self.label_cost, self.label_ends = np.zeros(0), np.zeros((1, 2), dtype=np.int32)
        self.n_states = 2

    cdef const unsigned char* true_set(self, Py_ssize_t i) noexcept nogil:
        return NULL

    cdef void scores(self, Py_ssize_t i, const double* w, double* out) noexcept nogil:
        pass

    cdef double sqnorm(self, Py_ssize_t i) noexcept nogil:
        return 0.0

    cdef void move(
        self, Py_ssize_t i, const double* change, double step, double* w
    ) noexcept nogil:
        pass

    cdef Py_ssize_t first_node(self, Py_ssize_t i) noexcept nogil:
        return i * self.n_labels

    cdef Py_ssize_t first_edge(self, Py_ssize_t i) noexcept nogil:
        return i * self.n_pairs

    cdef void ends(
        self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t* first, Py_ssize_t* second
    ) noexcept nogil:
        first[0] = i * self.n_labels + self.label_ends[e - i * self.n_pairs, 0]
        second[0] = i * self.n_labels + self.label_ends[e - i * self.n_pairs, 1]

    cdef int32_t truth(self, Py_ssize_t j) noexcept nogil:
        return self.true_set(j // self.n_labels)[j % self.n_labels]

    cdef double cost(self, Py_ssize_t j) noexcept nogil:
        return self.label_cost[j % self.n_labels]

    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil:
        out[0], out[1] = 0.0, self.node_score(i, j, w, 1)
        return 0

    cdef double node_sqnorm(self, Py_ssize_t i, Py_ssize_t j, int32_t y) noexcept nogil:
        return y * self.sqnorm(i)

    cdef const double* edge_row(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* scratch
    ) noexcept nogil:
        scratch[0], scratch[1] = 0.0, self.edge_score(i, e, w, a * BOTH)
        return scratch

    cdef double edge_score(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t pair
    ) noexcept nogil:
        return w[self.first_pair + e - i * self.n_pairs] if pair == BOTH else 0.0

    cdef double edge_sqnorm(self, Py_ssize_t i, Py_ssize_t e, int32_t pair) noexcept nogil:
        return pair == BOTH

    cdef void move_edge(
        self, Py_ssize_t i, Py_ssize_t e, int32_t pair, double step, double* w
    ) noexcept nogil:
        if pair == BOTH:
            w[self.first_pair + e - i * self.n_pairs] += step
