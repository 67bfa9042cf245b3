"""Marginal probabilities of the segments of a sequence: semi-Markov sum-product."""

import numpy as np

from sskit.oracles.gate import check_switch

from libc.math cimport INFINITY, exp, log

from sskit.core.lanes cimport padded
from sskit.oracles.segments.max_sum cimport SegmentPotentials, segment_score
from sskit.oracles.segments.packed cimport PackedSegments


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


cdef double forward(const SegmentPotentials* p, double* leads, double* ends) noexcept nogil:
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


cdef void backward(
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
        log_partition = forward(&p, &scratch[0, 0], &scratch[1, 0])
        if log_partition > -INFINITY:
            backward(
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
