from libc.stdint cimport int32_t

from sskit.oracles.graph.cut cimport Cut
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials


cdef class MoveMaking(GraphOracle):
    """Labellings of many states that no move improves; a move is found by one cut.

    Before the moves, nodes of Potts potentials whose best label is certain get it for good:
    certain[v] >= 0, and `reduced` are the potentials of the other nodes given the certain ones.
    """

    cdef readonly bint persistency
    cdef Cut cut
    cdef Py_ssize_t max_nodes
    cdef Py_ssize_t n_states
    cdef int32_t[::1] certain        # (max_nodes,) label, or -1
    cdef int32_t[::1] trial          # (max_nodes,)
    cdef int32_t[::1] second         # (max_nodes,)
    cdef double[::1] reduced         # (max_nodes * n_states,)
    cdef readonly Py_ssize_t n_cuts  # so far

    cdef int reserve(self, const Potentials* p) except -1 nogil
    cdef int grow(self, const Potentials* p) except -1
    cdef int find_certain(self, const Potentials* p) except -1 nogil
    # take move m if it raises the score by more than `least`; did it?
    cdef int move(
        self, const Potentials* p, int32_t* labels, Py_ssize_t m, double* score, double least
    ) except -1 nogil
    # number of different moves, and the options of move m from these labels
    cdef Py_ssize_t n_moves(self, Py_ssize_t n_states) noexcept nogil
    cdef void options(
        self, Py_ssize_t m, const Potentials* p, const int32_t* labels
    ) noexcept nogil
    # do these moves end within twice the least costs of Potts potentials?
    cdef bint halves(self) noexcept nogil
    # After improve(): no labelling scores more than this.
    cdef double least_bound(self, const Potentials* p, const int32_t* labels) noexcept nogil


cdef class Expansion(MoveMaking):
    pass


cdef class Swap(MoveMaking):
    pass
