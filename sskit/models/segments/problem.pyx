"""Segments of sequences, bound to data."""

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.models.features import NO_GRAMS, cut_columns, make_grams, row_digests, value_digests
from sskit.models.segments.request import no_features

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from sskit.core.direction cimport Direction
from sskit.core.lanes cimport LANES, padded, prefetch_memory
from sskit.core.problem cimport Problem
from sskit.models.features cimport (
    FeatureRows, SequenceGrams, active_rows, add_rows, add_rows_between, dot_rows, grow, score_rows
)
from sskit.models.rows cimport clear_rows, clip_rows
from sskit.models.segments.request cimport SegmentTables, WholeFeatures
from sskit.oracles.segments.semi_markov cimport SegmentMaxSum, SegmentPotentials


cdef class SegmentLoss:
    """What it costs to cut a sequence into other segments than the true ones.

    Labellings are given by 2 k + 1 at the first token of each segment of state k and 2 k at its
    other tokens; `first` is the number of the first token of a sequence among those of all.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,), int32
        True labellings.
    cost : ndarray of shape (n_rows,), float64
        What is lost at each token.
    """

    cdef const int32_t[::1] truth            # (n_rows,) true labellings of all sequences
    cdef const double[::1] cost              # (n_rows,)
    cdef readonly bint has_bonus             # does it use the bonus of the tables?

    def __cinit__(self, const int32_t[::1] truth, const double[::1] cost, *args):
        self.truth, self.cost = truth, cost

    # the loss of a labelling
    cdef double of(self, Py_ssize_t first, Py_ssize_t count, const int32_t* code) noexcept nogil:
        return 0.0

    # add weight times the loss to tables of tokens, but for a constant
    cdef void add(
        self, Py_ssize_t first, Py_ssize_t count, double weight, SegmentTables tables
    ) noexcept nogil:
        pass

    def digest(self):
        """Return what of the loss is no number of a token, for fingerprints."""
        return type(self).__name__


cdef class TokenLoss(SegmentLoss):
    """Tokens with another state, or of which one begins a segment and the other does not.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,), int32
        True labellings.
    cost : ndarray of shape (n_rows,), float64
        What a wrong token costs.
    """

    cdef double of(self, Py_ssize_t first, Py_ssize_t count, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t
        cdef double total = 0.0
        for t in range(count):
            if code[t] != self.truth[first + t]:
                total += self.cost[first + t]
        return total

    cdef void add(
        self, Py_ssize_t first, Py_ssize_t count, double weight, SegmentTables tables
    ) noexcept nogil:
        cdef Py_ssize_t t, e
        cdef double amount
        for t in range(count):
            # a loss on all but one is, up to a constant, a bonus taken from that one
            e = t * tables.stride + (self.truth[first + t] >> 1)
            amount = weight * self.cost[first + t]
            if self.truth[first + t] & 1:
                tables.opening[e] -= amount
            else:
                tables.inside[e] -= amount
                tables.opening[e] += amount


cdef class SpanLoss(SegmentLoss):
    """Segments that are not true, and true ones that are missed.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,), int32
        True labellings.
    cost : ndarray of shape (n_rows,), float64
        At the first token of a true segment what it costs to miss it.
    false_cost : ndarray of shape (n_states,), float64
        What a segment costs that is not true, by its state.
    """

    cdef const double[::1] false_cost        # (n_states,) of a segment that is not true

    def __cinit__(self, truth, cost, const double[::1] false_cost):
        self.false_cost = false_cost
        self.has_bonus = True

    cdef double of(self, Py_ssize_t first, Py_ssize_t count, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t, s = 0
        cdef double total = 0.0
        cdef bint same = True
        # s: the last token at which a segment of one or the other begins; same: are both equal
        # from there on? True segments and those of the code that end together are one if they are
        for t in range(count):
            if code[t] & 1:
                total += self.false_cost[code[t] >> 1]
            if self.truth[first + t] & 1:
                total += self.cost[first + t]
            if (code[t] | self.truth[first + t]) & 1:
                s, same = t, True
            same = same and code[t] == self.truth[first + t]
            if not same or not (code[s] & self.truth[first + s] & 1):
                continue
            if t + 1 == count or code[t + 1] & self.truth[first + t + 1] & 1:
                total -= self.false_cost[code[s] >> 1] + self.cost[first + s]
        return max(total, 0.0)

    cdef void add(
        self, Py_ssize_t first, Py_ssize_t count, double weight, SegmentTables tables
    ) noexcept nogil:
        cdef Py_ssize_t t, k, s = 0
        for t in range(count):
            for k in range(tables.n_states):
                tables.opening[t * tables.stride + k] += weight * self.false_cost[k]
            if self.truth[first + t] & 1:
                s = t
            tables.bonus_state[t] = -1
            if t + 1 == count or self.truth[first + t + 1] & 1:
                k = self.truth[first + t] >> 1
                tables.bonus_state[t] = <int32_t>k
                tables.bonus_length[t] = <int32_t>(t - s)
                tables.bonus[t] = -weight * (self.cost[first + s] + self.false_cost[k])

    def digest(self):
        """Return what of the loss is no number of a token, for fingerprints."""
        return bytes(np.asarray(self.false_cost))


cdef class SegmentProblem(Problem):
    """Segments of sequences: statistics, potentials and weights.

    With the n_table weights that belong to no feature (see `SegmentTables`) statistic j < n_table
    counts what weight j of these is for, or sums features of whole segments, and statistic
    places + t * stride + c, places = padded(n_table), stride = padded(n_columns), says that token
    t has column c: state c for c < K; that it is the first token of a segment of state c - K; or
    the last one of state c - 2 K. Only states whose limit is above one have first and last tokens.

    Weights, flat: those of the features (n_features, n_columns), then the n_table others. Code: at
    the first token of each segment of state k 2 k + 1 and at its others 2 k.

    Parameters
    ----------
    features : FeatureRows
        Features of all tokens, sequence after sequence.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Sequence i has the rows offsets[i] to offsets[i + 1] - 1; at least one.
    codes : ndarray of shape (n_rows,), int32
        True segments.
    loss : SegmentLoss
        Of these.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the sequences, summing to one.
    limits : ndarray of shape (n_states,), int32
        Length of the longest segment of each state, at least 1.
    has_ends, has_lengths : bool
        Whether features of first and last tokens, and lengths, have weights of their own.
    whole : WholeFeatures, default=None
        Features of whole segments; None for none.
    """

    cdef FeatureRows features
    cdef object given                        # what it was made of
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t n_columns       # K, or 3 K with weights of first and last tokens
    cdef readonly Py_ssize_t n_table
    cdef WholeFeatures whole                 # features of whole segments
    cdef Py_ssize_t stride
    cdef Py_ssize_t places
    cdef Py_ssize_t table_weights            # where they begin
    cdef const int64_t[::1] offsets          # (n_blocks + 1,) rows of the features
    cdef const int32_t[::1] codes            # (n_rows,) the truth
    cdef const int32_t[::1] limits           # (n_states,) longest segments
    cdef SegmentLoss loss
    cdef SequenceGrams grams                 # of blocks where they cost less than features
    # scratch
    cdef SegmentTables tables
    cdef SegmentMaxSum oracle
    cdef int32_t[::1] active                 # rows of a direction that are not zero
    cdef int32_t[::1] fresh                  # (longest,) row of token scores made for request ..
    cdef int32_t request
    cdef double[::1] token_scores            # as the potentials of tokens
    cdef double[::1] image                   # (n_features * n_columns,) zero between calls

    def __cinit__(self, FeatureRows features, offsets, codes, SegmentLoss loss, block_weight,
                  limits, bint has_ends, bint has_lengths, WholeFeatures whole=None):
        if whole is None:
            whole = no_features(offsets, np.max(limits))
        self.given = (
            features, offsets, codes, loss, block_weight, limits, has_ends, has_lengths, whole
        )
        longest = int(np.diff(offsets).max())
        self.features, self.offsets, self.codes = features, offsets, codes
        self.loss, self.block_weight, self.limits = loss, block_weight, limits
        self.n_states = len(limits)
        self.n_columns = self.n_states * (3 if has_ends else 1)
        self.whole = whole
        self.tables = SegmentTables(longest, limits, has_lengths, whole.n_features)
        self.oracle = SegmentMaxSum(longest, self.n_states)
        self.n_table = self.tables.n_weights
        self.places, self.stride = padded(self.n_table), padded(self.n_columns)
        self.n_blocks = len(offsets) - 1
        self.table_weights = features.n_features * self.n_columns
        self.n_weights = self.table_weights + self.n_table
        self.max_statistics = self.places + longest * self.stride
        self.max_code_length = longest
        self.max_support = 2 * ((5 + whole.n_features) * longest + 2)
        self.exact = self.lock_free = True
        self.grams, self.image = NO_GRAMS, np.zeros(1)
        self.active = np.empty(longest, dtype=np.int32)
        self.fresh = np.zeros(longest, dtype=np.int32)
        self.token_scores = np.empty(longest * self.stride)

    def prepare_steps(self):
        """Compute what sqnorm needs: Gram matrices of all short enough blocks."""
        self.grams = make_grams(self.features, self.offsets)
        if np.min(self.grams.offset) < 0:
            self.image = np.zeros(self.features.n_features * self.n_columns + LANES)

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i + 1] - self.offsets[i]

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return self.length(i)

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t, size = 0
        for t in range(self.length(i)):
            if not 0 <= code[t] < 2 * self.n_states:
                return False
            if code[t] & 1:
                size = 0
            elif t == 0 or code[t - 1] >> 1 != code[t] >> 1:
                return False
            size += 1
            if size > self.limits[code[t] >> 1]:
                return False
        return True

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        memcpy(code, &self.codes[self.offsets[i]], self.length(i) * sizeof(int32_t))
        return 0

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        memcpy(theta, w + self.table_weights, self.n_table * sizeof(double))
        score_rows(
            &self.features.rows, self.offsets[i], self.length(i), w, self.n_columns,
            theta + self.places
        )
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t e, t
        if self.request == 2147483647:
            self.request = 0
            self.fresh[:] = 0
        self.request += 1
        for e in range(count):
            if index[e] < self.places:
                theta[index[e]] = w[self.table_weights + index[e]]
                continue
            t = (index[e] - self.places) // self.stride
            if self.fresh[t] == self.request:
                continue
            self.fresh[t] = self.request
            score_rows(
                &self.features.rows, self.offsets[i] + t, 1, w, self.n_columns,
                theta + self.places + t * self.stride
            )
        return 0

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t first = self.offsets[i], count = self.length(i), K = self.n_states
        cdef const double* tokens = theta + self.places
        cdef bint has_ends = self.n_columns > K, with_loss = loss_weight != 0.0
        cdef SegmentPotentials p
        self.tables.set_weights(theta)
        self.tables.set_tokens(
            count, tokens, tokens + K if has_ends else NULL, tokens + 2 * K if has_ends else NULL,
            self.stride
        )
        if self.tables.n_whole:
            self.whole.write(i, theta + self.tables.whole_place(), K, &self.tables.whole[0])
        if with_loss:
            self.loss.add(first, count, loss_weight, self.tables)
        p = self.tables.potentials(count, with_loss and self.loss.has_bonus)
        self.oracle.decode(&p, code)
        loss[0] = self.loss.of(first, count, code)
        return 0

    # what one labelling counts and the other does not, times sign; returns the number of entries
    cdef Py_ssize_t count_apart(
        self, Py_ssize_t i, const int32_t* code, const int32_t* other, double sign, int32_t* index,
        double* value
    ) noexcept nogil:
        cdef Py_ssize_t count = self.length(i), K = self.n_states, t, e, k, n = 0
        cdef int32_t place = <int32_t>self.places, stride = <int32_t>self.stride
        cdef bint differs
        for t in range(count):
            k = code[t] >> 1
            differs = other[t] >> 1 != k
            if differs:
                index[n] = <int32_t>(place + t * stride + k)
                n += 1
            if differs and t == 0:
                index[n] = <int32_t>(self.tables.end_place() + k)
                n += 1
            if differs and t == count - 1:
                index[n] = <int32_t>(self.tables.end_place() + K + k)
                n += 1
            if not code[t] & 1:
                continue
            if t and (differs or not other[t] & 1 or other[t - 1] >> 1 != code[t - 1] >> 1):
                index[n] = <int32_t>((code[t - 1] >> 1) * K + k)
                n += 1
            if not self.tables.is_long(k):
                continue
            e = t
            differs = code[t] != other[t]
            while e + 1 < count and not code[e + 1] & 1:
                e += 1
                differs = differs or code[e] != other[e]
            if not differs and (e + 1 == count or other[e + 1] & 1):
                continue
            if self.n_columns > K:
                index[n] = <int32_t>(place + t * stride + K + k)
                index[n + 1] = <int32_t>(place + e * stride + 2 * K + k)
                n += 2
            if self.tables.has_lengths:
                index[n] = <int32_t>(
                    self.tables.length_place() + k * self.tables.max_length + e - t
                )
                n += 1
        for t in range(n):
            value[t] = sign
        return n + self.whole.count_apart(
            i, code, other, sign, self.tables.whole_place(), index + n, value + n
        )

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef const int32_t* truth = &self.codes[self.offsets[i]]
        cdef Py_ssize_t n = self.count_apart(i, truth, code, 1.0, index, value)
        return n + self.count_apart(i, code, truth, -1.0, index + n, value + n)

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef const double* token = &delta.value[self.places]
        cdef int32_t* active = &self.active[0]
        cdef Py_ssize_t n = active_rows(token, self.length(i), self.stride, active)
        add_rows(&self.features.rows, self.offsets[i], active, n, step, token, self.n_columns, v)
        self.scatter_table(delta, step, v)
        return 0

    # the weights that belong to no feature; returns by how much ||v||^2 grows
    cdef double scatter_table(self, Direction delta, double step, double* v) noexcept nogil:
        cdef Py_ssize_t e, j
        cdef double growth = 0.0
        for e in range(delta.n):
            j = delta.index[e]
            if j < self.places:
                growth += grow(&v[self.table_weights + j], step * delta.value[j])
        return growth

    cdef double scatter_part(
        self, Py_ssize_t i, Direction delta, double step, const int64_t* part, double* v
    ) noexcept nogil:
        cdef const double* token = &delta.value[self.places]
        cdef int32_t* active = &self.active[0]
        cdef Py_ssize_t n = active_rows(token, self.length(i), self.stride, active)
        cdef double growth = add_rows_between(
            &self.features.rows, self.offsets[i], active, n, step, token, self.n_columns, part[0],
            part[1], v
        )
        return growth if part[0] else growth + self.scatter_table(delta, step, v)

    def cut_weights(self, n_parts):
        """Return the features with which parts of the weights begin."""
        return cut_columns(self.features.count_columns(), n_parts)

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef const double* token = &delta.value[self.places]
        cdef Py_ssize_t n = active_rows(token, self.length(i), self.stride, &self.active[0])
        cdef Py_ssize_t e, j
        clip_rows(
            &self.features.rows, self.offsets[i], &self.active[0], n, self.n_columns, v, lower,
            upper, w
        )
        for e in range(delta.n):
            if delta.index[e] < self.places:
                j = self.table_weights + delta.index[e]
                w[j] = min(max(v[j], lower[j]), upper[j])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef Py_ssize_t count = self.length(i), first = self.offsets[i], e, j, n
        cdef const double* token = &delta.value[self.places]
        cdef int32_t* active = &self.active[0]
        cdef double total = 0.0
        for e in range(delta.n):
            j = delta.index[e]
            if j < self.places:
                total += delta.value[j] * delta.value[j]
        n = active_rows(token, count, self.stride, active)
        if self.grams.has(i):
            return total + self.grams.sqnorm(i, active, n, token, self.stride)
        if self.image.shape[0] == 1:     # nobody has called prepare_steps
            return NAN
        # <B delta, B delta> = <delta, B^T (B delta)>, B delta formed in scratch memory
        add_rows(
            &self.features.rows, first, active, n, 1.0, token, self.n_columns, &self.image[0]
        )
        score_rows(
            &self.features.rows, first, count, &self.image[0], self.n_columns,
            &self.token_scores[0]
        )
        clear_rows(&self.features.rows, first, active, n, self.n_columns, &self.image[0])
        return total + dot_rows(active, n, token, &self.token_scores[0], self.stride)

    cdef void prefetch(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t first = self.offsets[i], count = self.length(i)
        self.features.prefetch(first, count)
        prefetch_memory(&self.codes[first], count * sizeof(int32_t))
        if self.grams.has(i):
            self.grams.prefetch(i, count)

    cpdef Problem fork(self):
        cdef SegmentProblem other = SegmentProblem(*self.given)
        other.grams = self.grams
        other.image = np.zeros(self.image.shape[0])
        return other

    def fingerprint(self):
        """Return by what the same sequences, segments, losses and limits are known again."""
        weights, further = (self.n_columns, self.tables.has_lengths), {}
        if self.whole.n_features:
            weights += (self.whole.n_features,)
            further["segment_features"] = self.whole.digests()
        return Fingerprint(
            {
                "the model": "segments",
                "the number of features": self.features.n_features,
                "the number of labels": self.n_states,
                "max_length": bytes(self.limits),
                "the weights": weights,
                "the loss": self.loss.digest(),
            },
            {
                "X": row_digests(self.features, self.offsets),
                "y": value_digests(self.codes, self.offsets),
                "the loss of y": value_digests(self.loss.cost, self.offsets),
            }
            | further,
        )
