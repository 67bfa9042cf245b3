"""Sequences with features of edges that are to be labelled (see the .pxd)."""

import numpy as np

from sskit.core.checks cimport check_equal, check_index, check_least
from sskit.core.lanes cimport LANES
from sskit.models.edge_chain.edge_tables cimport (
    column_at, count_entries, edge_table, is_bare, late_feature
)
from sskit.models.row_kernels cimport are_modest


cdef class EdgeChainRequest(ChainRequest):
    """Sequences to label.

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

    def __cinit__(self, features, offsets, transitions, start, end, allowed, allowed_start,
                  allowed_end, FeatureRows edges not None, const double[:, ::1] tables not None):
        check_equal(edges.n_rows, self.n_nodes - self.n_blocks, "the number of edges")
        check_least(edges.n_features, 1, "the number of features of edges")
        check_equal(edges.rows.n_further, 0, "the number of marks of edges")
        check_equal(tables.shape[0], edges.n_features, "the number of tables")
        check_equal(tables.shape[1], self.n_states * self.n_states, "the size of tables")
        self.edges, self.tables = edges, tables
        late = late_feature(edges.n_features, tables.shape[1])
        self.last = np.concatenate([np.ravel(tables[late:]), np.zeros(LANES)])

    cdef Py_ssize_t room(self) noexcept nogil:
        return self.longest * (self.n_states + 1) * self.stride + LANES

    cdef void steps(self, Py_ssize_t i, double* out, const double** steps) noexcept nogil:
        cdef Py_ssize_t e, row = self.offsets[i] - i, size = self.n_states * self.stride
        cdef double* table = out + self.length(i) * self.stride
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

    def is_modest(self):
        """Return whether features and their weights are so small that no score can overflow."""
        cdef Py_ssize_t e, j, size = self.tables.shape[1]
        cdef bint modest = ChainRequest.is_modest(self) and self.edges_modest()
        if modest:
            with nogil:
                for e in range(self.edges.n_rows):
                    for j in range(count_entries(&self.edges.rows, e)):
                        if not are_modest(
                            &self.tables[column_at(&self.edges.rows, e, j), 0], size
                        ):
                            modest = False
        return modest

    cdef bint edges_modest(self) noexcept nogil:
        if self.edges.values is None or self.edges.rows.values == NULL:
            return True                      # smaller types are
        return are_modest(self.edges.rows.values, self.edges.n_entries)

    def potentials(self, Py_ssize_t i):
        """Return the potentials of a sequence as arrays.

        Parameters
        ----------
        i : int
            Number of the sequence.

        Returns
        -------
        unary : ndarray of shape (T, n_states)
            Of the nodes, those of the first and the last label included.
        pairwise : ndarray of shape (T - 1, n_states, n_states)
            Of the transitions, -inf where one is forbidden.
        """
        check_index(i, self.n_blocks, "sequence")
        cdef Py_ssize_t n = self.length(i), n_states = self.n_states, e, a, b
        cdef double[::1] out = np.zeros(self.room())
        cdef size_t[::1] pointers = np.zeros(self.longest, dtype=np.uintp)
        cdef const double** tables = <const double**>&pointers[0]
        self.steps(i, &out[0], tables)
        unary = np.asarray(out)[: n * self.stride].reshape(n, self.stride)[:, :n_states].copy()
        pairwise = np.empty((n - 1, n_states, n_states))
        cdef double[:, :, ::1] pairs = pairwise
        for e in range(n - 1):
            for a in range(n_states):
                for b in range(n_states):
                    pairs[e, a, b] = tables[e][a * self.stride + b]
        return unary, pairwise
