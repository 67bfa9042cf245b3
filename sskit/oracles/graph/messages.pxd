from libc.stdint cimport int32_t, int64_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport Potentials

cdef struct Pass:
    double bound    # no labelling scores more; -inf: none is allowed
    double size     # of the numbers that it is the sum of
    double score    # of the labelling that was decoded


cdef class Messages:
    """Messages on a graph, and its potentials as passes over it read them (see the header).

    Nodes come in the order of their numbers. Tables are kept once for each edge, from the state
    of its earlier node to that of the later one; tables that edges share are kept once for either
    direction.
    """

    cdef Py_ssize_t n_nodes
    cdef Py_ssize_t n_states
    cdef Py_ssize_t n_edges
    cdef Py_ssize_t stride
    cdef bint is_potts
    cdef Scratch[double] node            # (n_nodes, stride)
    cdef Scratch[int32_t] first_later    # (n_nodes + 1,)
    cdef Scratch[int32_t] first_earlier  # (n_nodes + 1,)
    cdef Scratch[int32_t] earlier_edge   # (n_edges,)
    cdef Scratch[int32_t] later          # (n_edges,)
    cdef Scratch[int32_t] earlier        # (n_edges,)
    cdef Scratch[int32_t] given          # (n_edges,) an edge's place among those that are given
    cdef Scratch[double] tables
    cdef Scratch[int64_t] table_at       # (n_edges,)
    cdef Scratch[double] potts           # (n_edges,)
    cdef Scratch[double] message         # (n_edges, stride)
    cdef Scratch[double] row             # (2, stride)
    cdef Scratch[int32_t] parent         # (n_nodes,) of a forest
    cdef Scratch[double] value           # (n_nodes, stride) likewise

    # read potentials; messages (n_edges, n_states) to earlier nodes, or NULL: zeros
    cdef int load(self, const Potentials* p, const float* messages) except -1 nogil
    # A pass to the last node, on whose way the labelling is decoded that the messages of the pass
    # before lead to, and one back, and what the former decodes.
    cdef Pass to_last(self, int32_t* labels) noexcept nogil
    cdef Pass to_first(self) noexcept nogil
    cdef double decode(self, int32_t* labels) noexcept nogil
    # label forests anew, one after the other, each given the other nodes; no messages are read
    cdef int move_forests(self, Py_ssize_t n_moves, int32_t* labels) except -1 nogil
    # write the messages to earlier nodes out again, each less its largest
    cdef void save(self, float* messages) noexcept nogil
    # the edges by their earlier nodes, and those of each later node
    cdef int arrange(self, const Potentials* p) except -1 nogil
    cdef int load_tables(self, const Potentials* p) except -1 nogil
    # fill in a MessageGraph
    cdef void point(self, void* to) noexcept nogil
