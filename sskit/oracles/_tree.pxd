from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.oracles._forest cimport Forest
from sskit.oracles._potentials cimport GraphOracle, Potentials


cdef class TreeMaxSum(GraphOracle):
    """Max-sum on forests: the Viterbi recursion from the leaves to the roots.

    Rows of value and message are those of places in `forest`, padded(n_states) columns each;
    their padding is arbitrary.
    """

    cdef Forest forest
    cdef Py_ssize_t stride
    cdef vector[double] value      # best score of a subtree by the state of its root
    cdef vector[double] message    # the same with the edge to the parent, by the parent's state
    cdef vector[double] beyond     # best score of the rest of the tree, by the state of the place
    cdef vector[double] table      # (n_states, stride) of one edge
    cdef vector[double] row        # (2, stride) scratch, zeros

    cdef int reserve(self, const Potentials* p) except -1
    # fill value and message
    cdef void ascend(self, const Potentials* p) noexcept nogil
    # out[b] = max over a of from_[a] + the score of the edge of a place with a at the place and b
    # at its parent, or, downwards, the other way round
    cdef void send(
        self, const Potentials* p, Py_ssize_t place, bint down, const double* from_, double* out
    ) noexcept nogil
    # out (n_nodes, n_states)
    cdef int marginals(self, const Potentials* p, double[:, ::1] out) except -1
    cdef void descend(self, const Potentials* p) noexcept nogil
