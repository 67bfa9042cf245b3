"""Segments of sequences, bound to data (see the .pxd)."""

import numpy as np

from libc.math cimport NAN
from libc.string cimport memcpy

from sskit.core.fingerprint import Fingerprint
from sskit.models.chain.grams import make_grams, no_grams
from sskit.models.features import cut_columns
from sskit.models.row_hashes import row_digests, value_digests
from sskit.models.segments.whole import no_features
from sskit.models.shapes import check_chains

from sskit.core.checks cimport check_equal
from sskit.core.direction cimport Direction
from sskit.core.lanes cimport LANES, padded, prefetch_memory
from sskit.models.segments.losses cimport SpanLoss
from sskit.models.row_kernels cimport (
    active_rows, add_rows, add_rows_between, dot_rows, grow, score_rows
)
from sskit.models.rows cimport clear_rows, clip_rows
from sskit.oracles.segments.max_sum cimport SegmentPotentials


cdef class SegmentProblem(Problem):
    """Segments of sequences bound to data.

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

    def __cinit__(self, FeatureRows features, offsets, codes, SegmentLoss loss, block_weight,
                  limits, bint has_ends, bint has_lengths, WholeFeatures whole=None):
        if whole is None:
            whole = no_features(offsets, np.max(limits))
        self.given = (
            features, offsets, codes, loss, block_weight, limits, has_ends, has_lengths, whole
        )
        check_chains(
            features.n_rows, offsets, 2 * len(limits), codes, loss.cost, block_weight
        )
        if not np.array_equal(loss.truth, codes):
            raise ValueError("the loss must be that of the true segments")
        if isinstance(loss, SpanLoss):
            n_costs = (<SpanLoss>loss).false_cost.shape[0]
            check_equal(n_costs, len(limits), "the number of costs of false segments")
        longest = int(np.diff(offsets).max())
        self.features, self.offsets, self.codes = features, offsets, codes
        self.loss, self.block_weight, self.limits = loss, block_weight, limits
        self.n_states = len(limits)
        self.n_columns = self.n_states * (3 if has_ends else 1)
        check_equal(whole.offsets.shape[0], len(offsets), "the number of offsets")
        check_equal(whole.offsets[len(offsets) - 1], features.n_rows, "the number of tokens")
        check_equal(whole.max_length, int(np.max(limits)), "the longest segment")
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
        self.grams, self.image = no_grams(self.n_blocks), np.zeros(1)
        self.active = np.empty(longest, dtype=np.int32)
        self.fresh = np.zeros(longest, dtype=np.int32)
        self.token_scores = np.empty(longest * self.stride)
        for i in range(self.n_blocks):
            if not self.knows(i, &self.codes[self.offsets[i]]):
                raise ValueError(f"the true segments of sequence {i} are none")

    def prepare_steps(self):
        """Compute what sqnorm needs: Gram matrices of all short enough blocks."""
        self.grams = make_grams(self.features, self.offsets, 0.0)
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
