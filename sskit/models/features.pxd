from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from sskit.models.rows cimport Rows


cdef class FeatureRows:
    """A matrix of feature rows, dense or CSR, that compiled code reads row by row.

    Checked when made: the arrays have the right lengths and every column index is in range, so
    that no index from a user reaches the kernels unchecked. Never written to.
    """

    cdef Rows rows
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_features      # the further columns included
    cdef readonly Py_ssize_t n_entries       # stored ones, without the further columns
    cdef readonly object n_jobs              # of threads for what is computed of all rows at once
    # one of these, by type, and empty if there are no entries
    cdef const double[::1] values
    cdef const float[::1] singles
    cdef const uint16_t[::1] halves
    # one of these
    cdef const int32_t[::1] indices
    cdef const int64_t[::1] long_indices
    cdef const int64_t[::1] indptr
    cdef const uint8_t[::1] marks

    cdef int set_entries(self, entries) except -1
    cdef int set_indices(self, indices) except -1
    # entries stored in the rows first .. first + count - 1
    cdef Py_ssize_t entries(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    # hint: these rows will be read soon
    cdef void prefetch(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    # packed upper triangle of the Gram matrix of `count` rows; scratch (n_features,) is zero
    # before and after
    cdef void gram(
        self, Py_ssize_t first, Py_ssize_t count, double* scratch, double* out
    ) noexcept nogil
