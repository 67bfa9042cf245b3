"""Features of whole segments (see the .pxd)."""

import numpy as np

from sskit.models.row_hashes import value_digests

from sskit.core.checks cimport check_equal, check_least, check_offsets
from sskit.core.lanes cimport padded


cdef class WholeFeatures:
    """Features of all segments that sequences may have.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Sequence after sequence, those of T tokens as (T, min(max_length, T), n_features): by the
        first token of a segment, its length less one, and the feature. Entries of segments that
        would end behind the sequence are never read.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Rows of the tokens of the sequences.
    max_length : int
        Length of the longest segment.
    n_features : int
        Number of features q; 0 for none.
    """

    def __cinit__(self, const double[::1] values, offsets, Py_ssize_t max_length,
                  Py_ssize_t n_features):
        check_least(max_length, 1, "the longest segment")
        check_least(n_features, 0, "the number of features of segments")
        check_offsets(offsets, int(offsets[len(offsets) - 1]), 1, "offsets")
        lengths = np.diff(offsets)
        sizes = lengths * np.minimum(lengths, max_length) * n_features
        places = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        check_equal(values.shape[0], int(places[len(places) - 1]), "the number of values")
        self.n_features, self.max_length = n_features, max_length
        self.values, self.offsets, self.places = values, offsets, places

    cdef void write(
        self, Py_ssize_t i, const double* weights, Py_ssize_t n_states, double* out
    ) noexcept nogil:
        cdef Py_ssize_t count = self.offsets[i + 1] - self.offsets[i], q = self.n_features
        cdef Py_ssize_t most = min(self.max_length, count), stride = padded(n_states), t, d, k, f
        cdef const double* row
        cdef double* scores
        cdef double total
        for t in range(count):
            for d in range(min(most, count - t)):
                row = self.row(i, count, t, d)
                scores = out + (t * most + d) * stride
                for k in range(n_states):
                    total = 0.0
                    for f in range(q):
                        total += row[f] * weights[k * q + f]
                    scores[k] = total

    cdef Py_ssize_t count_apart(
        self, Py_ssize_t i, const int32_t* code, const int32_t* other, double sign,
        Py_ssize_t place, int32_t* index, double* value
    ) noexcept nogil:
        cdef Py_ssize_t count = self.offsets[i + 1] - self.offsets[i], q = self.n_features
        cdef Py_ssize_t t, f, s = 0, n = 0
        cdef const double* row
        cdef bint differs = False
        if q == 0:
            return 0
        for t in range(count):
            if code[t] & 1:
                s, differs = t, False
            differs = differs or code[t] != other[t]
            if t + 1 < count and not code[t + 1] & 1:
                continue
            # the segment s .. t is in the other too if that one has the same labels and ends here
            if not differs and (t + 1 == count or other[t + 1] & 1):
                continue
            row = self.row(i, count, s, t - s)
            for f in range(q):
                index[n] = <int32_t>(place + (code[t] >> 1) * q + f)
                value[n] = sign * row[f]
                n += 1
        return n

    def digests(self):
        """Return one number for the features of each sequence, for fingerprints."""
        return value_digests(self.values, self.places)


def no_features(offsets, max_length):
    """Return `WholeFeatures` of sequences whose segments have none."""
    return WholeFeatures(np.empty(0), offsets, max_length, 0)
