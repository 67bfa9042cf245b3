from libc.stdint cimport int32_t


# One step of the recursion: out[b] = node[b] + max_a (value[a] + transition[a, b]); rows have
# padded(n_states) columns.
cdef void viterbi_step(
    const double* value, const double* transition, Py_ssize_t n_states, const double* node,
    double* out
) noexcept nogil

# Labelling of n_nodes >= 1 nodes that maximises
#     sum_t node[t, y_t] + sum_t transition[y_{t-1}, y_t] + sum_t [y_t != truth_t] cost_t
# and that maximum. Rows of node, transition and the scratch `value` (n_nodes rows) have
# padded(n_states) columns; forbidden transitions are -inf. truth may be NULL (no loss).
# Of several maximisers the one with the smallest last state, and so on backwards.
cdef double viterbi_labels(
    const double* node, const double* transition, Py_ssize_t n_nodes, Py_ssize_t n_states,
    const int32_t* truth, const double* cost, double loss_weight, double* value, int32_t* labels
) noexcept nogil
