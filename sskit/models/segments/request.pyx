"""Sequences that are to be cut into segments, and what cuts them."""

import numpy as np

from sskit.models.decoder import Decoder
from sskit.models.features import value_digests

from libc.stdint cimport int32_t

from sskit.core.lanes cimport padded
from sskit.models.features cimport RowScores
from sskit.oracles.segments.semi_markov cimport SegmentKBest, SegmentMaxSum


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
        lengths = np.diff(offsets)
        sizes = lengths * np.minimum(lengths, max_length) * n_features
        places = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
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


cdef class SegmentTables:
    """Memory for the potentials of one sequence.

    Parameters
    ----------
    longest : int
        Number of tokens of the longest sequence.
    limits : ndarray of shape (n_states,), int32
        Length of the longest segment of each state, at least 1.
    has_lengths : bool
        Whether lengths have weights.
    n_whole : int, default=0
        Number of features of whole segments.
    """

    def __cinit__(self, Py_ssize_t longest, const int32_t[::1] limits, bint has_lengths,
                  Py_ssize_t n_whole=0):
        self.n_states, self.limits, self.has_lengths = limits.shape[0], limits, has_lengths
        self.max_length = np.max(limits)
        self.stride = padded(self.n_states)
        n_lengths = self.n_states * self.max_length if has_lengths else 0
        self.n_whole = n_whole
        n_rows = longest * min(self.max_length, longest) if n_whole else 0
        self.whole = np.zeros(n_rows * self.stride + 1)
        n_weights = self.n_states * self.n_states + n_lengths + self.n_states * n_whole
        self.n_weights = n_weights + 2 * self.n_states
        self.inside = np.zeros(longest * self.stride + 1)
        self.opening = np.zeros(longest * self.stride + 1)
        self.closing = np.zeros(longest * self.stride + 1)
        self.lengths = np.full(self.max_length * self.stride, -np.inf)
        self.transitions = np.zeros(self.n_states * self.stride)
        self.ends = np.zeros(2 * self.stride)
        self.bonus_state = np.full(longest + 1, -1, dtype=np.int32)
        self.bonus_length = np.zeros(longest + 1, dtype=np.int32)
        self.bonus = np.zeros(longest + 1)

    cdef void set_weights(self, const double* table) noexcept nogil:
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, j, k, d
        cdef const double* lengths = table + self.length_place()
        cdef const double* ends = table + self.end_place()
        for j in range(n_states):
            for k in range(n_states):
                self.transitions[j * stride + k] = table[j * n_states + k]
        for k in range(n_states):
            self.lengths[k] = 0.0
            for d in range(self.limits[k]):
                self.lengths[d * stride + k] = (
                    lengths[k * self.max_length + d] if self.has_lengths and self.is_long(k)
                    else 0.0
                )
            self.ends[k] = ends[k]
            self.ends[stride + k] = ends[n_states + k]

    cdef void set_tokens(
        self, Py_ssize_t n_tokens, const double* inside, const double* first, const double* last,
        Py_ssize_t apart
    ) noexcept nogil:
        cdef Py_ssize_t stride = self.stride, t, k, e
        cdef bint ends
        for t in range(n_tokens):
            for k in range(self.n_states):
                e = t * stride + k
                ends = first != NULL and self.limits[k] > 1
                self.inside[e] = inside[t * apart + k]
                self.opening[e] = first[t * apart + k] if ends else 0.0
                self.closing[e] = last[t * apart + k] if ends else 0.0

    cdef SegmentPotentials potentials(self, Py_ssize_t n_tokens, bint has_bonus) noexcept nogil:
        cdef Py_ssize_t stride = self.stride, t, k, e
        cdef double before
        cdef SegmentPotentials p
        for k in range(self.n_states):
            before = 0.0
            for t in range(n_tokens):
                e = t * stride + k
                self.opening[e] -= before
                before += self.inside[e]
                self.closing[e] += before
        p.n_tokens, p.n_states = n_tokens, self.n_states
        p.max_length = min(self.max_length, n_tokens)
        p.opening, p.closing = &self.opening[0], &self.closing[0]
        p.lengths, p.transitions = &self.lengths[0], &self.transitions[0]
        p.start, p.end = &self.ends[0], &self.ends[stride]
        p.whole = &self.whole[0] if self.n_whole else NULL
        p.bonus_state = &self.bonus_state[0] if has_bonus else NULL
        p.bonus_length, p.bonus = &self.bonus_length[0], &self.bonus[0]
        return p


cdef class SegmentRequest:
    """Sequences that are to be cut into segments, and the weights for that.

    What prediction needs of a `SegmentProblem`, and nothing else. Threads share it.

    Parameters
    ----------
    scores : list of one or three RowScores
        Scores of the tokens of all sequences; with those of first and last tokens.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Where the sequences begin; none is empty.
    limits : ndarray of shape (n_states,), int32
        Length of the longest segment of each state.
    table : ndarray of shape (n_table,)
        Weights that belong to no feature, as in `SegmentTables`.
    has_lengths : bool
        Whether weights of lengths are among them.
    whole : WholeFeatures, default=None
        Features of whole segments; None for none.
    """

    cdef RowScores inside
    cdef RowScores first                     # or None; likewise the next
    cdef RowScores last
    cdef WholeFeatures whole                 # features of whole segments
    cdef readonly bint has_ends
    cdef readonly bint has_lengths
    cdef const int64_t[::1] offsets          # (n_blocks + 1,) rows of the features
    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_tokens        # of all sequences
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t longest         # sequence
    cdef readonly Py_ssize_t max_length      # of a segment
    cdef const int32_t[::1] limits           # (n_states,)
    cdef const double[::1] table             # weights that belong to no feature

    def __cinit__(self, list scores, offsets, const int32_t[::1] limits, const double[::1] table,
                  bint has_lengths, WholeFeatures whole=None):
        self.inside = scores[0]
        self.has_ends = len(scores) > 1
        if self.has_ends:
            self.first, self.last = scores[1:]
        self.n_tokens, self.n_states = self.inside.n_rows, limits.shape[0]
        self.offsets, self.limits, self.table = offsets, limits, table
        self.n_blocks = len(offsets) - 1
        self.longest = int(np.diff(offsets).max())
        self.has_lengths = has_lengths
        self.max_length = np.max(limits)
        self.whole = no_features(offsets, self.max_length) if whole is None else whole

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i + 1] - self.offsets[i]

    def make_tables(self):
        """Return new `SegmentTables` with the weights that belong to no feature."""
        cdef SegmentTables tables = SegmentTables(
            self.longest, self.limits, self.has_lengths, self.whole.n_features
        )
        tables.set_weights(&self.table[0])
        return tables

    # tables take the scores of sequence i; scratch (3 * longest, padded(n_states))
    cdef void write(self, Py_ssize_t i, SegmentTables tables, double* scratch) noexcept nogil:
        cdef Py_ssize_t start = self.offsets[i], count = self.length(i)
        cdef Py_ssize_t stride = padded(self.n_states), size = self.longest * stride
        if tables.n_whole:
            self.whole.write(
                i, &self.table[tables.whole_place()], self.n_states, &tables.whole[0]
            )
        self.inside.write(start, count, scratch)
        if self.has_ends:
            self.first.write(start, count, scratch + size)
            self.last.write(start, count, scratch + 2 * size)
            tables.set_tokens(count, scratch, scratch + size, scratch + 2 * size, stride)
        else:
            tables.set_tokens(count, scratch, NULL, NULL, stride)

    def is_modest(self):
        """Return whether features and their weights are so small that no score can overflow."""
        return self.inside.modest() and (
            not self.has_ends or (self.first.modest() and self.last.modest())
        )

    def fork(self):
        """Return the request: nothing of it is written to."""
        return self


class SegmentDecoder(Decoder):
    """Segments of sequences: a `Decoder` of a SegmentRequest.

    A labelling of tokens has 2 k + 1 at the first token of each segment of state k and 2 k at its
    other tokens.
    """

    def best(self):
        """Return the best labelling of all tokens, shape (n_tokens,), int32."""
        return self._run(decode_best, np.empty(self.request.n_tokens, dtype=np.int32))

    def top_k(self, k):
        """Return the k best labellings of each sequence, (m, T_i) each, and their scores."""
        n = self.request.n_blocks
        labels, scores = np.empty(n, dtype=object), np.empty(n, dtype=object)
        self._run(decode_top_k, (k, labels, scores))
        return labels, scores

    def max_marginals(self):
        """Return the best score of a labelling for each token and state, (n_tokens, K)."""
        shape = self.request.n_tokens, self.request.n_states
        return self._run(decode_max_marginals, np.empty(shape))


cdef double[::1] scratch_for(SegmentRequest request):
    return np.empty(3 * request.longest * padded(request.n_states) + 1)


def decode_best(SegmentRequest request, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] out):
    """Write the best labelling of the sequences start .. stop - 1."""
    cdef SegmentTables tables = request.make_tables()
    cdef SegmentMaxSum oracle = SegmentMaxSum(request.longest, request.n_states)
    cdef double[::1] scratch = scratch_for(request)
    cdef SegmentPotentials p
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            request.write(i, tables, &scratch[0])
            p = tables.potentials(request.length(i), False)
            oracle.decode(&p, &out[request.offsets[i]])


def decode_top_k(SegmentRequest request, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the best labellings of the sequences start .. stop - 1, out = (k, labels, scores)."""
    k, labels, scores = out
    cdef SegmentTables tables = request.make_tables()
    cdef SegmentKBest search
    cdef double[::1] scratch = scratch_for(request)
    cdef int32_t[:, ::1] labels_out
    cdef double[::1] scores_out
    cdef SegmentPotentials p
    cdef Py_ssize_t i, found, length
    for i in range(start, stop):
        length = request.length(i)
        # room for no more than there are
        most = min(k, (2 * int(request.n_states)) ** min(int(length), k.bit_length()))
        search = SegmentKBest(length, request.n_states, request.max_length, most)
        labels_out, scores_out = np.empty((most, length), dtype=np.int32), np.empty(most)
        with nogil:
            request.write(i, tables, &scratch[0])
            p = tables.potentials(length, False)
            found = search.decode(&p, &labels_out[0, 0], &scores_out[0])
        labels[i] = np.asarray(labels_out)[:found].copy()
        scores[i] = np.asarray(scores_out)[:found].copy()


def decode_max_marginals(SegmentRequest request, Py_ssize_t start, Py_ssize_t stop,
                         double[:, ::1] out):
    """Write the max-marginals of the sequences start .. stop - 1."""
    cdef SegmentTables tables = request.make_tables()
    cdef SegmentMaxSum oracle = SegmentMaxSum(request.longest, request.n_states)
    cdef double[::1] scratch = scratch_for(request)
    cdef SegmentPotentials p
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            request.write(i, tables, &scratch[0])
            p = tables.potentials(request.length(i), False)
            oracle.marginals(&p, &out[request.offsets[i], 0])
