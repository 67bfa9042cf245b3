# Hot loops on feature rows and statistics: each is compiled for several CPUs, in this module once
# for all models (see row_kernels.hpp and statistics_kernels.hpp).
from libc.stdint cimport int32_t, uint8_t

from sskit.models.rows cimport Rows


# out (count, padded(n_states)) = rows[first : first + count] @ weights (n_features, n_states)
cdef void score_rows(
    const Rows* rows, Py_ssize_t first, Py_ssize_t count, const double* weights,
    Py_ssize_t n_states, double* out
) noexcept nogil

# the same with rows of `out` that are `stride` apart: padded(n_states), or 1 for one state
cdef void score_rows_apart(
    const Rows* rows, Py_ssize_t first, Py_ssize_t count, const double* weights,
    Py_ssize_t n_states, double* out, Py_ssize_t stride
) noexcept nogil

# weights += step * outer(row t, direction) for every t of `active`, counted from `first`
cdef void add_rows(
    const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
    double step, const double* direction, Py_ssize_t n_states, double* weights
) noexcept nogil

# the same for the columns low .. high - 1 alone, further ones with the first: no other weights are
# touched; returns by how much the squared norm of the weights grows
cdef double add_rows_between(
    const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
    double step, const double* direction, Py_ssize_t n_states, Py_ssize_t low, Py_ssize_t high,
    double* weights
) noexcept nogil

# ||x||^2
cdef inline double squares(const double* x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(n):
        total += x[j] * x[j]
    return total

# w += change; by how much w^2 grows
cdef inline double grow(double* w, double change) noexcept nogil:
    cdef double old = w[0]
    w[0] = old + change
    return change * (old + old + change)

# packed upper triangle of the Gram matrix of `count` rows; scratch (n_features,) is zero before
# and after
cdef void gram_rows(
    const Rows* rows, Py_ssize_t first, Py_ssize_t count, double* scratch, double* out
) noexcept nogil

# out (n_states, padded(n_states)) = table (n_states, n_states) + mask (padded as out)
cdef void masked_table(
    const double* table, const double* mask, Py_ssize_t n_states, double* out
) noexcept nogil

# the rows of `direction` (count, stride) that are not all zero; returns how many
cdef Py_ssize_t active_rows(
    const double* direction, Py_ssize_t count, Py_ssize_t stride, int32_t* active
) noexcept nogil

# ||sum_t outer(x_t, direction_t)||^2 over the active rows, from the packed Gram matrix of the x_t
cdef double gram_sqnorm(
    const double* gram, const int32_t* active, Py_ssize_t n_active, const double* direction,
    Py_ssize_t stride
) noexcept nogil

# the same of a Gram matrix of whole numbers
cdef double small_gram_sqnorm(
    const uint8_t* gram, const int32_t* active, Py_ssize_t n_active, const double* direction,
    Py_ssize_t stride
) noexcept nogil

# sum of <direction_t, scores_t> over the active rows
cdef double dot_rows(
    const int32_t* active, Py_ssize_t n_active, const double* direction,
    const double* scores, Py_ssize_t stride
) noexcept nogil

# target += factor * row, n numbers; the row in double or in single precision
cdef void add_scaled(
    const double* row, Py_ssize_t n, double factor, double* target
) noexcept nogil
cdef void add_scaled_singles(
    const float* row, Py_ssize_t n, double factor, double* target
) noexcept nogil

# target += sum_a factor[a] * row slot[a] of a table, n numbers of each; rows of the
# table are `length` numbers long, in double or in single precision
cdef void add_scaled_rows(
    const double* table, Py_ssize_t length, const int32_t* slot,
    const double* factor, Py_ssize_t count, Py_ssize_t n, double* target
) noexcept nogil
cdef void add_scaled_rows_singles(
    const float* table, Py_ssize_t length, const int32_t* slot,
    const double* factor, Py_ssize_t count, Py_ssize_t n, double* target
) noexcept nogil

# are n numbers below 1e100, so that sums of products of two of them do not overflow?
cdef bint are_modest(const double* values, Py_ssize_t n) noexcept nogil
