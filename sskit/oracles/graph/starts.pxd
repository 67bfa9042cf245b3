from libc.stdint cimport int32_t
from libcpp.pair cimport pair as Pair

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.forest_moves cimport ForestMoves
from sskit.oracles.graph.expansion cimport MoveMaking
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials


cdef class ManyStarts(GraphOracle):
    """Moves from several labellings, of which the best answer is kept.

    Where expansions could serve all edges there is one start, the one that is given.
    """

    cdef readonly MoveMaking moves
    cdef readonly GraphOracle forest     # exact on graphs without cycles
    cdef readonly ForestMoves forest_moves
    cdef Scratch[int32_t] trial           # (n_nodes,) an answer
    cdef Scratch[int32_t] ends            # (n_nodes, 2) the edges of a spanning forest, and spare
    cdef Scratch[int32_t] table           # (n_nodes,) their tables, and spare
    cdef Scratch[int32_t] root            # (n_nodes,) a node nearer to the root of its tree
    cdef Scratch[Pair[double, int32_t]] order     # (n_edges,) minus what an edge matters, edge

    # take the answer from `trial` if it scores more than `score`, which is that of labels
    cdef int attempt(self, const Potentials* p, int32_t* labels, double* score) except -1 nogil
    # fill ends and table with the edges of a spanning forest that matter most; returns how many
    cdef Py_ssize_t span(self, const Potentials* p) noexcept nogil


# can every edge be represented in every expansion?
cdef bint takes_expansions(const Potentials* p) noexcept nogil
