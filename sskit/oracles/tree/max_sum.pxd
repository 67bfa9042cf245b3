from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.tree.forest cimport Forest
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials


cdef class TreeMaxSum(GraphOracle):
    """Max-sum on forests: the Viterbi recursion from the leaves to the roots.

    Rows of value and message are those of places in `forest`, padded(n_states) columns each;
    their padding is arbitrary.
    """

    cdef Forest forest
    cdef Py_ssize_t stride
    cdef Scratch[double] value      # best score of a subtree by the state of its root
    cdef Scratch[double] message    # the same with the edge to the parent, by the parent's state
    cdef Scratch[double] beyond     # best score of the rest of the tree, by the state of the place
    # tables (n_states, stride) of edges, first node by second, or turned: of one edge at a time,
    # or, where edges share them, each once: that of row t from 2 t on
    cdef Scratch[double] tables
    cdef Scratch[char] ready        # which of them are made; empty if they are not kept
    cdef Scratch[double] row       # (2, stride) scratch, zeros
    cdef Scratch[double] bests     # (n_nodes,) by place: best score of the tree

    cdef int reserve(self, const Potentials* p) except -1 nogil
    # fill value and message
    cdef void ascend(self, const Potentials* p) noexcept nogil
    # out[b] = max over a of from_[a] + the score of the edge of a place with a at the place and b
    # at its parent, or, downwards, the other way round
    cdef void send(
        self, const Potentials* p, Py_ssize_t place, bint down, const double* from_, double* out
    ) noexcept nogil
    # out (n_nodes, n_states)
    cdef int marginals(self, const Potentials* p, double* out) except -1 nogil
    cdef void descend(self, const Potentials* p) noexcept nogil
    # the table of an edge from the state of its first node, or if not forward its second, to that
    # of the other
    cdef const double* table(self, const Potentials* p, Py_ssize_t e, bint forward) noexcept nogil


# the score of an edge with this state at one of its nodes, the other at the other
cdef double edge_score(
    const Potentials* p, Py_ssize_t e, int32_t node, int32_t state, int32_t other
) noexcept nogil
