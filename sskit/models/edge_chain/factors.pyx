"""The chain model with features of edges bound to data, factor by factor."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.checks cimport check_equal
from sskit.models.chain.factors cimport ChainFactors
from sskit.models.features cimport FeatureRows
from sskit.models.edge_chain.edge_tables cimport add_edge_row
from sskit.models.rows cimport add_row, dot_row


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
        check_equal(edges.n_rows, self.n_edges, "the number of edges")
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
