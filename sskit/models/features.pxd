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
    # one of these, by type, and empty if there are no entries
    cdef const double[::1] values
    cdef const float[::1] singles
    cdef const uint16_t[::1] halves
    # one of these
    cdef const int32_t[::1] indices
    cdef const int64_t[::1] indptr
    cdef const uint8_t[::1] marks

    cdef int set_entries(self, entries) except -1
    cdef int set_indices(self, indices) except -1
    # hint: these rows will be read soon
    cdef void prefetch(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil


cdef class SequenceGrams:
    """Packed Gram matrices of the features of each sequence's tokens, for those that have one.

    Start and end weights count as one more feature of the first and of the last token.
    """

    cdef int64_t[::1] offset         # (n_sequences,) where a matrix begins; -1: there is none
    cdef double[::1] numbers
    # in place of them, if all are whole numbers below 256, as those of counts are: passes over
    # CoNLL-2000 take 2 % longer without
    cdef uint8_t[::1] small
    cdef bint is_small

    cdef bint has(self, Py_ssize_t i) noexcept nogil
    # || sum_t outer(x_t, direction_t) ||^2 over the active tokens of sequence i, which has one
    cdef double sqnorm(
        self, Py_ssize_t i, const int32_t* active, Py_ssize_t n_active, const double* direction,
        Py_ssize_t stride
    ) noexcept nogil
    # out (stride,) = sum_s G[t, s] direction_s over the active tokens s of sequence i
    cdef void row_of(
        self, Py_ssize_t i, Py_ssize_t t, const int32_t* active, Py_ssize_t n_active,
        const double* direction, Py_ssize_t stride, double* out
    ) noexcept nogil
    # hint: that of sequence i, of so many tokens, will be read soon
    cdef void prefetch(self, Py_ssize_t i, Py_ssize_t count) noexcept nogil


# are n numbers below 1e100, so that sums of products of two of them do not overflow? NaN is not
cdef bint are_modest(const double* values, Py_ssize_t n) noexcept nogil
