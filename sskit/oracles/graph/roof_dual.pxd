from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.cut cimport Cut
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials


cdef class RoofDual:
    """The linear relaxation of a choice between two options at every node, by one minimum cut.

    Maximises sum_l label[l] y_l + sum_e pair[e] z_e over 0 <= y <= 1 and max(0, y_k + y_l - 1)
    <= z_e <= min(y_k, y_l), for pairs of any sign; some best y is of halves. Where y is whole
    there, it is in a best whole labelling, and whatever the other labels are, to give these their
    values makes none worse (persistency).

    Labels whose own score outweighs all pairs in one direction are decided before, which leaves
    most calls little to cut. Where labels can be exchanged for their complements such that no pair
    of a component is negative, the component is cut as it is, and comes out whole. A label of any
    other component has two nodes in the network, one for itself and one for its complement, which
    stand for the means (y_l + 1 - complement_l) / 2 (Boros and Hammer 2002; Kolmogorov and Rother
    2007). With each edge counted half in either copy, its score is, but for parts that are linear
    in each end, -|pair| / 4 times
        |y_k - y_l| + |complement_k - complement_l|      for pair > 0
        |y_k - complement_l| + |complement_k - y_l|      for pair < 0
    and all of that is one cut. Ties are decided against the label before the cut, and for 1/2 in
    a doubled component.
    """

    cdef Cut cut
    cdef Scratch[double] gain        # (n_labels,) scores of labels given the decided ones
    cdef Scratch[double] low         # (n_labels,) sums of negative, of positive pairs
    cdef Scratch[double] high
    cdef Scratch[int32_t] open       # the edges between undecided labels
    cdef Scratch[int32_t] above      # (n_labels,) union-find: the next label towards the root
    cdef Scratch[char] differs       # (n_labels,) is one of the two to be exchanged, not both?
    cdef Scratch[char] odd           # (n_labels,) by root: will no exchange do?

    # halves (n_labels,): two times the best value of each label
    cdef int solve(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* halves
    ) except -1 nogil
    # after solve() of the choice that the cut has read: the optimum, less the score of all first
    # options
    cdef double optimum(self, const Potentials* p, const int32_t* halves) noexcept nogil

    cdef Py_ssize_t decide(
        self, Py_ssize_t n_labels, Py_ssize_t n_edges, const int32_t* ends, const double* pair,
        int32_t* halves
    ) noexcept nogil
    # find the components of open edges that have to be doubled; are there any?
    cdef bint exchange(
        self, Py_ssize_t n_labels, Py_ssize_t n_open, const int32_t* ends, const double* pair
    ) except -1 nogil
    # the root of a label, whose `above` it is then, and `differs` from it
    cdef int32_t find(self, int32_t v) noexcept nogil
    cdef void join(
        self, Py_ssize_t n_labels, Py_ssize_t n_open, const int32_t* ends, const double* pair,
        const int32_t* halves, bint doubled
    ) noexcept nogil
    cdef void read(self, Py_ssize_t n_labels, int32_t* halves) noexcept nogil


cdef class QPBO(GraphOracle):
    """Labellings of graphs with two states: certain labels by one cut, good ones for the rest."""

    cdef readonly Py_ssize_t n_undecided  # nodes, in the last call
    cdef RoofDual dual
    cdef GraphOracle rest            # TRWS
    cdef Scratch[int32_t] halves     # (n_nodes,) twice the states of the relaxation's optimum
    cdef Scratch[int32_t] trial      # (n_nodes,) a labelling
    cdef Scratch[int32_t] last       # (n_nodes,) the last state

    cdef void write_decided(self, int32_t* labels, Py_ssize_t n_nodes) noexcept nogil
    # fill halves, n_undecided and bound
    cdef int relax(self, const Potentials* p) except -1 nogil
