"""The k best segmentations of a sequence."""

import numpy as np

from sskit.oracles.gate import check_count
from sskit.oracles.segments.packed import segments_of

from libc.math cimport INFINITY

from sskit.core.lanes cimport padded
from sskit.oracles.segments.max_sum cimport segment_score
from sskit.oracles.segments.packed cimport PackedSegments


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
