# Chains of the second order: three labels in a row have a potential of their own, beside those of
# nodes and of pairs of neighbours. The first two labels have none of that kind before them.
#
# A table of triples is that of `triple_table`, triple_room(n_states) numbers; other rows have
# padded(n_states) columns. -inf forbids nodes, pairs and triples alike.
from libc.stdint cimport int32_t


cdef Py_ssize_t triple_room(Py_ssize_t n_states) noexcept nogil

# The table of weights (n_states, n_states, n_states), behind which LANES numbers can be read.
cdef void triple_table(const double* weights, Py_ssize_t n_states, double* out) noexcept nogil

# out[b, c] = pairs[b, c] + node[c] + max_a (value[a, b] + triples[a, b, c]); pairs and node may
# both be NULL; floor is scratch for one row.
cdef void second_order_step(
    const double* value, const double* triples, Py_ssize_t n_states, const double* pairs,
    const double* node, double* floor, double* out
) noexcept nogil

# Numbers of scratch that chains of up to so many nodes need.
cdef Py_ssize_t second_order_room(Py_ssize_t n_nodes, Py_ssize_t n_states) noexcept nogil

# The values of the best labellings that end with two labels, of n_nodes >= 2: table t - 1 of
# `value` is that of the nodes 0 .. t. truth may be NULL (no loss); returns the loss of labellings
# of which no label is right, whose counterpart is taken from the values.
cdef double second_order_values(
    const double* node, const double* pairs, const double* triples, Py_ssize_t n_nodes,
    Py_ssize_t n_states, const int32_t* truth, const double* cost, double loss_weight,
    double* value
) noexcept nogil

# As viterbi_labels, of a chain of the second order; `value` has second_order_room(..) numbers.
cdef double second_order_labels(
    const double* node, const double* pairs, const double* triples, Py_ssize_t n_nodes,
    Py_ssize_t n_states, const int32_t* truth, const double* cost, double loss_weight,
    double* value, int32_t* labels
) noexcept nogil

# score of a labelling
cdef double second_order_score(
    const double* node, const double* pairs, const double* triples, Py_ssize_t n_nodes,
    Py_ssize_t n_states, const int32_t* labels
) noexcept nogil
