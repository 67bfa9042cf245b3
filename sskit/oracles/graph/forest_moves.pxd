from libc.stdint cimport int32_t, uint64_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials


cdef class ForestMoves(GraphOracle):
    """Labellings that no move has improved for long; a move labels a forest anew, exactly.

    The nodes of the forest are drawn: such that the edges between them close no cycle, and no
    further node could be added. The other nodes keep their labels.
    """

    cdef readonly GraphOracle forest     # exact on graphs without cycles
    cdef uint64_t drawn                  # the last number that was drawn
    cdef Scratch[int32_t] first           # (n_nodes + 1,) where the edges of a node begin
    cdef Scratch[int32_t] other           # (2 n_edges,) the other nodes of the edges of each node
    cdef Scratch[int32_t] order           # (n_nodes,) in which nodes are asked whether they fit
    cdef Scratch[int32_t] root            # (n_nodes,) nearer to the root of its tree; -1: in none
    cdef Scratch[int32_t] met             # (n_nodes,) the last node that met a tree, by its root
    cdef Scratch[double] node             # (n_nodes * stride) potentials, given the other labels
    cdef Scratch[int32_t] ends            # (n_nodes, 2) the edges of the forest, and spare
    cdef Scratch[int32_t] table           # (n_nodes,) their tables, and spare
    cdef Scratch[int32_t] trial           # (n_nodes,) an answer

    # list the edges of each node
    cdef int prepare(self, const Potentials* p) except -1 nogil
    # write the labels of one move to `trial`
    cdef int move(self, const Potentials* p, const int32_t* labels) except -1 nogil
    # draw the nodes of a forest: those with root[v] >= 0
    cdef void draw(self, const Potentials* p) noexcept nogil


# the root of the tree that a node is in; halves the way to it
cdef inline int32_t find(Scratch[int32_t]& root, int32_t v) noexcept nogil:
    while root[v] != v:
        root[v] = root[root[v]]
        v = root[v]
    return v
