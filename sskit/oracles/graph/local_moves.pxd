from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials
from sskit.oracles.graph.roof_dual cimport RoofDual


cdef class NodeMoves(GraphOracle):
    """Labellings that no change of a single node improves (iterated conditional modes)."""

    cdef Scratch[int32_t] first      # (n_nodes + 1,) where the edges of a node begin
    cdef Scratch[int32_t] incident   # (2 n_edges,) the edges of each node
    cdef Scratch[double] gain        # (n_states,) scores of the states of a node
    cdef Scratch[char] stale         # (n_nodes,) may it have a better state?

    # list the edges of each node
    cdef int arrange(self, const Potentials* p) except -1 nogil
    # give a node its best state; did it have a worse one?
    cdef bint move(self, const Potentials* p, Py_ssize_t v, int32_t* labels) noexcept nogil


cdef class FusionMoves(GraphOracle):
    """Labellings that fusion with no constant labelling improves; any number of states."""

    cdef RoofDual dual
    cdef NodeMoves node_moves
    cdef Scratch[int32_t] halves     # (n_nodes,) the best choice, see RoofDual
    cdef Scratch[int32_t] trial      # (n_nodes,) labellings
    cdef Scratch[int32_t] other

    # Give nodes the label that `proposal` has for them, such that the labelling is no worse than
    # either; did it get better?
    cdef bint fuse(
        self, const Potentials* p, int32_t* labels, const int32_t* proposal
    ) except -1 nogil
    # the same with one proposal after the other, until none helps
    cdef int fuse_all(
        self, const Potentials* p, int32_t* labels, Py_ssize_t n_proposals,
        const int32_t* proposals
    ) except -1 nogil
