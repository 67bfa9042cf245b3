from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.local_moves cimport NodeMoves
from sskit.oracles.graph.messages cimport Messages
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials


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
