"""Segmentations of sequences: semi-Markov max-sum and sum-product (Sarawagi and Cohen 2004)."""

import numpy as np

from sskit._numbers import as_floats, check_bool
from sskit.oracles.validation import check_allowed, check_table, count_answers, padded_rows

cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport int32_t

SEGMENTS = "no segmentation of {} tokens is allowed by the scores"


cdef class PackedSegments:
    """Scores of the segments of one sequence, from arrays: the memory behind their potentials.

    Parameters
    ----------
    tokens : array-like of shape (n_tokens, n_states)
        Scores of tokens, added to every segment that contains them.
    transitions : array-like of shape (n_states, n_states)
        Scores of a segment's state (row) and that of the next one.
    lengths : array-like of shape (n_states, max_length)
        Scores of the lengths 1 to max_length.
    first, last : array-like of shape (n_tokens, n_states), or None
        Further scores of the first and of the last token of a segment.
    start, end : array-like of shape (n_states,), or None
        Scores of the first and of the last segment.
    whole : array-like of shape (n_tokens, max_length, n_states), or None
        Further scores of segments by their first token and their length minus one.
    """

    cdef SegmentPotentials p
    cdef list arrays                         # what they point to
    cdef Segmentations oracle

    @cython.boundscheck(True)
    @cython.wraparound(True)
    def __cinit__(self, tokens, transitions, lengths, first=None, last=None, start=None, end=None,
                  whole=None):
        tokens = check_table(tokens, "tokens", finite=True)
        n_tokens, n_states = tokens.shape
        lengths = as_floats(lengths, "lengths")
        if lengths.ndim != 2 or len(lengths) != n_states or lengths.shape[1] == 0:
            raise ValueError(
                f"lengths must have shape ({n_states}, max_length), max_length at least 1, got "
                f"{lengths.shape}"
            )
        lengths = checked(lengths, "lengths", lengths.shape)
        transitions = checked(transitions, "transitions", (n_states, n_states))
        sums = np.cumsum(np.concatenate([np.zeros((1, n_states)), tokens]), axis=0)
        opening = checked(first, "first", tokens.shape) - sums[:n_tokens]
        closing = checked(last, "last", tokens.shape) + sums[1:]
        opening[0] += checked(start, "start", (n_states,))
        closing[-1] += checked(end, "end", (n_states,))
        # no segment is longer than the sequence
        max_length, self.arrays = min(lengths.shape[1], n_tokens), []
        cdef const double* of_segments = NULL
        if whole is not None:
            whole = checked(whole, "whole", (n_tokens, lengths.shape[1], n_states))
            of_segments = self.keep(whole[:, :max_length].reshape(-1, n_states))
        self.p = SegmentPotentials(
            n_tokens, n_states, max_length, self.keep(opening), self.keep(closing),
            self.keep(lengths.T[:max_length]), of_segments, self.keep(transitions), NULL,
            NULL, NULL, NULL
        )

    cdef const double* keep(self, rows) except NULL:
        cdef const double[:, ::1] table = padded_rows(rows)
        self.arrays.append(table)
        return &table[0, 0]


def segment_max_sum(tokens, transitions, lengths, *, first=None, last=None, start=None, end=None,
                    whole=None):
    """Find the best segmentation of a sequence.

    A segmentation is a list of segments (start, end, state) of neighbouring tokens that cover all
    of them. The score of a segment is the sum of ``tokens`` over its tokens at its state,
    ``first`` of its first and ``last`` of its last token, ``lengths`` at its length, and
    ``whole``; that of a segmentation is the sum over its segments and over `transitions` between
    them. Exact up to rounding; O(n_tokens n_states (n_states + max_length)).

    Parameters
    ----------
    tokens : array-like of shape (n_tokens, n_states)
        Finite scores of tokens, for all segments that contain them.
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
        Further scores of segments by their first token and their length minus one.

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
    code = np.zeros(scores.p.n_tokens, dtype=np.int32)
    cdef int32_t[::1] out = code
    cdef double score
    with nogil:
        score = scores.oracle.decode(scores.p, &out[0])
    check_allowed(score > -INFINITY, scores.p.n_tokens, SEGMENTS)
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
    marginals = np.empty((scores.p.n_tokens, scores.p.n_states))
    cdef double[:, ::1] out = marginals
    with nogil:
        scores.oracle.max_marginals(scores.p, scores.p.n_states, &out[0, 0])
    return marginals


def segment_top_k(tokens, transitions, lengths, k, *, first=None, last=None, start=None, end=None,
                  whole=None):
    """Find the k best segmentations of a sequence.

    Exact up to rounding; O(n_tokens (n_states + k) (n_states + max_length)) at most.

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
    cdef Py_ssize_t n_tokens = packed.p.n_tokens, most
    k = most = count_answers(k, 2 * packed.p.n_states, n_tokens)
    codes, scores = np.empty((k, n_tokens), dtype=np.int32), np.empty(k)
    cdef int32_t[:, ::1] codes_out = codes
    cdef double[::1] scores_out = scores
    cdef Py_ssize_t n_labellings
    with nogil:
        n_labellings = packed.oracle.k_best(packed.p, most, &codes_out[0, 0], &scores_out[0])
    check_allowed(n_labellings, n_tokens, SEGMENTS)
    return [segments_of(code) for code in codes[:n_labellings]], scores[:n_labellings].copy()


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
        Probability of each segment by its first token, its length minus one and its state; only if
        `return_segments`.

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
    check_bool(return_segments, "return_segments")
    cdef PackedSegments packed = PackedSegments(
        tokens, transitions, lengths, first, last, start, end, whole
    )
    cdef Py_ssize_t n_tokens = packed.p.n_tokens, n_states = packed.p.n_states
    marginals = np.zeros((n_tokens, n_states))
    segments = np.zeros((n_tokens, packed.p.max_length, n_states))
    cdef double[:, ::1] out = marginals
    cdef double[:, :, ::1] by_segment = segments
    cdef double log_partition
    with nogil:
        log_partition = packed.oracle.infer(
            packed.p, n_states, &out[0, 0], &by_segment[0, 0, 0], NULL
        )
    check_allowed(log_partition > -INFINITY, n_tokens, SEGMENTS)
    if not return_segments:
        return log_partition, marginals
    n_lengths = np.shape(lengths)[1]
    whole_table = np.zeros((n_tokens, n_lengths, n_states))
    whole_table[:, : packed.p.max_length] = segments
    return log_partition, marginals, whole_table


def checked(scores, name, shape):
    """Return scores of this shape, zeros for None, or raise ValueError naming what is wrong."""
    if scores is None:
        return np.zeros(shape)
    return check_table(scores, name, shape)


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
