from libc.stdint cimport int32_t, int64_t


# matrices of feature rows, and what is done with single rows of them
cdef extern from "rows.hpp" namespace "sskit":
    struct Rows:
        const double* values
        const float* singles
        const int32_t* indices
        const int64_t* indptr
        int64_t width
    double dot_row(
        const Rows* rows, Py_ssize_t t, const double* weights, Py_ssize_t stride
    ) noexcept nogil
    void add_row(
        const Rows* rows, Py_ssize_t t, double step, double* weights, Py_ssize_t stride
    ) noexcept nogil
    void clip_rows(
        const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
        Py_ssize_t n_states, const double* value, const double* lower, const double* upper,
        double* weights
    ) noexcept nogil
    void clear_rows(
        const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
        Py_ssize_t n_states, double* weights
    ) noexcept nogil


cdef class FeatureRows:
    """A matrix of feature rows, dense or CSR, that compiled code reads row by row.

    Checked when made: the arrays have the right lengths and every column index is in range, so
    that no index from a user reaches the kernels unchecked. Never written to.
    """

    cdef Rows rows
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_features
    cdef readonly Py_ssize_t n_entries       # stored ones
    cdef const double[::1] values
    cdef const float[::1] singles            # in place of values
    cdef const int32_t[::1] indices
    cdef const int64_t[::1] indptr

    # pointers to the entries of row t and to their columns; returns their number. This and gram
    # raise TypeError if the features are float32
    cdef Py_ssize_t row(self, Py_ssize_t t, const double** x, const int32_t** f) except -1 nogil
    # entries stored in the rows first .. first + count - 1
    cdef Py_ssize_t entries(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    # hint: these rows will be read soon
    cdef void prefetch(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    # packed upper triangle of the Gram matrix of `count` rows; scratch (n_features,) is zero
    # before and after
    cdef int gram(
        self, Py_ssize_t first, Py_ssize_t count, double* scratch, double* out
    ) except -1 nogil
