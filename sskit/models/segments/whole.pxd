from libc.stdint cimport int32_t, int64_t


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
