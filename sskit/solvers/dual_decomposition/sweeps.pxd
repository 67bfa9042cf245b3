from libc.stdint cimport int32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.random cimport mt19937_64
from libcpp.vector cimport vector

from sskit.core.decomposition cimport Factors, LabelFactors
from sskit.solvers.simplex_qp.program cimport Step, WorkingSet

cdef extern from "mixes.hpp" namespace "sskit" nogil:
    struct Atom:
        int32_t* label
        double weight
    ctypedef vector[Atom] Mix
    cppclass Sparse:
        vector[double] at
        void clear()
        void move_into(double* sums)

cdef extern from "pair_search.hpp" namespace "sskit" nogil:
    cppclass PairSearch:
        unsigned long long n_compared
        void bind(const double* table, Py_ssize_t n_states) except +
        void renew() except +
        void update(int32_t a, int32_t b) except +
        Py_ssize_t best(const Mix& mix, const vector[Sparse]& messages)

cdef extern from "label_block.hpp" namespace "sskit" nogil:
    cppclass StoredBlock:
        cbool open
    cppclass LabelBlock:
        vector[double] gain, change
        unsigned long long n_compared
        void bind(
            Py_ssize_t n_labels, Py_ssize_t n_edges, const int32_t* ends, const double* costs,
            double* pair_weights
        ) except +
        void renew()
        void load(const StoredBlock& block, const int32_t* true_set) except +
        void store(StoredBlock* block) except +
        double visit(
            double kappa, double penalty, double sqnorm, bint alone, double step, cbool* open,
            double* distance
        ) except +
        double leave_truth(bint consistent, double scale, double* pairs)

cdef extern from "label_projection.hpp" namespace "sskit" nogil:
    cppclass StoredMarginals:
        cbool open
    cppclass ProjectedBlock:
        cbool seeks
        vector[double] gain, change
        unsigned long long n_compared
        void bind(
            Py_ssize_t n_labels, Py_ssize_t n_edges, const int32_t* ends, const double* costs,
            double* pair_weights
        ) except +
        void renew() except +
        void load(const StoredMarginals& block, const int32_t* true_set)
        double visit(
            double kappa, double sqnorm, cbool alone, StoredMarginals* block, double* gap
        ) except +
        double leave_truth(const StoredMarginals& block, double scale, double* pairs)


cdef class Sweep:
    """Dual variables of factors with the weights that follow from them, and passes over blocks.

    q_f is a distribution over the states of factor f, the truth to begin with, and

        w = (1 / lam) sum_i c_i sum_f (phi_f(truth) - sum_s q_f(s) phi_f(s)).

    M_jf q_f are the marginals of edge f at its end j, which ought to be q_j. The augmented
    Lagrangian is

        lam/2 ||w||^2 - sum_i c_i sum_j <L_j, q_j>
            + sum_i rho_i/2 sum_jf (||M_jf q_f - q_j + mu_jf||^2 - ||mu_jf||^2),

    with rho_i = rho c_i^2 / lam: the curvature of the first term in q_f is c_i^2 / lam, so rho
    compares the two. `visit` and what it calls divide it, its gradient and curvature by c_i.
    """

    cdef readonly Factors factors
    cdef readonly double lam, rho
    cdef readonly double step            # eta of the multipliers
    cdef readonly double[::1] w          # (n_weights + LANES,)
    cdef readonly object prior           # ndarray (n_weights + LANES,), None for zero
    cdef readonly bint certifies         # are consistent marginals a dual point?
    cdef readonly bint stores            # may a pass among the active states follow one?
    cdef readonly Py_ssize_t n_passes    # so far
    cdef readonly uint64_t n_compared    # states that the oracles have scored so far
    # The augmented Lagrangian, summed from its changes: the norm of all weights costs more than a
    # pass where there are more weights than features of factors
    cdef readonly double lagrangian
    # of the last pass, nan if it was cut short: sum_i c_i times the mean total variation between
    # the marginals of an edge at an end and the mix of this node, between 0 and 1
    cdef readonly double infeasibility
    # likewise: sum_i c_i sum_f (the largest gain - the mean gain of the mix), each when the factor
    # was visited; 0 if it is not summed
    cdef readonly double gap

    # Let the factors of a block step, then the multipliers; returns by how much the Lagrangian
    # falls. A pass that is not `full` is one among the active states. `distance` becomes the mean
    # total variation of the block.
    cdef double visit(self, Py_ssize_t i, bint full, double* distance) except? -1 nogil
    # w += (1 / lam) c_i (psi_i of the marginals of a block); returns their loss, -inf if they need
    # a state that is forbidden. They are the mixes, or `consistent` ones, on which factors agree.
    cdef double add_block(self, Py_ssize_t i, bint consistent, double* w) except? -1 nogil


cdef class FactorSweep(Sweep):
    """Nodes and edges of any states: factor f is node f, or edge f - n_nodes.

    Message 2 e + side belongs to edge e and its first (0) or second (1) end.
    """

    cdef vector[Mix] mixes, messages
    cdef vector[vector[Py_ssize_t]] incident   # the messages of each node
    cdef Step towards                    # which states a step goes; None for projections
    cdef readonly Py_ssize_t n_parts     # into which the states of a node are split
    cdef mt19937_64 random               # draws one
    cdef readonly bint ordered           # are the pairs searched in sublinear time?
    cdef PairSearch search
    cdef double[::1] score               # (n_states + LANES,) of a node
    cdef double[::1] table               # (n_states^2 + LANES,) of an edge, if each has its own
    # Messages from an edge to its two ends; the first one also holds the sum of the messages from
    # the edges of a node. (n_states + LANES,) numbers each, zero between calls, but the spare
    # numbers of the second are infinite.
    cdef vector[Sparse] residuals
    cdef WorkingSet atoms                # the states of the mix at hand with their gains
    cdef vector[double] gram             # of these: curvatures over c_i^2 / lam

    # rho c_i / lam: what a message counts in a gradient
    cdef double penalty(self, Py_ssize_t i) noexcept nogil
    # Find the gains of the states of the mix, which the best one of all joins if the pass is
    # `full`, into `atoms`; returns the place of the largest
    cdef Py_ssize_t score_states(self, Py_ssize_t i, Py_ssize_t f, bint full) except -1 nogil
    cdef int score_node(self, Py_ssize_t i, Py_ssize_t j, bint full) except -1 nogil
    cdef int score_edge(self, Py_ssize_t i, Py_ssize_t e, bint full) except -1 nogil
    # Take the step of a factor whose gains are known; returns the decrease
    cdef double update(self, Py_ssize_t i, Py_ssize_t f, Py_ssize_t greedy) except? -1 nogil
    # w += scale (phi_f(truth) - the mean of phi_f)
    cdef void add(
        self, Py_ssize_t i, Py_ssize_t f, Mix* mix, double scale, double* w
    ) noexcept nogil


cdef class LabelSweep(Sweep):
    cdef LabelFactors labels
    cdef LabelBlock block                # the one at hand
    cdef vector[StoredBlock] stored      # (n_blocks,) all of them


cdef class LabelProjection(Sweep):
    cdef LabelFactors labels
    cdef ProjectedBlock block            # the one at hand
    cdef vector[StoredMarginals] stored  # (n_blocks,) all of them
    cdef public bint alone               # are labels visited without their pairs?
    cdef readonly double[::1] promises   # (n_blocks,)
