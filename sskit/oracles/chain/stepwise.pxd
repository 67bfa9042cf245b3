from libc.stdint cimport int32_t


# As viterbi_labels, with a table of transitions for each step: tables[t] leads from node t to the
# next one, n_nodes - 1 of them.
cdef double viterbi_steps(
    const double* node, const double** tables, Py_ssize_t n_nodes, Py_ssize_t n_states,
    const int32_t* truth, const double* cost, double loss_weight, double* value, int32_t* labels
) noexcept nogil

# As find_max_marginals, with a table for each step; `transposed` (n_states rows) is scratch.
cdef void max_marginals_steps(
    const double* node, const double** tables, Py_ssize_t n_nodes, Py_ssize_t n_states,
    double* transposed, double* scratch, double* out
) noexcept nogil

# score of a labelling
cdef double score_steps(
    const double* node, const double** tables, Py_ssize_t n_nodes, Py_ssize_t n_states,
    const int32_t* labels
) noexcept nogil
