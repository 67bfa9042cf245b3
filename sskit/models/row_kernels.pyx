"""Hot loops on feature rows and statistics (see the .pxd)."""

from libc.stdint cimport uint8_t

from sskit.core.lanes cimport padded

cdef extern from "row_kernels.hpp":
    void clone_score_rows_apart "sskit::score_rows_apart"(
        const Rows* rows, Py_ssize_t first, Py_ssize_t count, const double* weights,
        Py_ssize_t n_states, double* out, Py_ssize_t stride
    ) noexcept nogil
    void clone_add_rows "sskit::add_rows"(
        const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
        double step, const double* direction, Py_ssize_t n_states, double* weights
    ) noexcept nogil

    double clone_add_rows_between "sskit::add_rows_between"(
        const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
        double step, const double* direction, Py_ssize_t n_states, Py_ssize_t low,
        Py_ssize_t high, double* weights
    ) noexcept nogil
    void clone_gram_rows "sskit::gram_rows"(
        const Rows* rows, Py_ssize_t first, Py_ssize_t count, double* scratch, double* out
    ) noexcept nogil

cdef extern from "statistics_kernels.hpp":
    void clone_masked_table "sskit::masked_table"(
        const double* table, const double* mask, Py_ssize_t n_states, double* out
    ) noexcept nogil
    Py_ssize_t clone_active_rows "sskit::active_rows"(
        const double* direction, Py_ssize_t count, Py_ssize_t stride, int32_t* active
    ) noexcept nogil
    double clone_gram_sqnorm "sskit::gram_sqnorm"(
        const double* gram, const int32_t* active, Py_ssize_t n_active, const double* direction,
        Py_ssize_t stride
    ) noexcept nogil
    double clone_small_gram_sqnorm "sskit::gram_sqnorm"(
        const uint8_t* gram, const int32_t* active, Py_ssize_t n_active, const double* direction,
        Py_ssize_t stride
    ) noexcept nogil
    double clone_dot_rows "sskit::dot_rows"(
        const int32_t* active, Py_ssize_t n_active, const double* direction,
        const double* scores, Py_ssize_t stride
    ) noexcept nogil
    void clone_add_scaled "sskit::add_scaled"(
        const double* row, Py_ssize_t n, double factor, double* target
    ) noexcept nogil
    bint clone_are_modest "sskit::are_modest"(const double* values, Py_ssize_t n) noexcept nogil
    void clone_add_scaled_singles "sskit::add_scaled"(
        const float* row, Py_ssize_t n, double factor, double* target
    ) noexcept nogil
    void clone_add_scaled_rows "sskit::add_scaled_rows"(
        const double* table, Py_ssize_t length, const int32_t* slot,
        const double* factor, Py_ssize_t count, Py_ssize_t n, double* target
    ) noexcept nogil
    void clone_add_scaled_rows_singles "sskit::add_scaled_rows"(
        const float* table, Py_ssize_t length, const int32_t* slot,
        const double* factor, Py_ssize_t count, Py_ssize_t n, double* target
    ) noexcept nogil


cdef void score_rows(
    const Rows* rows, Py_ssize_t first, Py_ssize_t count, const double* weights,
    Py_ssize_t n_states, double* out
) noexcept nogil:
    clone_score_rows_apart(rows, first, count, weights, n_states, out, padded(n_states))


cdef void score_rows_apart(
    const Rows* rows, Py_ssize_t first, Py_ssize_t count, const double* weights,
    Py_ssize_t n_states, double* out, Py_ssize_t stride
) noexcept nogil:
    clone_score_rows_apart(rows, first, count, weights, n_states, out, stride)


cdef void add_rows(
    const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
    double step, const double* direction, Py_ssize_t n_states, double* weights
) noexcept nogil:
    clone_add_rows(rows, first, active, n_active, step, direction, n_states, weights)


cdef double add_rows_between(
    const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
    double step, const double* direction, Py_ssize_t n_states, Py_ssize_t low, Py_ssize_t high,
    double* weights
) noexcept nogil:
    return clone_add_rows_between(
        rows, first, active, n_active, step, direction, n_states, low, high, weights
    )


cdef void gram_rows(
    const Rows* rows, Py_ssize_t first, Py_ssize_t count, double* scratch, double* out
) noexcept nogil:
    clone_gram_rows(rows, first, count, scratch, out)


cdef void masked_table(
    const double* table, const double* mask, Py_ssize_t n_states, double* out
) noexcept nogil:
    clone_masked_table(table, mask, n_states, out)


cdef Py_ssize_t active_rows(
    const double* direction, Py_ssize_t count, Py_ssize_t stride, int32_t* active
) noexcept nogil:
    return clone_active_rows(direction, count, stride, active)


cdef double gram_sqnorm(
    const double* gram, const int32_t* active, Py_ssize_t n_active, const double* direction,
    Py_ssize_t stride
) noexcept nogil:
    return clone_gram_sqnorm(gram, active, n_active, direction, stride)


cdef double small_gram_sqnorm(
    const uint8_t* gram, const int32_t* active, Py_ssize_t n_active, const double* direction,
    Py_ssize_t stride
) noexcept nogil:
    return clone_small_gram_sqnorm(gram, active, n_active, direction, stride)


cdef double dot_rows(
    const int32_t* active, Py_ssize_t n_active, const double* direction,
    const double* scores, Py_ssize_t stride
) noexcept nogil:
    return clone_dot_rows(active, n_active, direction, scores, stride)


cdef void add_scaled(
    const double* row, Py_ssize_t n, double factor, double* target
) noexcept nogil:
    clone_add_scaled(row, n, factor, target)


cdef void add_scaled_singles(
    const float* row, Py_ssize_t n, double factor, double* target
) noexcept nogil:
    clone_add_scaled_singles(row, n, factor, target)


cdef void add_scaled_rows(
    const double* table, Py_ssize_t length, const int32_t* slot,
    const double* factor, Py_ssize_t count, Py_ssize_t n, double* target
) noexcept nogil:
    clone_add_scaled_rows(table, length, slot, factor, count, n, target)


cdef void add_scaled_rows_singles(
    const float* table, Py_ssize_t length, const int32_t* slot,
    const double* factor, Py_ssize_t count, Py_ssize_t n, double* target
) noexcept nogil:
    clone_add_scaled_rows_singles(table, length, slot, factor, count, n, target)


cdef bint are_modest(const double* values, Py_ssize_t n) noexcept nogil:
    return clone_are_modest(values, n)
