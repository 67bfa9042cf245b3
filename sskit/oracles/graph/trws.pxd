from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials

cdef extern from "messages.hpp" namespace "sskit" nogil:
    struct PassSums:
        double bound, size, score

    cppclass MessageGraph:
        pass

    cppclass Messages(MessageGraph):
        Scratch[double] packed, messages
        void load(const Potentials& p, const float* messages) except +
        MessageGraph turned()
        void move(Py_ssize_t n_forests, int32_t* labels) except +
        void save(float* messages)

    PassSums pass_over(const MessageGraph& g, int32_t* labels) noexcept
    double decode_all(const MessageGraph& g, int32_t* labels) noexcept


cdef class TRWS(GraphOracle):
    """Good labellings and an upper bound of their scores, by sequential message passing."""

    cdef readonly Py_ssize_t max_sweeps
    cdef readonly double tol
    cdef readonly Py_ssize_t n_moves     # of forests
    cdef readonly Py_ssize_t n_sweeps    # of the last call
    cdef Messages messages
    cdef Scratch[int32_t] trial          # (n_nodes,) a labelling
    cdef double score                    # of the best labelling so far

    # take the labelling in `trial`, which is said to have this score, if it is better
    cdef void take(self, const Potentials* p, double score, int32_t* labels) noexcept nogil
    # sweeps until there is nothing more to gain; is the labelling known to be the best?
    cdef bint sweep(self, const Potentials* p, int32_t* labels) noexcept nogil
