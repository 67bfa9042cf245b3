"""The best segmentation of a sequence: semi-Markov max-sum (Sarawagi and Cohen 2004)."""

import numpy as np

from sskit.oracles.segments.packed import segments_of

from libc.math cimport INFINITY

from sskit.core.lanes cimport padded
from sskit.oracles.chain.max_marginals cimport transpose_padded
from sskit.oracles.chain.viterbi cimport viterbi_step
from sskit.oracles.segments.packed cimport PackedSegments

cdef extern from "longest_step.hpp":
    void clone_longest_step "sskit::longest_step"(
        const double* opening, const double* lengths, const double* whole, Py_ssize_t n_lengths,
        Py_ssize_t n_states, Py_ssize_t whole_step, const double* closing, double* out
    ) noexcept nogil


cdef void longest_step(
    const double* opening, const double* lengths, const double* whole, Py_ssize_t n_lengths,
    Py_ssize_t n_states, Py_ssize_t whole_step, const double* closing, double* out
) noexcept nogil:
    clone_longest_step(
        opening, lengths, whole, n_lengths, n_states, whole_step, closing, out
    )


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
