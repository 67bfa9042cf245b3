# Chains of the second order: three labels in a row have a potential of their own, beside those of
# nodes and of pairs of neighbours. The first two labels have none of that kind before them.
#
# A table of triples is that of `triple_table`, triple_room(n_states) numbers; other rows have
# padded(n_states) columns. -inf forbids nodes, pairs and triples alike.
from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch


cdef Py_ssize_t triple_room(Py_ssize_t n_states) noexcept nogil

# The table of weights (n_states, n_states, n_states), behind which LANES numbers can be read.
cdef void triple_table(const double* weights, Py_ssize_t n_states, double* out) noexcept nogil

# Numbers of scratch that chains of up to so many nodes need.
cdef Py_ssize_t second_order_room(Py_ssize_t n_nodes, Py_ssize_t n_states) noexcept nogil

# As viterbi_labels, of a chain of the second order; `value` has second_order_room(..) numbers.
cdef double second_order_labels(
    const double* node, const double* pairs, const double* triples, Py_ssize_t n_nodes,
    Py_ssize_t n_states, const int32_t* truth, const double* cost, double loss_weight,
    double* value, int32_t* labels
) noexcept nogil


cdef struct Suffix:
    double bound     # the best score of a labelling with these last labels
    double score     # of all that comes behind the node `here`
    int32_t here     # the first two labels of the suffix are those of the nodes here - 1 and here
    int32_t first
    int32_t second
    int32_t behind   # the suffix that begins one node later, -1 at the end of the chain


cdef class SecondOrderKBest:
    """The k best labellings of chains of the second order: scratch memory and the search.

    Best first over suffixes of labellings: the Viterbi values say how good a suffix can become at
    best, so that every one that is taken is a part of one of the answers.
    """

    cdef readonly Py_ssize_t max_nodes       # longest chain that it can decode
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t k
    cdef double[::1] value
    cdef Scratch[Suffix] suffixes
    cdef Scratch[int32_t] heap               # those that wait, best first
    cdef int32_t[::1] one                    # (max_nodes,) labels from the end, to compare
    cdef int32_t[::1] other

    # The best labellings of 1 <= n_nodes <= max_nodes nodes by falling score, distinct, as many as
    # exist up to k; returns their number. labels (k, n_nodes) and scores (k,) are written to. Of
    # equal ones first that with the smaller last state, and so on backwards.
    cdef Py_ssize_t decode(
        self, const double* node, const double* pairs, const double* triples, Py_ssize_t n_nodes,
        int32_t* labels, double* scores
    ) except -1 nogil
    cdef bint before(self, int32_t one, int32_t other) noexcept nogil
    cdef Py_ssize_t trace(self, int32_t suffix, int32_t* out) noexcept nogil
    cdef int wait(self, Suffix suffix) except -1 nogil
    cdef int32_t take(self) noexcept nogil


# Numbers of scratch of the next one.
cdef Py_ssize_t marginals_room(Py_ssize_t n_nodes, Py_ssize_t n_states) noexcept nogil

# out (n_nodes, padded(n_states)) = the max-marginals; `reversed_triples` is the table of triples
# read backwards, `reversed_pairs` that of pairs.
cdef void second_order_max_marginals_of(
    const double* node, const double* pairs, const double* triples, const double* reversed_pairs,
    const double* reversed_triples, Py_ssize_t n_nodes, Py_ssize_t n_states, double* scratch,
    double* out
) noexcept nogil
