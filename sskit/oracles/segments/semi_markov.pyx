"""Segmentations of sequences: semi-Markov max-sum and sum-product (Sarawagi and Cohen 2004)."""

import numpy as np

from sskit._numbers import as_floats
from sskit.oracles.gate import check_count, check_switch, check_table, padded_rows

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t, int64_t

from sskit.core.lanes cimport padded
from sskit.oracles.chain.viterbi cimport transpose_padded, viterbi_step

cdef extern from "longest_step.hpp" namespace "sskit":
    # out[k] = closing[k] + max_{d < n_lengths} (opening[-d, k] + lengths[d, k] + whole[-d, k])
    void longest_step(
        const double* opening, const double* lengths, const double* whole, Py_ssize_t n_lengths,
        Py_ssize_t n_states, Py_ssize_t whole_step, const double* closing, double* out
    ) noexcept nogil


cdef class SegmentMaxSum:
    """The best segmentations.

    Parameters
    ----------
    max_tokens : int
        Length of the longest sequence.
    n_states : int
        Number of states.
    """

    def __cinit__(self, Py_ssize_t max_tokens, Py_ssize_t n_states):
        self.max_tokens, self.n_states = max_tokens, n_states
        self.stride = padded(n_states)
        self.leads = np.zeros(max_tokens * self.stride + 1)
        self.value = np.zeros(max_tokens * self.stride + 1)
        self.behind = np.zeros(max_tokens * self.stride + 1)
        self.ahead = np.zeros(self.stride)
        self.transposed = np.zeros(n_states * self.stride)

    cdef void forward(self, const SegmentPotentials* p) noexcept nogil:
        cdef Py_ssize_t stride = self.stride, step = p.max_length * stride, t, k, s
        cdef double* leads = &self.leads[0]
        cdef double* value = &self.value[0]
        cdef const double* whole = NULL
        cdef double score
        for k in range(stride):
            leads[k] = p.start[k] + p.opening[k]
        for t in range(p.n_tokens):
            if t > 0:
                viterbi_step(
                    value + (t - 1) * stride, p.transitions, self.n_states,
                    p.opening + t * stride, leads + t * stride
                )
            if p.whole != NULL:
                whole = p.whole + t * step
            longest_step(
                leads + t * stride, p.lengths, whole, min(t + 1, p.max_length), self.n_states,
                step - stride, p.closing + t * stride, value + t * stride
            )
            if p.bonus_state == NULL or p.bonus_state[t] < 0:
                continue
            k = p.bonus_state[t]
            value[t * stride + k] = -INFINITY
            for s in range(t, max(-1, t - p.max_length), -1):
                score = segment_score(p, leads[s * stride + k], stride, s, t - s, k)
                score += p.closing[t * stride + k]
                value[t * stride + k] = max(value[t * stride + k], score)

    cdef double decode(self, const SegmentPotentials* p, int32_t* code) noexcept nogil:
        cdef Py_ssize_t stride = self.stride, t = p.n_tokens - 1, j, k = 0, s, start
        cdef double* row = &self.value[t * stride]
        cdef double score, best, total = -INFINITY
        self.forward(p)
        for j in range(self.n_states):
            if row[j] + p.end[j] > total:
                total = row[j] + p.end[j]
                k = j
        if total == -INFINITY:
            return total
        # lengths and states are needed along the best path only, so they are found here
        while True:
            start, best = t, -INFINITY
            for s in range(t, max(-1, t - p.max_length), -1):
                score = segment_score(p, self.leads[s * stride + k], stride, s, t - s, k)
                if score > best:
                    best, start = score, s
            for s in range(start, t + 1):
                code[s] = <int32_t>(2 * k)
            code[start] += 1
            if start == 0:
                return total
            t = start - 1
            row = &self.value[t * stride]
            best = -INFINITY
            s, k = k, 0
            for j in range(self.n_states):
                score = row[j] + p.transitions[j * stride + s]
                if score > best:
                    best, k = score, j

    cdef void marginals(self, const SegmentPotentials* p, double* out) noexcept nogil:
        cdef Py_ssize_t stride = self.stride, n_states = self.n_states, last = p.n_tokens - 1
        cdef Py_ssize_t t, d, k
        cdef double* behind = &self.behind[0]
        cdef double* ahead = &self.ahead[0]
        cdef double score, best
        self.forward(p)
        transpose_padded(p.transitions, n_states, &self.transposed[0])
        for k in range(p.n_tokens * n_states):
            out[k] = -INFINITY
        for t in range(last, -1, -1):
            # behind: what follows a segment that ends at t, its own closing with it
            if t == last:
                for k in range(n_states):
                    behind[t * stride + k] = p.end[k] + p.closing[t * stride + k]
            else:
                viterbi_step(
                    ahead, &self.transposed[0], n_states, p.closing + t * stride,
                    behind + t * stride
                )
            # ahead: the best of segments that begin at t, and of what follows them
            for k in range(n_states):
                ahead[k] = best = -INFINITY
                # a token is in all segments from here that are at least as long
                for d in range(min(p.max_length, last + 1 - t) - 1, -1, -1):
                    score = segment_score(p, 0.0, stride, t, d, k) + behind[(t + d) * stride + k]
                    best = max(best, score)
                    score = self.leads[t * stride + k] + best
                    out[(t + d) * n_states + k] = max(out[(t + d) * n_states + k], score)
                ahead[k] = best + p.opening[t * stride + k]


cdef class SegmentKBest:
    """The k best segmentations.

    Parameters
    ----------
    max_tokens : int
        Length of the longest sequence.
    n_states : int
        Number of states.
    max_length : int
        That of the longest segment.
    k : int
        Number of segmentations, at least 1.
    """

    def __cinit__(self, Py_ssize_t max_tokens, Py_ssize_t n_states, Py_ssize_t max_length,
                  Py_ssize_t k):
        self.max_tokens, self.n_states, self.max_length = max_tokens, n_states, max_length
        self.k, self.stride = k, padded(n_states)
        n_lists, most = 2 * max_tokens * n_states + 1, max(n_states, max_length)
        self.score = np.empty(n_lists * k)
        self.origin = np.empty(n_lists * k, dtype=np.int64)
        self.count = np.zeros(n_lists, dtype=np.int32)
        self.source = np.empty(most, dtype=np.int64)
        self.added = np.empty(most)
        self.taken = np.empty(most, dtype=np.int32)

    cdef Py_ssize_t decode(
        self, const SegmentPotentials* p, int32_t* code, double* scores
    ) noexcept nogil:
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, t, s, a, b, r, n
        cdef Py_ssize_t ends = self.max_tokens * n_states, answer = 2 * ends
        for t in range(p.n_tokens):
            for a in range(n_states):
                if t == 0:
                    self.score[a * self.k] = p.start[a] + p.opening[a]
                    self.origin[a * self.k] = -1
                    self.count[a] = self.score[a * self.k] > -INFINITY
                    continue
                for b in range(n_states):
                    self.source[b] = ends + (t - 1) * n_states + b
                    self.added[b] = p.transitions[b * stride + a] + p.opening[t * stride + a]
                self.merge(t * n_states + a, n_states)
            for a in range(n_states):
                n = min(t + 1, p.max_length)
                for r in range(n):
                    s = t - r
                    self.source[r] = s * n_states + a
                    self.added[r] = segment_score(p, p.closing[t * stride + a], stride, s, r, a)
                self.merge(ends + t * n_states + a, n)
        for b in range(n_states):
            self.source[b] = ends + (p.n_tokens - 1) * n_states + b
            self.added[b] = p.end[b]
        self.merge(answer, n_states)
        for r in range(self.count[answer]):
            scores[r] = self.score[answer * self.k + r]
            self.trace(self.origin[answer * self.k + r], code + r * p.n_tokens)
        return self.count[answer]

    cdef void merge(self, Py_ssize_t into, Py_ssize_t n_sources) noexcept nogil:
        """Make a list of the best entries of others, to which something is added."""
        cdef Py_ssize_t j, best_source, n = 0
        cdef double candidate, best
        for j in range(n_sources):
            self.taken[j] = 0
        while n < self.k:
            best, best_source = -INFINITY, -1
            for j in range(n_sources):
                if self.taken[j] == self.count[self.source[j]]:
                    continue
                candidate = self.added[j] + self.score[self.source[j] * self.k + self.taken[j]]
                if candidate > best:
                    best, best_source = candidate, j
            if best_source < 0:
                break
            self.score[into * self.k + n] = best
            self.origin[into * self.k + n] = (
                self.source[best_source] * self.k + self.taken[best_source]
            )
            self.taken[best_source] += 1
            n += 1
        self.count[into] = <int32_t>n

    cdef void trace(self, int64_t entry, int32_t* code) noexcept nogil:
        """Write the segmentation of an entry that ends it."""
        cdef Py_ssize_t place, t, s, i
        while entry >= 0:
            place = entry // self.k - self.max_tokens * self.n_states
            t = place // self.n_states
            entry = self.origin[entry]
            s = entry // self.k // self.n_states
            entry = self.origin[entry]
            for i in range(s, t + 1):
                code[i] = <int32_t>(2 * (place % self.n_states))
            code[s] += 1


cdef class PackedSegments:
    """Scores of the segments of one sequence, from arrays: the memory behind their potentials.

    Parameters
    ----------
    tokens : array-like of shape (n_tokens, n_states)
        Scores of tokens, which all segments that they are inside of have.
    transitions : array-like of shape (n_states, n_states)
        Scores of a segment's state (row) and that of the next one.
    lengths : array-like of shape (n_states, max_length)
        Scores of the lengths 1 to max_length.
    first, last : array-like of shape (n_tokens, n_states), or None
        Further scores of the first and of the last token of a segment.
    start, end : array-like of shape (n_states,), or None
        Scores of the first and of the last segment.
    whole : array-like of shape (n_tokens, max_length, n_states), or None
        Further scores of segments by their first token and their length less one.
    """

    cdef readonly Py_ssize_t n_tokens
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t max_length
    cdef const double[:, ::1] opening
    cdef const double[:, ::1] closing
    cdef const double[:, ::1] lengths
    cdef const double[:, ::1] whole          # (n_tokens * max_length, stride), or one row
    cdef const double[:, ::1] transitions
    cdef const double[:, ::1] ends           # (2, stride) start and end
    cdef bint has_whole

    def __cinit__(self, tokens, transitions, lengths, first=None, last=None, start=None, end=None,
                  whole=None):
        given = check_segments(tokens, transitions, lengths, first, last, start, end, whole)
        tokens, transitions, lengths, first, last, start, end, whole = given
        self.n_tokens, self.n_states = tokens.shape
        # no segment is longer than the sequence
        self.max_length = min(lengths.shape[1], self.n_tokens)
        sums = np.cumsum(np.concatenate([np.zeros((1, self.n_states)), tokens]), axis=0)
        self.opening = padded_rows(first - sums[: self.n_tokens])
        self.closing = padded_rows(last + sums[1:])
        self.lengths = padded_rows(lengths.T[: self.max_length])
        self.transitions = padded_rows(transitions)
        self.ends = padded_rows(np.stack([start, end]))
        self.has_whole = whole is not None
        rows = np.zeros((1, self.n_states)) if whole is None else whole[:, : self.max_length]
        self.whole = padded_rows(rows.reshape(-1, self.n_states))

    cdef SegmentPotentials potentials(self) noexcept nogil:
        cdef SegmentPotentials p
        p.n_tokens, p.n_states, p.max_length = self.n_tokens, self.n_states, self.max_length
        p.opening, p.closing = &self.opening[0, 0], &self.closing[0, 0]
        p.lengths, p.transitions = &self.lengths[0, 0], &self.transitions[0, 0]
        p.whole = &self.whole[0, 0] if self.has_whole else NULL
        p.start, p.end = &self.ends[0, 0], &self.ends[1, 0]
        p.bonus_state = p.bonus_length = NULL
        p.bonus = NULL
        return p


cdef struct LogSum:
    double largest
    double rest                              # sum of exp(term - largest)


cdef inline void begin(LogSum* total) noexcept nogil:
    total.largest, total.rest = -INFINITY, 0.0


cdef inline void add(LogSum* total, double term) noexcept nogil:
    if term == -INFINITY:
        return
    if term <= total.largest:
        total.rest += exp(term - total.largest)
    else:
        total.rest = total.rest * exp(total.largest - term) + 1.0
        total.largest = term


cdef inline double value(const LogSum* total) noexcept nogil:
    return total.largest + log(total.rest) if total.rest > 0.0 else -INFINITY


cdef double log_forward(const SegmentPotentials* p, double* leads, double* ends) noexcept nogil:
    """Write log sums of all that leads to a segment, and ends with one; return log Z."""
    cdef Py_ssize_t n_states = p.n_states, stride = padded(n_states), t, a, b, d
    cdef LogSum total
    for t in range(p.n_tokens):
        for a in range(n_states):
            begin(&total)
            if t == 0:
                add(&total, p.start[a])
            else:
                for b in range(n_states):
                    add(&total, ends[(t - 1) * n_states + b] + p.transitions[b * stride + a])
            leads[t * n_states + a] = value(&total) + p.opening[t * stride + a]
        for a in range(n_states):
            begin(&total)
            for d in range(min(t + 1, p.max_length)):
                add(&total, segment_score(p, leads[(t - d) * n_states + a], stride, t - d, d, a))
            ends[t * n_states + a] = value(&total) + p.closing[t * stride + a]
    begin(&total)
    for a in range(n_states):
        add(&total, ends[(p.n_tokens - 1) * n_states + a] + p.end[a])
    return value(&total)


cdef void log_backward(
    const SegmentPotentials* p, const double* leads, double log_partition, double* behind,
    double* ahead, double* tokens, double* segments
) noexcept nogil:
    """Add up the probabilities of tokens and segments, from the last token to the first."""
    cdef Py_ssize_t n_states = p.n_states, stride = padded(n_states), t, a, b, d
    cdef double score, share
    cdef LogSum total
    for t in range(p.n_tokens - 1, -1, -1):
        for a in range(n_states):
            begin(&total)
            if t == p.n_tokens - 1:
                add(&total, p.end[a])
            else:
                for b in range(n_states):
                    add(&total, p.transitions[a * stride + b] + ahead[(t + 1) * n_states + b])
            behind[t * n_states + a] = value(&total) + p.closing[t * stride + a]
        for a in range(n_states):
            begin(&total)
            share = 0.0
            for d in range(min(p.max_length, p.n_tokens - t) - 1, -1, -1):
                score = segment_score(p, 0.0, stride, t, d, a) + behind[(t + d) * n_states + a]
                add(&total, score)
                score = exp(leads[t * n_states + a] + score - log_partition)
                segments[(t * p.max_length + d) * n_states + a] = score
                share += score
                tokens[(t + d) * n_states + a] += share
            ahead[t * n_states + a] = value(&total) + p.opening[t * stride + a]


def segment_max_sum(tokens, transitions, lengths, *, first=None, last=None, start=None, end=None,
                    whole=None):
    """Find the best segmentation of a sequence.

    A segmentation is a list of segments (start, end, state) of neighbouring tokens that cover all
    of them. A segment has the sum of ``tokens`` over its tokens at its state, ``first`` of its
    first and ``last`` of its last token, ``lengths`` at its length, and ``whole``; a segmentation
    the sum over its segments and over `transitions` between them. Exact up to rounding;
    O(n_tokens n_states (n_states + max_length)).

    Parameters
    ----------
    tokens : array-like of shape (n_tokens, n_states)
        Finite scores of tokens, which all segments that they are inside of have.
    transitions : array-like of shape (n_states, n_states)
        Scores of a segment's state (row) and that of the next one. ``-inf`` forbids here and in
        what follows.
    lengths : array-like of shape (n_states, max_length)
        Scores of the lengths 1 to max_length; longer segments are forbidden.
    first, last : array-like of shape (n_tokens, n_states), default=None
        Further scores of the first and of the last token of a segment; None means zeros.
    start, end : array-like of shape (n_states,), default=None
        Scores of the states of the first and of the last segment; None means zeros.
    whole : array-like of shape (n_tokens, max_length, n_states), default=None
        Further scores of segments by their first token and their length less one.

    Returns
    -------
    segments : list of tuples (int, int, int)
        First token, one after the last, and state of each segment. Of several maximisers the one
        with the smallest last state, then the shortest last segment, and so on backwards.
    score : float
        The maximum.

    Raises
    ------
    ValueError
        If shapes do not match, a score is NaN or +inf, or no segmentation is allowed.

    References
    ----------
    Sarawagi and Cohen (2004). Semi-Markov conditional random fields for information extraction.
    NIPS. Section 3.1.

    Examples
    --------
    >>> from sskit.oracles import segment_max_sum
    >>> tokens = [[1, 0], [1, 0], [0, 4], [1, 0]]
    >>> segment_max_sum(tokens, [[0, 0], [0, 0]], [[0, 3, 0], [0, 0, 0]])
    ([(0, 2, 0), (2, 3, 1), (3, 4, 0)], 10.0)
    """
    cdef PackedSegments scores = PackedSegments(
        tokens, transitions, lengths, first, last, start, end, whole
    )
    cdef SegmentMaxSum search = SegmentMaxSum(scores.n_tokens, scores.n_states)
    cdef SegmentPotentials p
    code = np.zeros(scores.n_tokens, dtype=np.int32)
    cdef int32_t[::1] out = code
    cdef double score
    with nogil:
        p = scores.potentials()
        score = search.decode(&p, &out[0])
    if score == -np.inf:
        raise ValueError(f"no segmentation of {scores.n_tokens} tokens is allowed by the scores")
    return segments_of(code), score


def segment_max_marginals(tokens, transitions, lengths, *, first=None, last=None, start=None,
                          end=None, whole=None):
    """Compute the best score of a segmentation for each token and state.

    Exact up to rounding; O(n_tokens n_states (n_states + max_length)).

    Parameters
    ----------
    tokens, transitions, lengths, first, last, start, end, whole : array-like
        As for `segment_max_sum`.

    Returns
    -------
    scores : ndarray of shape (n_tokens, n_states)
        The best score of a segmentation with this state at this token; ``-inf`` if none is
        allowed. The largest of each row is the score of the best segmentation.

    Raises
    ------
    ValueError
        If shapes do not match or a score is NaN or +inf.

    See Also
    --------
    segment_max_sum : The best segmentation.

    Examples
    --------
    >>> from sskit.oracles import segment_max_marginals
    >>> tokens = [[1, 0], [1, 0], [0, 4], [1, 0]]
    >>> segment_max_marginals(tokens, [[0, 0], [0, 0]], [[0, 3, 0], [0, 0, 0]])
    array([[10.,  6.],
           [10.,  6.],
           [ 9., 10.],
           [10.,  9.]])
    """
    cdef PackedSegments scores = PackedSegments(
        tokens, transitions, lengths, first, last, start, end, whole
    )
    cdef SegmentMaxSum search = SegmentMaxSum(scores.n_tokens, scores.n_states)
    cdef SegmentPotentials p
    marginals = np.empty((scores.n_tokens, scores.n_states))
    cdef double[:, ::1] out = marginals
    with nogil:
        p = scores.potentials()
        search.marginals(&p, &out[0, 0])
    return marginals


def segment_top_k(tokens, transitions, lengths, k, *, first=None, last=None, start=None, end=None,
                  whole=None):
    """Find the k best segmentations of a sequence.

    Exact up to rounding; O(n_tokens n_states k (n_states + max_length)).

    Parameters
    ----------
    tokens, transitions, lengths : array-like
        As for `segment_max_sum`.
    k : int
        Number of segmentations.
    first, last, start, end, whole : array-like, default=None
        As for `segment_max_sum`.

    Returns
    -------
    segmentations : list of list of tuples (int, int, int)
        The m best ones, best first, all distinct, as from `segment_max_sum`; m is k, or the
        number of all allowed ones if that is smaller.
    scores : ndarray of shape (m,)
        Their scores, never rising.

    Raises
    ------
    ValueError
        If shapes do not match, a score is NaN or +inf, `k` is not a positive integer or no
        segmentation is allowed.

    See Also
    --------
    segment_max_sum : The best one.

    Examples
    --------
    >>> from sskit.oracles import segment_top_k
    >>> found, scores = segment_top_k([[1], [1]], [[-1]], [[0, 0]], 3)
    >>> found
    [[(0, 2, 0)], [(0, 1, 0), (1, 2, 0)]]
    >>> scores
    array([2., 1.])
    """
    cdef PackedSegments packed = PackedSegments(
        tokens, transitions, lengths, first, last, start, end, whole
    )
    k = check_count(k, "k")
    cdef Py_ssize_t n_tokens = packed.n_tokens, n_states = packed.n_states
    # more than there are cost memory only; their number itself may be astronomical
    k = min(k, (2 * int(n_states)) ** min(int(n_tokens), k.bit_length()))
    cdef SegmentKBest search = SegmentKBest(n_tokens, n_states, packed.max_length, k)
    cdef SegmentPotentials p
    codes, scores = np.empty((k, n_tokens), dtype=np.int32), np.empty(k)
    cdef int32_t[:, ::1] codes_out = codes
    cdef double[::1] scores_out = scores
    cdef Py_ssize_t found
    with nogil:
        p = packed.potentials()
        found = search.decode(&p, &codes_out[0, 0], &scores_out[0])
    if found == 0:
        raise ValueError(f"no segmentation of {n_tokens} tokens is allowed by the scores")
    return [segments_of(code) for code in codes[:found]], scores[:found].copy()


def segment_marginals(tokens, transitions, lengths, *, first=None, last=None, start=None, end=None,
                      whole=None, return_segments=False):
    """Compute the marginal probabilities of the tokens and segments of a sequence.

    A segmentation has the probability ``exp(score) / Z``, where the score is that of
    `segment_max_sum` and Z makes the probabilities of all segmentations sum to one. Exact up to
    rounding, in logarithms; O(n_tokens n_states (n_states + max_length)).

    Parameters
    ----------
    tokens, transitions, lengths, first, last, start, end, whole : array-like
        As for `segment_max_sum`.
    return_segments : bool, default=False
        Whether to return the probabilities of segments too.

    Returns
    -------
    log_partition : float
        log Z.
    marginals : ndarray of shape (n_tokens, n_states)
        Probability of each state at each token.
    segments : ndarray of shape (n_tokens, max_length, n_states)
        Probability of each segment by its first token, its length less one and its state; only
        if `return_segments`.

    Raises
    ------
    ValueError
        If shapes do not match, a score is NaN or +inf, or no segmentation is allowed.

    See Also
    --------
    segment_max_marginals : The best score with each state at each token.

    References
    ----------
    Sarawagi and Cohen (2004). Semi-Markov conditional random fields for information extraction.
    NIPS. Section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.oracles import segment_marginals
    >>> log_partition, marginals, segments = segment_marginals(
    ...     [[0], [0]], [[0]], [[0, np.log(3)]], return_segments=True
    ... )
    >>> round(float(np.exp(log_partition)), 12)
    4.0
    >>> segments[..., 0].round(12)
    array([[0.25, 0.75],
           [0.25, 0.  ]])
    """
    check_switch(return_segments, "return_segments")
    cdef PackedSegments packed = PackedSegments(
        tokens, transitions, lengths, first, last, start, end, whole
    )
    cdef Py_ssize_t n_tokens = packed.n_tokens, n_states = packed.n_states
    cdef double[:, ::1] scratch = np.empty((4, n_tokens * n_states))
    marginals = np.zeros((n_tokens, n_states))
    segments = np.zeros((n_tokens, packed.max_length, n_states))
    cdef double[:, ::1] out = marginals
    cdef double[:, :, ::1] by_segment = segments
    cdef double log_partition
    cdef SegmentPotentials p
    with nogil:
        p = packed.potentials()
        log_partition = log_forward(&p, &scratch[0, 0], &scratch[1, 0])
        if log_partition > -INFINITY:
            log_backward(
                &p, &scratch[0, 0], log_partition, &scratch[2, 0], &scratch[3, 0], &out[0, 0],
                &by_segment[0, 0, 0]
            )
    if log_partition == -INFINITY:
        raise ValueError(f"no segmentation of {n_tokens} tokens is allowed by the scores")
    if not return_segments:
        return log_partition, marginals
    n_lengths = np.shape(lengths)[1]
    whole_table = np.zeros((n_tokens, n_lengths, n_states))
    whole_table[:, : packed.max_length] = segments
    return log_partition, marginals, whole_table


def check_segments(tokens, transitions, lengths, first, last, start, end, whole):
    """Return scores of the segments of a sequence as float64 arrays, checked.

    Parameters
    ----------
    tokens, transitions, lengths, first, last, start, end, whole : array-like or None
        As for `sskit.oracles.segment_max_sum`.

    Returns
    -------
    scores : tuple of ndarray
        As given, zeros for None; but `whole` stays None.

    Raises
    ------
    ValueError
        Naming the first entry that is wrong.
    """
    tokens = as_floats(tokens, "tokens")
    if tokens.ndim != 2 or 0 in tokens.shape:
        raise ValueError(
            f"tokens must have shape (n_tokens, n_states), both at least 1, got {tokens.shape}"
        )
    check_table(tokens, "tokens", finite=True)
    n_tokens, n_states = tokens.shape
    lengths = as_floats(lengths, "lengths")
    if lengths.ndim != 2 or len(lengths) != n_states or lengths.shape[1] == 0:
        raise ValueError(
            f"lengths must have shape ({n_states}, max_length), max_length at least 1, got "
            f"{lengths.shape}"
        )
    lengths = checked(lengths, "lengths", lengths.shape)
    transitions = checked(transitions, "transitions", (n_states, n_states))
    first, last = (
        checked(scores, name, tokens.shape) for scores, name in ((first, "first"), (last, "last"))
    )
    start, end = (
        checked(scores, name, (n_states,)) for scores, name in ((start, "start"), (end, "end"))
    )
    if whole is not None:
        whole = checked(whole, "whole", (n_tokens, lengths.shape[1], n_states))
    return tokens, transitions, lengths, first, last, start, end, whole


def checked(scores, name, shape):
    """Return scores of this shape, zeros for None, or raise ValueError naming what is wrong."""
    if scores is None:
        return np.zeros(shape)
    scores = as_floats(scores, name)
    if scores.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {scores.shape}")
    return check_table(scores, name)


def segments_of(code):
    """Return the segments of a labelling, as tuples (first token, one after the last, state).

    Parameters
    ----------
    code : ndarray of shape (n_tokens,), int32
        2 k + 1 at the first token of each segment of state k and 2 k at its other tokens.

    Returns
    -------
    segments : list of tuple of int
        In order.
    """
    starts = np.flatnonzero(code & 1)
    stops = [*starts[1:].tolist(), len(code)]
    return list(zip(starts.tolist(), stops, (code[starts] >> 1).tolist(), strict=True))
