from libc.stdint cimport int32_t

# Share of the size of the numbers below which a difference is rounding
cdef double ROUNDING


# Potentials of a graph. The score of a labelling y, to be maximised, is
#     sum_v node[v, y_v] + sum_e factor[y_u, y_v] * pair[t, column[y_u, y_v]]
# with (u, v) = ends[e], t = table[e], so that Potts potentials (factor is the identity, one
# column), symmetric and full tables are one. Potts potentials share no tables.
cdef struct Potentials:
    Py_ssize_t n_nodes
    Py_ssize_t n_edges
    Py_ssize_t n_states
    Py_ssize_t stride          # of the rows of node, >= n_states
    Py_ssize_t width           # of the rows of pair
    const double* node         # (n_nodes, stride)
    const int32_t* ends        # (n_edges, 2), two different nodes
    Py_ssize_t n_tables        # rows of pair
    const double* pair         # (n_tables, width)
    const int32_t* table       # (n_edges,) the row of pair of an edge; NULL: each has its own
    const int32_t* column      # (n_states, n_states)
    const double* factor       # (n_states, n_states)
    bint potts                 # is factor the identity and width one?


cdef inline Py_ssize_t table_of(const Potentials* p, Py_ssize_t e) noexcept nogil:
    return e if p.table == NULL else p.table[e]


cdef inline double pair_score(
    const Potentials* p, Py_ssize_t e, int32_t a, int32_t b
) noexcept nogil:
    cdef Py_ssize_t place
    if p.potts:  # the same number, with nothing to look up
        return p.pair[e * p.width] if a == b else 0.0
    place = a * p.n_states + b
    return p.factor[place] * p.pair[table_of(p, e) * p.width + p.column[place]]


cdef double labelling_score(const Potentials* p, const int32_t* labels) noexcept nogil

# the best label of every node without regard to the edges
cdef void nodes_alone(const Potentials* p, int32_t* labels) noexcept nogil


# Raise ValueError if sums of the numbers overflow, but for -inf: a cut would never end
cdef int check_capacities(const Potentials* p) except -1


cdef class PairForm:
    """How the numbers of an edge make a table over pairs of states (see Potentials)."""

    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t width
    cdef readonly bint potts
    cdef const int32_t[:, ::1] column
    cdef const double[:, ::1] factor


cdef class GraphPotentials:
    """Potentials from users' arrays, checked, with the arrays that they point to."""

    cdef Potentials struct_
    cdef readonly object nodes
    cdef readonly object edges
    cdef readonly object pairwise
    cdef PairForm form
    cdef const double[:, ::1] node_view
    cdef const int32_t[:, ::1] ends_view
    cdef const int32_t[::1] table_view
    cdef const double[:, ::1] pair_view


cdef class GraphOracle:
    """Finds a labelling of a high score; the object is scratch memory for one thread."""

    cdef readonly bint exact         # is it always the best?
    cdef readonly bint lock_free     # does improve() never take the interpreter's lock?
    cdef readonly bint takes_turns   # or for a part of its time only, in turns?
    cdef readonly bint bounds        # does improve() leave an upper bound of all scores in ..
    cdef readonly double bound       # .. this?

    # labels holds a labelling to start from, and then one that is no worse
    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil
    # The same from messages that an earlier call left, for these or for any other potentials of a
    # graph with the same edges; zeros: no call yet. How many there are, 0: there is no use for any.
    cdef Py_ssize_t memory_size(self, const Potentials* p) noexcept nogil
    cdef int improve_from(
        self, const Potentials* p, int32_t* labels, float* messages
    ) except -1 nogil
    # another one for another thread
    cpdef GraphOracle fork(self)
