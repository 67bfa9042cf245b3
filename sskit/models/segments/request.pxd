from libc.stdint cimport int32_t, int64_t

from sskit.oracles.segments.semi_markov cimport SegmentPotentials


cdef class WholeFeatures:
    """Features of whole segments of all sequences, in memory; of none if there are no features.

    Sequence i of T tokens has those of the segments of d + 1 tokens from t on in its row t m + d,
    m = min(max_length, T). Never written to; threads share it.
    """

    cdef readonly Py_ssize_t n_features      # of a segment; q
    cdef readonly Py_ssize_t max_length      # of the longest segment
    cdef const double[::1] values            # (n_rows * q,)
    cdef const int64_t[::1] offsets          # (n_blocks + 1,) rows of the tokens
    cdef int64_t[::1] places                 # (n_blocks + 1,) where the values of sequences begin

    # features of the d + 1 tokens from t on, of a sequence of `count` tokens
    cdef inline const double* row(
        self, Py_ssize_t i, Py_ssize_t count, Py_ssize_t t, Py_ssize_t d
    ) noexcept nogil:
        cdef Py_ssize_t most = min(self.max_length, count)
        return &self.values[self.places[i] + (t * most + d) * self.n_features]

    # out (count, min(max_length, count), padded(n_states)) = scores with weights (n_states, q)
    cdef void write(
        self, Py_ssize_t i, const double* weights, Py_ssize_t n_states, double* out
    ) noexcept nogil
    # what the segments of one labelling have that are not in the other, times sign, as statistics
    # from `place` on, q for each state; returns the number of entries
    cdef Py_ssize_t count_apart(
        self, Py_ssize_t i, const int32_t* code, const int32_t* other, double sign,
        Py_ssize_t place, int32_t* index, double* value
    ) noexcept nogil


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
