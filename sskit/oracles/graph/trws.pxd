from libc.stdint cimport int32_t, int64_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials, Topology


cdef class NodeMoves(GraphOracle):
    """Labellings that no change of a single node improves (iterated conditional modes)."""

    cdef const Topology* graph       # at hand
    cdef Scratch[double] gain        # (n_states,) scores of the states of a node
    cdef Scratch[char] stale         # (n_nodes,) may it have a better state?

    # give a node its best state; did it have a worse one?
    cdef bint move(self, const Potentials* p, Py_ssize_t v, int32_t* labels) noexcept nogil


cdef class TRWS(GraphOracle):
    """Good labellings and an upper bound of their scores, by sequential message passing.

    Nodes come in the order of their numbers. Tables are kept once for each edge, from the state
    of its earlier node to that of the later one; tables that edges share are kept once for either
    direction. Edges are sorted as those of a `Topology` are.
    """

    cdef readonly Py_ssize_t max_sweeps
    cdef readonly double tol
    cdef readonly Py_ssize_t n_moves     # of forests
    cdef readonly Py_ssize_t n_sweeps    # of the last call
    cdef NodeMoves node_moves
    cdef Scratch[int32_t] trial          # (n_nodes,) a labelling
    cdef double score                    # of the best labelling so far
    # the potentials as passes read them (see the header), and scratch memory of these
    cdef Py_ssize_t stride
    cdef Scratch[double] node            # (n_nodes, stride)
    cdef Scratch[double] tables
    cdef Scratch[int64_t] table_at       # (n_edges,)
    cdef Scratch[double] potts           # (n_edges,)
    cdef Scratch[double] message         # (n_edges, stride)
    cdef Scratch[double] row             # (2, stride)
    cdef Scratch[int32_t] parent         # (n_nodes,) of a forest
    cdef Scratch[double] value           # (n_nodes, stride) likewise

    # read potentials; messages (n_edges, n_states) to earlier nodes, or NULL: zeros
    cdef int load(self, const Potentials* p, const float* messages) except -1 nogil
    cdef int load_tables(self, const Potentials* p) except -1 nogil
    # write the messages to earlier nodes out again, each less its largest
    cdef void save(self, const Potentials* p, float* messages) noexcept nogil
    # take the labelling in `trial`, which is said to have this score, if it is better
    cdef void take(self, const Potentials* p, double score, int32_t* labels) noexcept nogil
