"""Scores of segments from arrays, checked (see the .pxd)."""

import numpy as np

from sskit.oracles.gate import padded_rows
from sskit.oracles.segments.gate import check_segments


cdef class PackedSegments:
    """Scores of the segments of one sequence.

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
