from libc.stdint cimport int32_t
from libcpp.random cimport mt19937_64
from libcpp.vector cimport vector

from sskit.solvers.dual_decomposition.sweep cimport Sweep
from sskit.solvers.simplex_qp.program cimport Step, WorkingSet


cdef extern from "mixes.hpp" namespace "sskit" nogil:
    struct Share:
        int32_t* label
        double weight
    ctypedef vector[Share] Mix
    cppclass Sparse:
        vector[double] at
        void clear()
        void pour_into(double* sums)


cdef extern from "pair_search.hpp" namespace "sskit" nogil:
    cppclass PairSearch:
        unsigned long long n_looks
        void bind(const double* table, Py_ssize_t n_states) except +
        void renew() except +
        void moved(int32_t a, int32_t b) except +
        Py_ssize_t best(const Mix& mix, const vector[Sparse]& told)


cdef class FactorSweep(Sweep):
    """Nodes and edges of any states: factor f is node f, or edge f - n_nodes.

    Message 2 e + side belongs to edge e and its first (0) or second (1) end.
    """

    cdef vector[Mix] mixes
    cdef vector[Mix] messages
    cdef vector[vector[Py_ssize_t]] incident   # the messages of each node
    cdef Step towards                    # which states a step goes; None for projections
    cdef readonly Py_ssize_t n_parts     # into which the states of a node are split
    cdef mt19937_64 random               # draws one
    cdef readonly bint ordered           # are the pairs searched in sublinear time?
    cdef PairSearch search
    cdef double[::1] score               # (n_states + LANES,) of a node
    cdef double[::1] table               # (n_states^2 + LANES,) of an edge, if they share none
    # What the ends of an edge are told, the first one what its edges say to a node as well:
    # (n_states + LANES,) zero between calls, but the spare ones of the second are infinite
    cdef vector[Sparse] told
    cdef WorkingSet atoms                # the states of the mix at hand with their gains
    cdef vector[double] gram             # of these: curvatures over c_i^2 / lam

    # rho c_i / lam: what a message counts in a gradient
    cdef double penalty(self, Py_ssize_t i) noexcept nogil
    # Find the gains of the states of the mix, which the best one of all joins if the look is
    # `full`, into `atoms`; returns the place of the largest
    cdef Py_ssize_t look(self, Py_ssize_t i, Py_ssize_t f, bint full) except -1 nogil
    cdef int look_at_node(self, Py_ssize_t i, Py_ssize_t j, bint full) except -1 nogil
    cdef int look_at_edge(self, Py_ssize_t i, Py_ssize_t e, bint full) except -1 nogil
    # Take the step of a factor whose gains are known; returns the decrease
    cdef double move(self, Py_ssize_t i, Py_ssize_t f, Py_ssize_t greedy) except? -1 nogil
    # w += scale (phi_f(truth) - the mean of phi_f)
    cdef void add(
        self, Py_ssize_t i, Py_ssize_t f, Mix* mix, double scale, double* w
    ) noexcept nogil
