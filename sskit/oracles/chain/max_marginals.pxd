# out[t, k] = the best score of any labelling of n_nodes >= 1 nodes whose node t has state k,
# -inf if none is allowed. Rows of node, transition, transposed, out (n_nodes rows) and scratch
# (3 rows) have padded(n_states) columns; `transposed` is the transition table transposed, see
# transpose_padded. The padding of out is arbitrary.
cdef void find_max_marginals(
    const double* node, const double* transition, const double* transposed,
    Py_ssize_t n_nodes, Py_ssize_t n_states, double* scratch, double* out
) noexcept nogil

# out = table transposed, both (n_states, padded(n_states)); the padding of out is zero
cdef void transpose_padded(const double* table, Py_ssize_t n_states, double* out) noexcept nogil
