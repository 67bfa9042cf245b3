# Features of edges: their rows, and the tables of transitions that they make (see the headers).
from sskit.models.rows cimport Rows


cdef extern from "edge_rows.hpp" namespace "sskit":
    # The first of the last features whose tables of `size` weights cannot be read in whole vectors
    # where they lie, as numbers behind the last one would be read too.
    Py_ssize_t late_feature(Py_ssize_t n_features, Py_ssize_t size) noexcept nogil
    # does row t have no entries? Dense rows have.
    bint is_bare(const Rows* rows, Py_ssize_t t) noexcept nogil
    # <row s, row t>
    double row_inner(const Rows* rows, Py_ssize_t s, Py_ssize_t t) noexcept nogil
    # weights += step * row t, the weight of feature f at weights[f * stride]; returns by how much
    # the squared norm of the weights grows
    double add_growing(
        const Rows* rows, Py_ssize_t t, double step, double* weights, Py_ssize_t stride
    ) noexcept nogil
    # weights = value clipped to [lower, upper] at the features of row t, placed likewise
    void clip_edge(
        const Rows* rows, Py_ssize_t t, const double* value, const double* lower,
        const double* upper, double* weights, Py_ssize_t stride
    ) noexcept nogil
    # out[b] += sum over the entries (f, x) of row t of x * weights[f * stride + b], b < n_states
    void add_edge_row(
        const Rows* rows, Py_ssize_t t, const double* weights, Py_ssize_t stride,
        Py_ssize_t n_states, double* out
    ) noexcept nogil
    # entries of row t: how many, and the column of entry j
    Py_ssize_t count_entries(const Rows* rows, Py_ssize_t t) noexcept nogil
    Py_ssize_t column_at(const Rows* rows, Py_ssize_t t, Py_ssize_t j) noexcept nogil


# out = base + sum over the entries (j, x) of row t of x * (weights of feature j). Tables have rows
# of padded(n_states) numbers, those of weights rows of n_states; weights from the late_feature on
# are read at `end`, where LANES numbers behind them can be read. The padding of out is arbitrary.
cdef void edge_table(
    const Rows* rows, Py_ssize_t t, const double* base, const double* weights, const double* end,
    Py_ssize_t n_states, double* out
) noexcept nogil
