"""Tables of transitions made of the features of an edge (see the .pxd)."""

cdef extern from "edge_tables.hpp":
    void clone_edge_table "sskit::edge_table"(
        const Rows* rows, Py_ssize_t t, const double* base, const double* weights,
        const double* end, Py_ssize_t n_states, double* out
    ) noexcept nogil


cdef void edge_table(
    const Rows* rows, Py_ssize_t t, const double* base, const double* weights, const double* end,
    Py_ssize_t n_states, double* out
) noexcept nogil:
    clone_edge_table(rows, t, base, weights, end, n_states, out)
