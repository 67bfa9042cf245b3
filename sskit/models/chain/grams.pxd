from libc.stdint cimport int32_t, int64_t, uint8_t


cdef class SequenceGrams:
    """Packed Gram matrices of the features of each sequence's tokens, for those that have one.

    Start and end weights count as one more feature of the first and of the last token.
    """

    cdef int64_t[::1] offset         # (n_sequences,) where a matrix begins; -1: there is none
    cdef double[::1] full
    # in place of `full`, if all of it are whole numbers below 256, as counts are
    cdef uint8_t[::1] small
    cdef bint is_small

    cdef bint has(self, Py_ssize_t i) noexcept nogil
    # || sum_t outer(x_t, direction_t) ||^2 over the active tokens of sequence i, which has one
    cdef double sqnorm(
        self, Py_ssize_t i, const int32_t* active, Py_ssize_t n_active, const double* direction,
        Py_ssize_t stride
    ) noexcept nogil
    # <x_s, x_t> of sequence i, which has a matrix
    cdef double at(self, Py_ssize_t i, Py_ssize_t s, Py_ssize_t t) noexcept nogil
    # hint: that of sequence i, of so many tokens, will be read soon
    cdef void prefetch(self, Py_ssize_t i, Py_ssize_t count) noexcept nogil
