from libc.stdint cimport int8_t, int32_t, int64_t
from libcpp.vector cimport vector

from sskit.models.graph.problem cimport GraphProblem
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials


cdef class AnyGraphProblem(GraphProblem):
    """Graphs with pairs of any sign: several oracles, and what they may have missed is bounded.

    A node may have a loss for each label, and labels that it must not have.
    """

    cdef tuple oracles                       # keeps the next ones alive
    cdef vector[void*] oracle_of             # GraphOracle by its number
    cdef vector[bint] needs_finite           # can it not take -inf?
    cdef const int8_t[::1] choice            # (n_blocks,) the number of the oracle of a graph
    cdef const double[:, ::1] losses         # (n_nodes, n_states); empty: cost but at the truth
    cdef const unsigned char[:, ::1] allowed  # (n_nodes, n_states); empty: all labels
    # at a pair of states 0 or -inf, which is added to all tables; empty: all pairs
    cdef const double[::1] forbidden         # (width,)
    # Messages from call to call. Forks share them: a graph is asked by one thread at a time.
    cdef float[::1] messages
    cdef const int64_t[::1] message_offset   # (n_blocks,) where those of a graph begin; -1: none
    # scratch
    cdef double[::1] pairs                   # potentials of pairs, -inf where these are forbidden

    cdef inline GraphOracle oracle_at(self, Py_ssize_t i):
        return <GraphOracle>self.oracle_of[self.choice[i]]
    # pairs and labels of nodes that are not allowed get potentials of -inf, or so low that they
    # are never chosen
    cdef void forbid_pairs(self, Potentials* p) noexcept nogil
    cdef void forbid_labels(self, Py_ssize_t i, Potentials* p) noexcept nogil
