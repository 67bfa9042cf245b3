from libc.stdint cimport int32_t

from sskit.oracles.segments.max_sum cimport SegmentPotentials


cdef class SegmentTables:
    """Potentials of segments in the form that oracles take: scratch memory of one thread.

    Weights that belong to no feature, flat: transitions (n_states, n_states), lengths (n_states,
    max_length) if they have weights, those of features of whole segments (n_states, n_whole), start
    (n_states,), end (n_states,). Segments of a state whose limit is one have neither weights of
    lengths nor of first and last tokens, which would be those of the token and of the state again.
    """

    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t max_length
    cdef readonly Py_ssize_t n_weights       # that belong to no feature
    cdef readonly bint has_lengths
    cdef readonly Py_ssize_t n_whole         # features of whole segments
    cdef Py_ssize_t stride                   # padded(n_states)
    cdef const int32_t[::1] limits           # (n_states,) longest segments
    cdef double[::1] inside                  # (longest, stride) of tokens; likewise the next two
    cdef double[::1] opening
    cdef double[::1] closing
    cdef double[::1] lengths                 # (max_length, stride)
    cdef double[::1] whole                   # (longest, max_length, stride) with such features
    cdef double[::1] transitions             # (n_states, stride)
    cdef double[::1] ends                    # (2, stride)
    cdef int32_t[::1] bonus_state            # (longest,)
    cdef int32_t[::1] bonus_length
    cdef double[::1] bonus

    # where the statistics of lengths, of whole segments, and of first and last states begin
    cdef inline Py_ssize_t length_place(self) noexcept nogil:
        return self.n_states * self.n_states
    cdef inline Py_ssize_t whole_place(self) noexcept nogil:
        return self.n_weights - (2 + self.n_whole) * self.n_states
    cdef inline Py_ssize_t end_place(self) noexcept nogil:
        return self.n_weights - 2 * self.n_states
    cdef inline bint is_long(self, Py_ssize_t k) noexcept nogil:
        return self.limits[k] > 1
    # take the weights that belong to no feature
    cdef void set_weights(self, const double* table) noexcept nogil
    # take the scores of tokens, in rows that are `apart`; first and last may be NULL
    cdef void set_tokens(
        self, Py_ssize_t n_tokens, const double* inside, const double* first, const double* last,
        Py_ssize_t apart
    ) noexcept nogil
    # the potentials of what was taken, once what losses add to inside and opening is there
    cdef SegmentPotentials potentials(self, Py_ssize_t n_tokens, bint has_bonus) noexcept nogil
