from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.messages cimport Messages
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials


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


cdef class TRWS(GraphOracle):
    """Good labellings and an upper bound of their scores, by sequential message passing."""

    cdef readonly Py_ssize_t max_sweeps
    cdef readonly double tol
    cdef readonly Py_ssize_t n_moves     # of forests
    cdef readonly Py_ssize_t n_sweeps    # of the last call
    cdef Messages messages
    cdef NodeMoves node_moves
    cdef Scratch[int32_t] trial          # (n_nodes,) a labelling
    cdef double score                    # of the best labelling so far

    # take the labelling in `trial`, which is said to have this score, if it is better
    cdef void take(self, const Potentials* p, double score, int32_t* labels) noexcept nogil
    # sweeps until there is nothing more to gain; is the labelling known to be the best?
    cdef bint sweep(self, const Potentials* p, int32_t* labels) noexcept nogil
