"""Segmentations of sequences, under losses by token or by segment."""

import numpy as np

from sskit.models.features import value_digests

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from sskit.core.lanes cimport padded
from sskit.models.feature_map cimport FeatureMap
from sskit.models.structure cimport Block, NodeLoss, Structure
from sskit.oracles.segments.semi_markov cimport Segmentations, SegmentPotentials


cdef class SegmentStructure(Structure):
    """Segmentations of sequences.

    A code has 2 k + 1 at the first token of each segment of state k and 2 k at its other tokens:
    these are the 2 K states of a `NodeLoss`. Nodes of the map are tokens; column k < K is that of
    state k, with 3 K columns K + k says that the token is the first one of a segment of state k,
    and 2 K + k that it is the last one. The head has transitions; the tail is one row: lengths
    (K, M) if they have weights, features of whole segments (K, q), start (K,), end (K,). Segments
    of a state whose limit is one have neither weights of lengths nor of first and last tokens,
    which would be those of the token and of the state again.

    Potentials of -inf in the first K columns forbid states of tokens; the mask `possible` of a
    `NodeLoss` forbids codes, and so segments that contradict what is known of their tokens. Where
    several codes are `right`, of which the truth is one, a predicted segment has its cost if it
    contradicts them, and a true one that is missed has that of the `NodeLoss`, which is zero
    unless all of its tokens are known.

    Parameters
    ----------
    map : FeatureMap
        Where the potentials are.
    limits : ndarray of shape (K,), int32
        Length of the longest segment of each state, at least 1; the largest is M.
    has_lengths : bool
        Whether lengths have weights.
    false_cost : ndarray of shape (K,), float64, default=None
        Cost of a predicted segment that is not true; the cost of a `NodeLoss` at the first token of
        a true segment is then that of missing it. None: the loss is by tokens.
    whole : ndarray of shape (n_values,), float64, default=None
        Features of whole segments, block after block, those of T tokens as (T, min(M, T), q): by
        the first token of a segment and its length less one. Entries of segments that would end
        behind the sequence are never read.
    forbids : bool, default=False
        Whether there may be potentials of -inf, or masks of codes.
    labels : ndarray of shape (K,), int32, default=None
        The label of each state, those of a label one after the other: losses of segments are of
        labels. None: the states are labels.
    """

    cdef FeatureMap map
    cdef readonly Py_ssize_t n_states, max_length
    cdef readonly Py_ssize_t n_whole         # features of whole segments, q
    cdef Py_ssize_t stride                   # padded(n_states)
    cdef Py_ssize_t whole_place              # where their potentials begin
    cdef Py_ssize_t end_place                # likewise start and end
    cdef bint has_ends, has_lengths, forbids
    cdef const int32_t[::1] limits, labels
    cdef const int32_t[::1] first_state, last_state  # (K,) of the label of each state
    cdef const double[::1] false_cost        # empty: losses are by token
    cdef const double[::1] whole
    cdef const int64_t[::1] places           # (n_blocks + 1,) where those of a block begin
    # scratch: potentials as oracles take them
    cdef Segmentations oracle
    cdef double[::1] inside                  # (longest, stride) of tokens; likewise the next two
    cdef double[::1] opening, closing
    cdef double[::1] lengths                 # (max_length, stride)
    cdef double[::1] apart                   # (longest, max_length, stride) of whole segments
    cdef int32_t[::1] bonus_state            # (longest,) likewise the next two
    cdef int32_t[::1] bonus_stop, bonus_length
    cdef double[::1] bonus
    cdef int32_t[::1] may_begin              # (longest,) whether a segment of any state may
    cdef int32_t[::1] fits                   # (K,) whether one does that begins at some token
    cdef SegmentPotentials summed            # of the block of the last sum
    cdef double[::1] fractions               # (longest, max_length, K) probabilities of segments
    cdef int32_t[::1] no_code                # (longest,) shares no part with any labelling

    def __cinit__(self, FeatureMap map, const int32_t[::1] limits, bint has_lengths,
                  false_cost=None, whole=None, bint forbids=False, labels=None):
        cdef Py_ssize_t n_states = limits.shape[0], longest = max(map.longest, 1), k, d
        self.map, self.limits, self.n_states = map, limits, n_states
        labels = np.arange(n_states) if labels is None else labels
        self.labels = np.asarray(labels, dtype=np.int32)
        self.first_state, self.last_state = (
            np.searchsorted(labels, labels, side).astype(np.int32) for side in ("left", "right")
        )
        self.stride = padded(n_states)
        for k in range(n_states):
            self.max_length = max(self.max_length, limits[k])
        self.has_ends = map.n_columns > n_states
        self.has_lengths, self.forbids = has_lengths, forbids
        self.end_place = map.tail_base + map.tail_columns - 2 * n_states
        self.whole_place = map.tail_base + n_states * self.max_length * has_lengths
        self.n_whole = (self.end_place - self.whole_place) // n_states
        self.false_cost = np.zeros(0) if false_cost is None else false_cost
        if self.n_whole:
            sizes = np.diff(map.offsets)
            sizes = sizes * np.minimum(sizes, self.max_length) * self.n_whole
            self.whole, self.places = whole, np.append(0, np.cumsum(sizes)).astype(np.int64)
        self.max_code_length = longest
        self.no_code = np.full(longest, -1, dtype=np.int32)
        self.fractions = np.empty(0)  # until probabilities are asked for
        self.max_support = 2 * ((5 + self.n_whole) * longest + 2)
        self.inside, self.opening, self.closing = np.zeros((3, longest * self.stride))
        self.lengths = np.full(self.max_length * self.stride, -np.inf)
        for k in range(n_states):
            for d in range(limits[k]):
                self.lengths[d * self.stride + k] = 0.0
        if self.n_whole or forbids:
            self.apart = np.zeros(longest * min(self.max_length, longest) * self.stride)
            self.may_begin, self.fits = (np.zeros(n, dtype=np.int32) for n in (longest, n_states))
        if false_cost is not None:
            self.bonus_state, self.bonus_stop, self.bonus_length = np.empty(
                (3, longest), dtype=np.int32
            )
            self.bonus = np.empty(longest)

    # features of the d + 1 tokens from t on
    cdef inline const double* whole_row(
        self, const Block* b, Py_ssize_t t, Py_ssize_t d
    ) noexcept nogil:
        cdef Py_ssize_t most = min(self.max_length, b.n)
        return &self.whole[self.places[b.i] + (t * most + d) * self.n_whole]

    # copies the potentials of a block; those of its tokens are not yet running sums
    cdef void take_potentials(self, const Block* b) noexcept nogil:
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, k, t, d, e
        cdef const double* lengths = b.theta + self.map.tail_base
        cdef const double* node = b.theta + self.map.node_base
        cdef bint ends
        for k in range(n_states if self.has_lengths else 0):
            for d in range(self.limits[k] if self.limits[k] > 1 else 0):
                self.lengths[d * stride + k] = lengths[k * self.max_length + d]
        for t in range(b.n):
            for k in range(n_states):
                e, ends = t * stride + k, self.has_ends and self.limits[k] > 1
                self.inside[e] = node[k]
                self.opening[e] = node[n_states + k] if ends else 0.0
                self.closing[e] = node[2 * n_states + k] if ends else 0.0
            node += self.map.stride
        if self.n_whole or self.forbids:
            self.take_whole(b)

    # the scores of features of whole segments, -inf where a segment is forbidden
    cdef void take_whole(self, const Block* b) noexcept nogil:
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, q = self.n_whole, t, d, k, f
        cdef Py_ssize_t most = min(self.max_length, b.n)
        cdef const double* weights = b.theta + self.whole_place
        cdef const double* row = NULL
        cdef double* out
        cdef double total
        for t in range(b.n):
            for d in range(min(most, b.n - t)):
                out = &self.apart[(t * most + d) * stride]
                if q:
                    row = self.whole_row(b, t, d)
                for k in range(n_states):
                    total = 0.0
                    for f in range(q):
                        total += row[f] * weights[k * q + f]
                    # a forbidden token forbids all longer segments too
                    if self.inside[(t + d) * stride + k] == -INFINITY or (
                        d and out[k - stride] == -INFINITY
                    ):
                        total = -INFINITY
                    out[k] = total
        # running sums over tokens stay finite
        for k in range(b.n * stride if self.forbids else 0):
            if self.inside[k] == -INFINITY:
                self.inside[k] = 0.0

    # adds the costs of wrong codes of tokens, up to a constant
    cdef void add_tokens(self, const Block* b, NodeLoss loss, double weight) noexcept nogil:
        cdef Py_ssize_t t, k, e, truth
        cdef double amount
        for t in range(b.n):
            truth, e = loss.truth[b.first + t], t * self.stride
            if loss.is_bonus:
                # up to a constant, a loss of all codes but one is a negative one of that code
                e += truth >> 1
                amount = weight * loss.cost[b.first + t]
                if truth & 1:
                    self.opening[e] -= amount
                else:
                    self.inside[e] -= amount
                    self.opening[e] += amount
                continue
            for k in range(self.n_states):
                amount = weight * loss.at(b.first + t, 2 * k)
                self.inside[e + k] += amount
                self.opening[e + k] += weight * loss.at(b.first + t, 2 * k + 1) - amount

    # finds at which tokens a mask of codes lets a segment begin
    cdef void find_beginnings(
        self, const Block* b, const unsigned char[:, ::1] mask
    ) noexcept nogil:
        cdef Py_ssize_t t, k
        for t in range(b.n):
            self.may_begin[t] = 0
            for k in range(self.n_states):
                self.may_begin[t] |= mask[b.first + t, 2 * k + 1]

    # adds to the scores of segments that contradict a mask of codes the weight times their costs,
    # or -inf
    cdef void add_contradictions(
        self, const Block* b, const unsigned char[:, ::1] mask, double weight
    ) noexcept nogil:
        cdef Py_ssize_t K = self.n_states, t, d, k, most = min(self.max_length, b.n)
        cdef const unsigned char* may
        cdef double* out
        cdef bint ends
        self.find_beginnings(b, mask)
        for t in range(b.n):
            for k in range(K):
                self.fits[k] = mask[b.first + t, 2 * k + 1]
            for d in range(min(most, b.n - t)):
                ends = t + d + 1 == b.n or self.may_begin[t + d + 1]
                may, out = &mask[b.first + t + d, 0], &self.apart[(t * most + d) * self.stride]
                for k in range(K):
                    self.fits[k] &= d == 0 or may[2 * k]
                    if not (self.fits[k] and ends):
                        out[k] += -INFINITY if weight == -INFINITY else weight * self.false_cost[k]

    # likewise adds the costs of segments that are not true, and of true ones that are missed
    cdef void add_segments(self, const Block* b, NodeLoss loss, double weight) noexcept nogil:
        cdef Py_ssize_t t, k, s = 0
        cdef const int32_t* truth = &loss.truth[b.first]
        # where not all is known, the cost of a false segment is that of the whole segment
        cdef bint partial = self.forbids and loss.right.shape[0]
        cdef double at_beginning = 0.0 if partial else weight
        if partial:
            self.add_contradictions(b, loss.right, weight)
        for t in range(b.n):
            for k in range(self.n_states):
                self.opening[t * self.stride + k] += at_beginning * self.false_cost[k]
            if truth[t] & 1:
                s = t
            self.bonus_state[t] = self.bonus_stop[t] = 0
            if t + 1 == b.n or truth[t + 1] & 1:
                k = truth[t] >> 1
                self.bonus_state[t], self.bonus_stop[t] = self.first_state[k], self.last_state[k]
                self.bonus_length[t] = <int32_t>(t - s)
                self.bonus[t] = -weight * (
                    loss.cost[b.first + s] + (0.0 if partial else self.false_cost[k])
                )

    # the potentials of a block, with weight times the loss
    cdef SegmentPotentials potentials(
        self, const Block* b, NodeLoss loss, double weight
    ) noexcept nogil:
        cdef Py_ssize_t t, k, e, stride = self.stride
        cdef SegmentPotentials p
        cdef bint spans = weight != 0.0 and self.false_cost.shape[0] > 0
        cdef const double* start = b.theta + self.end_place
        self.take_potentials(b)
        # a mask of states has forbidden potentials before
        if self.forbids and loss is not None and loss.possible.shape[1] == 2 * self.n_states:
            self.add_contradictions(b, loss.possible, -INFINITY)
        if spans:
            self.add_segments(b, loss, weight)
        elif weight != 0.0:
            self.add_tokens(b, loss, weight)
        for k in range(self.n_states):
            self.opening[k] += start[k]
            self.closing[(b.n - 1) * stride + k] += start[self.n_states + k]
        for t in range(b.n):
            for k in range(self.n_states):
                e = t * stride + k
                if t:
                    self.opening[e] -= self.inside[e - stride]
                    self.inside[e] += self.inside[e - stride]
                self.closing[e] += self.inside[e]
        p = SegmentPotentials(
            b.n, self.n_states, min(self.max_length, b.n), &self.opening[0], &self.closing[0],
            &self.lengths[0], NULL, b.theta, NULL, NULL, NULL, NULL
        )
        if self.n_whole or self.forbids:
            p.whole = &self.apart[0]
        if spans:
            p.bonus_state, p.bonus_stop = &self.bonus_state[0], &self.bonus_stop[0]
            p.bonus_length = &self.bonus_length[0]
            p.bonus = &self.bonus[0]
        return p

    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        self.oracle.decode(self.potentials(b, loss, weight), code)
        return 0

    def prepare_k_best(self, Py_ssize_t k):
        """Return k, or the number of segmentations of the longest sequence if that is smaller."""
        longest = min(self.max_code_length, int(k).bit_length())
        return min(k, (2 * int(self.n_states)) ** longest)

    cdef Py_ssize_t k_best(
        self, const Block* b, Py_ssize_t k, int32_t* codes, double* scores
    ) except -1 nogil:
        return self.oracle.k_best(self.potentials(b, None, 0.0), k, codes, scores)

    cdef int max_marginals(self, const Block* b, double* out) except -1 nogil:
        self.oracle.max_marginals(self.potentials(b, None, 0.0), self.stride, out)
        return 0

    def prepare_marginals(self, const double[::1] theta):
        """Make room for the probabilities of all segments."""
        longest = self.max_code_length
        if self.fractions.shape[0] == 0:
            self.fractions = np.empty(longest * min(self.max_length, longest) * self.n_states)

    cdef double marginals(self, const Block* b, double* nodes, double* pairs) except? -1 nogil:
        cdef Py_ssize_t K = self.n_states, step = self.map.stride, t, d, k, f, most
        cdef double fraction
        cdef double log_sum
        cdef double* token
        cdef const double* row = NULL
        cdef const double* of_segment = &self.fractions[0]
        self.summed = self.potentials(b, None, 0.0)
        if nodes == NULL:
            return self.oracle.log_partition(self.summed)
        memset(nodes, 0, b.n * step * sizeof(double))
        most = self.summed.max_length
        log_sum = self.oracle.infer(self.summed, step, nodes, &self.fractions[0], pairs)
        if log_sum == -INFINITY or pairs == NULL:
            return log_sum
        # expected statistics, in the order of `count_apart`
        for k in range(K):
            pairs[self.end_place + k] += nodes[k]
            pairs[self.end_place + K + k] += nodes[(b.n - 1) * step + k]
        for t in range(b.n):
            token = nodes + t * step
            for d in range(min(most, b.n - t)):
                if self.n_whole:
                    row = self.whole_row(b, t, d)
                for k in range(K):
                    fraction = of_segment[(t * most + d) * K + k]
                    if fraction == 0.0:
                        continue
                    if self.limits[k] > 1 and self.has_ends:
                        token[K + k] += fraction
                        token[d * step + 2 * K + k] += fraction
                    if self.limits[k] > 1 and self.has_lengths:
                        pairs[self.map.tail_base + k * self.max_length + d] += fraction
                    for f in range(self.n_whole):
                        pairs[self.whole_place + k * self.n_whole + f] += fraction * row[f]
        return log_sum

    cdef int sample(self, const Block* b, const double* uniform, int32_t* code) except -1 nogil:
        self.oracle.sample(self.summed, uniform, code)
        return 0

    cdef Py_ssize_t statistics(
        self, const Block* b, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        return self.count_apart(b, code, &self.no_code[0], 1.0, index, value)

    cdef double score(self, const Block* b, const int32_t* code) except? -1 nogil:
        return self.oracle.score(self.potentials(b, None, 0.0), code)

    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t, size = 0
        for t in range(b.n):
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

    # are two codes of a token the same but for states of one label?
    cdef inline bint alike(self, int32_t one, int32_t other) noexcept nogil:
        return (
            one & 1 == other & 1 and self.first_state[one >> 1] == self.first_state[other >> 1]
        )

    cdef double loss_of(self, const Block* b, NodeLoss loss, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t, s = 0
        cdef const int32_t* truth = &loss.truth[b.first]
        cdef bint partial = self.forbids and loss.right.shape[0], same = True, sound = True
        cdef double total = 0.0, at_beginning = 0.0 if partial else 1.0
        if not self.false_cost.shape[0]:
            return loss.of(b.first, b.n, code)
        if partial:
            self.find_beginnings(b, loss.right)
        for t in range(b.n if partial else 0):
            if code[t] & 1:
                s, sound = t, True
            sound = sound and loss.right[b.first + t, code[t]]
            if t + 1 == b.n or code[t + 1] & 1:
                sound = sound and (t + 1 == b.n or self.may_begin[t + 1])
                total += 0.0 if sound else self.false_cost[code[t] >> 1]
        # s: the last token at which a segment of one or the other begins; same: are both equal
        # from there on? True segments and those of the code that end together are one if they are
        for t in range(b.n):
            if code[t] & 1:
                total += at_beginning * self.false_cost[code[t] >> 1]
            if truth[t] & 1:
                total += loss.cost[b.first + t]
            if (code[t] | truth[t]) & 1:
                s, same = t, True
            same = same and self.alike(code[t], truth[t])
            if not same or not (code[s] & truth[s] & 1):
                continue
            if t + 1 == b.n or code[t + 1] & truth[t + 1] & 1:
                total -= at_beginning * self.false_cost[code[s] >> 1] + loss.cost[b.first + s]
        return max(total, 0.0)

    # the statistics of one labelling that the other lacks, times sign; returns their number
    cdef Py_ssize_t count_apart(
        self, const Block* b, const int32_t* code, const int32_t* other, double sign,
        int32_t* index, double* value
    ) noexcept nogil:
        cdef Py_ssize_t K = self.n_states, node = self.map.node_base, t, e, k, f, n = 0
        cdef const double* row
        cdef bint differs
        for t in range(b.n):
            k = code[t] >> 1
            differs = other[t] >> 1 != k
            if differs:
                put(index, value, &n, node + k, sign)
            if differs and t == 0:
                put(index, value, &n, self.end_place + k, sign)
            if differs and t == b.n - 1:
                put(index, value, &n, self.end_place + K + k, sign)
            e, node = t, node + self.map.stride
            if not code[t] & 1:
                continue
            if t and (differs or not other[t] & 1 or other[t - 1] >> 1 != code[t - 1] >> 1):
                put(index, value, &n, (code[t - 1] >> 1) * self.stride + k, sign)
            if self.limits[k] == 1 and not self.n_whole:
                continue
            differs = code[t] != other[t]
            while e + 1 < b.n and not code[e + 1] & 1:
                e += 1
                differs = differs or code[e] != other[e]
            # the other labelling has the segment t .. e too if it has the same codes, and ends it
            # here
            if not differs and (e + 1 == b.n or other[e + 1] & 1):
                continue
            if self.limits[k] > 1 and self.has_ends:
                f = node - self.map.stride + K + k
                put(index, value, &n, f, sign)
                put(index, value, &n, f + (e - t) * self.map.stride + K, sign)
            if self.limits[k] > 1 and self.has_lengths:
                f = self.map.tail_base + k * self.max_length + e - t
                put(index, value, &n, f, sign)
            if self.n_whole:
                row = self.whole_row(b, t, e - t)
            for f in range(self.n_whole):
                put(index, value, &n, self.whole_place + k * self.n_whole + f, sign * row[f])
        return n

    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil:
        cdef Py_ssize_t n = self.count_apart(b, truth, code, 1.0, index, value)
        return n + self.count_apart(b, code, truth, -1.0, index + n, value + n)

    def digest(self):
        """Return {public name: value} of what distinguishes this structure from others."""
        return {
            "the model": "segments",
            "the number of labels": self.n_states,
            "the states of labels": bytes(self.labels),
            "max_length": bytes(self.limits),
            "the weights": (self.map.n_columns, self.has_lengths, self.n_whole),
            "the loss": bytes(self.false_cost),
        }

    def digests(self):
        """Return {public name: digests (n_blocks,)} of the features of whole segments."""
        return {"segment_features": value_digests(self.whole, self.places)} if self.n_whole else {}


cdef inline void put(
    int32_t* index, double* value, Py_ssize_t* n, Py_ssize_t j, double number
) noexcept nogil:
    index[n[0]], value[n[0]] = <int32_t>j, number
    n[0] += 1
