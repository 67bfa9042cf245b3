from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials, Topology

cdef extern from "messages.hpp" namespace "sskit" nogil:
    struct PassSums:
        double bound, size, score

    cppclass Messages:
        Scratch[double] packed, messages
        void load(const Potentials& p, const float* messages) except +
        void move_forests(Py_ssize_t n_moves, int32_t* labels) except +
        void save(float* messages)

    PassSums pass_to_last(const Messages& g, int32_t* labels) noexcept
    PassSums pass_to_first(const Messages& g) noexcept
    double decode_to_last(const Messages& g, int32_t* labels) noexcept


cdef class NodeMoves(GraphOracle):
    """Labellings that no change of a single node improves (iterated conditional modes)."""

    cdef const Topology* graph       # at hand
    cdef Scratch[double] gain        # (n_states,) scores of the states of a node
    cdef Scratch[char] stale         # (n_nodes,) may it have a better state?

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
