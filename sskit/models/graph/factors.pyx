"""Graphs with tables of all pairs of labels bound to data, factor by factor."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.models.features cimport FeatureRows
from sskit.models.row_kernels cimport score_rows
from sskit.models.rows cimport add_row, dot_row


cdef class GraphFactors(Factors):
    """Factors of graphs; weights as in `GraphProblem`.

    A node without a label has no weights: it keeps the state 0.

    Parameters
    ----------
    problem : AnyGraphProblem
        Its edges have directed tables of their own, its losses are those of wrong labels.
    """

    def __cinit__(self, AnyGraphProblem problem not None):
        cdef FeatureRows rows
        self.problem = problem
        self.n_states, self.n_blocks = problem.n_states, problem.n_blocks
        self.n_nodes, self.n_edges = problem.n_nodes, problem.edges[problem.n_blocks]
        self.n_weights, self.block_weight = problem.n_weights, problem.block_weight
        self.pair_weights = -1
        squares = np.concatenate([(<FeatureRows>rows).sqnorms() for rows in problem.features[0]])
        squares[~np.asarray(problem.labelled).view(bool)] = 0.0
        self.row_sqnorm = squares
        self.n_terms = sum([(<FeatureRows>rows).n_entries for rows in problem.features[0]])
        self.n_terms /= max(self.n_nodes, 1)
        of_edges = [(<FeatureRows>rows).sqnorms() for rows in problem.features[1]]
        self.edge_row_sqnorm = np.concatenate(of_edges)
        self.forest = self.grows()

    def grows(self):
        """Return whether every edge leads to a node that no edge before has met."""
        met = np.zeros(self.n_nodes, dtype=bool)
        cdef Py_ssize_t i, e
        for i in range(self.n_blocks):
            for e in range(self.problem.edges[i], self.problem.edges[i + 1]):
                first = self.problem.nodes[i] + self.problem.ends[e, 0]
                second = self.problem.nodes[i] + self.problem.ends[e, 1]
                if met[second]:
                    return False
                met[first] = met[second] = True
        return True

    cdef Py_ssize_t edge_at(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil:
        return e - self.problem.edges[i]

    cdef Py_ssize_t first_node(self, Py_ssize_t i) noexcept nogil:
        return self.problem.nodes[i]

    cdef Py_ssize_t first_edge(self, Py_ssize_t i) noexcept nogil:
        return self.problem.edges[i]

    cdef void ends(
        self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t* first, Py_ssize_t* second
    ) noexcept nogil:
        first[0] = self.problem.nodes[i] + self.problem.ends[e, 0]
        second[0] = self.problem.nodes[i] + self.problem.ends[e, 1]

    cdef int32_t truth(self, Py_ssize_t j) noexcept nogil:
        return self.problem.labels[j]

    cdef double cost(self, Py_ssize_t j) noexcept nogil:
        return self.problem.cost[j]

    cdef bint may_be(self, Py_ssize_t j, Py_ssize_t y) noexcept nogil:
        if not self.problem.labelled[j]:
            return y == 0
        return not self.problem.allowed.shape[0] or self.problem.allowed[j, y]

    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil:
        cdef Py_ssize_t y
        score_rows(
            &self.problem.node_rows[i], j - self.problem.nodes[i], 1, w, self.n_states, out
        )
        for y in range(start, stop):
            if not self.problem.labelled[j]:
                out[y] = 0.0
            if not self.may_be(j, y):
                out[y] = -INFINITY
        return 0

    cdef double node_score(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, int32_t y
    ) noexcept nogil:
        if not self.may_be(j, y):
            return -INFINITY
        if not self.problem.labelled[j]:
            return 0.0
        return dot_row(
            &self.problem.node_rows[i], j - self.problem.nodes[i], w + y, self.n_states
        )

    cdef double node_sqnorm(self, Py_ssize_t i, Py_ssize_t j, int32_t y) noexcept nogil:
        return self.row_sqnorm[j]

    cdef void move_node(
        self, Py_ssize_t i, Py_ssize_t j, int32_t y, double step, double* w
    ) noexcept nogil:
        if self.problem.labelled[j]:
            add_row(
                &self.problem.node_rows[i], j - self.problem.nodes[i], step, w + y, self.n_states
            )

    cdef const double* edge_row(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* scratch
    ) noexcept nogil:
        cdef int32_t b
        for b in range(<int32_t>self.n_states):
            scratch[b] = self.edge_score(i, e, w, a * <int32_t>self.n_states + b)
        return scratch

    cdef double edge_score(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t pair
    ) noexcept nogil:
        # a pair that is forbidden is no truth and is never found, but may be asked for
        if self.problem.forbidden.shape[0] and self.problem.forbidden[pair] != 0.0:
            return -INFINITY
        if self.problem.allowed.shape[0] and not self.ends_may_be(i, e, pair):
            return -INFINITY
        return dot_row(
            &self.problem.edge_rows[i], self.edge_at(i, e), w + self.problem.pair_weights + pair,
            self.problem.n_columns
        )

    cdef bint ends_may_be(self, Py_ssize_t i, Py_ssize_t e, int32_t pair) noexcept nogil:
        cdef Py_ssize_t first, second, n_states = self.n_states
        self.ends(i, e, &first, &second)
        return self.may_be(first, pair // n_states) and self.may_be(second, pair % n_states)

    cdef double edge_sqnorm(self, Py_ssize_t i, Py_ssize_t e, int32_t pair) noexcept nogil:
        return self.edge_row_sqnorm[e]

    cdef void move_edge(
        self, Py_ssize_t i, Py_ssize_t e, int32_t pair, double step, double* w
    ) noexcept nogil:
        add_row(
            &self.problem.edge_rows[i], self.edge_at(i, e), step,
            w + self.problem.pair_weights + pair, self.problem.n_columns
        )
