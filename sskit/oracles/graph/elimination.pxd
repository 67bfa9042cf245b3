from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials, Topology


cdef class Elimination(GraphOracle):
    """Variable elimination: max-sum over the joint states of a node and its neighbours.

    The node at place i of the order leaves a table by the states of the neighbours that it has
    then: what it scores at best with them, and what was eliminated before it. Of the states of a
    table, those of the neighbour that is eliminated next vary fastest, so that a table is made of
    rows over the states of one node each.
    """

    cdef readonly Py_ssize_t max_entries
    cdef const Topology* graph       # at hand
    cdef Py_ssize_t n_states
    cdef Scratch[Py_ssize_t] offset      # (n_nodes,) by place: where its table begins
    cdef Py_ssize_t n_entries            # of all tables together
    cdef Scratch[double] tables          # all of them, and those of the edges of one node
    # what is added up for one node: rows over its states, by the states of neighbours
    cdef Scratch[Py_ssize_t] row         # (n_parts,) the present row, in `tables`
    cdef Scratch[Py_ssize_t] step        # (n_parts, n_neighbours) see take_part()
    cdef Scratch[int32_t] level          # (n_parts,) its neighbour that is eliminated first
    cdef Scratch[double] sums            # (n_neighbours + 1, n_states)
    cdef Scratch[int32_t] state          # (n_neighbours,)

    # make room for the tables
    cdef int reserve(self, const Potentials* p) except -1 nogil
    # make the table of a place
    cdef int eliminate(self, const Potentials* p, Py_ssize_t i) except -1 nogil
    # fill row, step, level and the last of sums
    cdef int collect(self, const Potentials* p, Py_ssize_t i) except -1 nogil
    # one part more, whose scope is these places after the node's own; the first is fastest
    cdef int take_part(
        self, Py_ssize_t i, Py_ssize_t row, const int32_t* scope, Py_ssize_t n_scope
    ) except -1 nogil
    # the best state of the node at a place, given those of its neighbours
    cdef int32_t best(
        self, const Potentials* p, Py_ssize_t i, const int32_t* labels
    ) except -1 nogil
