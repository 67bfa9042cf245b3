from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch


# See the header for what they hold.
cdef extern from "topology.hpp" namespace "sskit" nogil:
    cppclass Topology:
        Py_ssize_t n_nodes, n_edges, width, most
        Scratch[int32_t] order, parent, edge

        void take(Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends) except +
        Py_ssize_t closing_edge() except +
        void make_incidence() except +
        void make_sorted() except +
        void make_forest() except +      # ValueError names the first edge that closes a cycle
        bint takes_elimination(Py_ssize_t n_states, double max_entries) except +
        double count_entries(Py_ssize_t n_states)

    struct Potentials:
        Py_ssize_t n_nodes, n_edges, n_states, stride, width, n_tables
        const double* node
        const double* pair
        const int32_t* ends
        const int32_t* table
        const int32_t* column
        bint potts
        const Topology* topology

    double ROUNDING
    Py_ssize_t table_of(const Potentials* p, Py_ssize_t e) noexcept
    double pair_score(const Potentials* p, Py_ssize_t e, int32_t a, int32_t b) noexcept
    double labelling_score(const Potentials* p, const int32_t* labels) noexcept
    void nodes_alone(const Potentials* p, int32_t* labels) noexcept
    double size_of(const Potentials* p, bint* forbids) noexcept


cdef class Topologies:
    """What follows from the edges of graphs, made once for graphs with the same edges."""

    cdef Scratch[Topology] different
    cdef int32_t[::1] number         # (n_graphs,) which of them is that of a graph

    cdef inline Topology* at(self, Py_ssize_t i) noexcept nogil:
        return &self.different[self.number[i]]


# The oracles of graphs, in the order of NAMES.
cdef enum:
    TREE, GRAPHCUT, ELIMINATION, EXPANSION, QPBO, TRWS

# The rule of choice, for all methods that have one; see `choose`.
cdef int choose_oracle(
    Topology* topology, Py_ssize_t n_states, bint attractive, bint potts, bint forbids,
    double max_entries, double max_labellings
) except -1 nogil


cdef class PairForm:
    """How the numbers of an edge make a table over pairs of states (see Potentials)."""

    cdef readonly Py_ssize_t n_states, width
    cdef readonly bint potts
    cdef const int32_t[:, ::1] column
    cdef object columns              # the same as an array
    cdef str kind
    cdef object first                # (width,) the first pair of states that a number stands for

    cdef inline void write(self, Potentials* p) noexcept nogil:
        p.n_states, p.potts, p.column = self.n_states, self.potts, &self.column[0, 0]


cdef class GraphPotentials:
    """Potentials from users' arrays, checked, with the arrays that they point to."""

    cdef Potentials struct_
    cdef PairForm form
    cdef const double[:, ::1] node_view
    cdef const int32_t[:, ::1] ends_view
    cdef const int32_t[::1] table_view
    cdef const double[:, ::1] pair_view

    # the labelling that an oracle finds from another one, None: the best of every node alone; and
    # its score
    cdef tuple labelled(self, GraphOracle oracle, start=*)


cdef class GraphOracle:
    """Finds a labelling of a high score; the object is scratch memory for one thread.

    Another thread takes another one, made without arguments.
    """

    cdef readonly bint exact         # is it always the best?
    cdef readonly bint lock_free     # does improve() never take the interpreter's lock?
    cdef readonly bint takes_turns   # or for a part of its time only, in turns?
    cdef readonly bint needs_finite  # must potentials be finite?
    cdef readonly bint keeps_messages    # does it read messages?
    cdef readonly bint bounds        # does improve() leave an upper bound of all scores in ..
    cdef readonly double bound       # .. this?
    cdef Topology own                # of the edges of the last call that brought none

    # labels holds a labelling to start from, and then one that is no worse. messages, (n_edges,
    # n_states), are what an earlier call left, for these or for any other potentials of a graph
    # with the same edges; zeros: no call yet. NULL: there are none.
    cdef int improve(self, const Potentials* p, int32_t* labels, float* messages) except -1 nogil
    # make what improve() reads of what follows from the edges, or raise ValueError
    cdef int arrange(self, Topology* topology, Py_ssize_t n_states) except -1 nogil
    # that of the potentials, or, where they bring none, made for this call
    cdef const Topology* topology_of(self, const Potentials* p) except NULL nogil
