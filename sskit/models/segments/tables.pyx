"""Potentials of segments in the form that oracles take (see the .pxd)."""

import numpy as np

from sskit.core.checks cimport check_least
from sskit.core.lanes cimport padded


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
        check_least(limits.shape[0], 1, "the number of states")
        check_least(np.min(limits), 1, "the longest segment")
        self.n_states, self.limits, self.has_lengths = limits.shape[0], limits, has_lengths
        self.max_length = np.max(limits)
        self.stride = padded(self.n_states)
        n_lengths = self.n_states * self.max_length if has_lengths else 0
        check_least(n_whole, 0, "the number of features of segments")
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
