from libc.stdint cimport int32_t

from sskit.core.decomposition cimport Factors
from sskit.models.graph.any_problem cimport AnyGraphProblem


cdef class GraphFactors(Factors):
    """Nodes and edges of graphs whose edges have a table of all pairs of labels."""

    cdef AnyGraphProblem problem
    cdef const double[::1] row_sqnorm        # (n_nodes,) of the features of a node; 0: no label
    cdef const double[::1] edge_row_sqnorm   # (n_edges,)

    # may a node have this state?
    cdef bint may_be(self, Py_ssize_t j, Py_ssize_t y) noexcept nogil
    # and the ends of an edge these?
    cdef bint ends_may_be(self, Py_ssize_t i, Py_ssize_t e, int32_t pair) noexcept nogil
    # the row of an edge among those of its graph
    cdef Py_ssize_t edge_at(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil
