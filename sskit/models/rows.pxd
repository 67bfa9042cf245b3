# Matrices of feature rows, and operations on single rows (see rows.hpp).
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t


cdef extern from "rows.hpp" namespace "sskit":
    struct Half:                             # float16
        pass
    struct Rows:
        const double* values
        const float* singles                 # in place of values; likewise the next
        const Half* halves
        const int32_t* indices
        const int64_t* indptr                # NULL for dense rows
        int64_t width
        const uint8_t* marks                 # (n_rows,) further columns of zeros and ones, as bits
        int64_t further                      # where these begin
        int64_t n_further
    # dense rows of doubles, for products that need no column indices
    # entries stored in rows, without the further columns
    Py_ssize_t entries_of(const Rows* rows, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    # <row t, weights>, the weight of feature f at weights[f * stride]
    double dot_row(
        const Rows* rows, Py_ssize_t t, const double* weights, Py_ssize_t stride
    ) noexcept nogil
    # weights += step * row t, placed likewise
    void add_row(
        const Rows* rows, Py_ssize_t t, double step, double* weights, Py_ssize_t stride
    ) noexcept nogil
    # out[k] += <row t, weights[:, k]>, k < n, the weights of feature f at weights[f * stride + k]
    void add_products(
        const Rows* rows, Py_ssize_t t, const double* weights, Py_ssize_t stride, Py_ssize_t n,
        double* out
    ) noexcept nogil
    # ||row t||^2, the same for dense and CSR rows to the last bit
    double row_sqnorm(const Rows* rows, Py_ssize_t t) noexcept nogil
    void clip_rows(
        const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
        Py_ssize_t n_states, const double* value, const double* lower, const double* upper,
        double* weights
    ) noexcept nogil
    struct NodePlaces:                       # where the nodes of a block lie in its statistics
        uint32_t base, end, stride
        double per_stride
    # weights += the outer products of the rows with a sparse direction, at its entries alone
    void add_entries(
        const Rows* rows, Py_ssize_t first, const int32_t* index, Py_ssize_t n,
        const double* value, const NodePlaces& at, Py_ssize_t n_states, double* weights
    ) noexcept nogil
    # the same; returns by how much the squared norm of the weights grows
    double grow_entries(
        const Rows* rows, Py_ssize_t first, const int32_t* index, Py_ssize_t n,
        const double* value, const NodePlaces& at, Py_ssize_t n_states, double* weights
    ) noexcept nogil
    # the sum of the squares of what add_entries changed, which becomes zero
    double take_entries(
        const Rows* rows, Py_ssize_t first, const int32_t* index, Py_ssize_t n,
        const double* value, const NodePlaces& at, Py_ssize_t n_states, double* weights
    ) noexcept nogil
    # the rows at which a direction is not zero; marks, one a row and seven more, are and stay zero
    Py_ssize_t rows_of_entries(
        const int32_t* index, Py_ssize_t n, const double* value, const NodePlaces& at,
        Py_ssize_t count, uint8_t* marks, int32_t* active
    ) noexcept nogil
    # the sum of the squares of the weights of all features of the active rows, which become zero
    double take_rows(
        const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
        Py_ssize_t n_states, double* weights
    ) noexcept nogil
