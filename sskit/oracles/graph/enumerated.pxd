from libc.stdint cimport int32_t, int64_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.exhaustive cimport EarlierEdges, Enumeration
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials


cdef class Enumerated(GraphOracle):
    """All labellings of small graphs, tried one by one."""

    cdef Enumeration enumeration
    cdef Scratch[double] node        # (n_nodes, padded(n_states))
    # see EarlierEdges
    cdef Scratch[int64_t] first
    cdef Scratch[int32_t] earlier
    cdef Scratch[double] table
    cdef Scratch[int64_t] end        # (n_nodes,) of the edges that were sorted in so far
    cdef Scratch[int32_t] edge       # (n_edges,) the edge at a place

    # refuse what would take forever
    cdef int check_size(self, const Potentials* p) except -1 nogil
    # the potentials of the nodes, where they are numbers or -inf
    cdef int load_nodes(self, const Potentials* p, Py_ssize_t stride) except -1 nogil
    # the edges, sorted as EarlierEdges are
    cdef int load_edges(self, const Potentials* p, Py_ssize_t stride) except -1 nogil


# ValueError unless it is a number or -inf
cdef int check_potential(double potential, str name) except -1 nogil
