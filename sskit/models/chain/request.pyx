"""Sequences that are to be labelled, and the weights that label them (see the .pxd)."""

import numpy as np

from libc.math cimport INFINITY

from sskit.core.checks cimport check_equal, check_least, check_offsets
from sskit.core.lanes cimport LANES, padded


cdef class ChainRequest:
    """Sequences to label.

    Parameters
    ----------
    features : RowScores
        Scores of the tokens of all sequences, one after the other.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Where the sequences begin; none is empty.
    transitions : ndarray of shape (n_states, n_states), float64
        Scores of transitions, from row to column.
    start, end : ndarray of shape (n_states,), float64
        Scores of the first and of the last label.
    allowed : ndarray of shape (n_states, n_states), bool, default=None
        Allowed transitions; None means all.
    allowed_start, allowed_end : ndarray of shape (n_states,), bool, default=None
        Labels that a sequence may begin and end with; None means any.
    """

    def __cinit__(self, RowScores features, const int64_t[::1] offsets,
                  const double[:, :] transitions, const double[:] start, const double[:] end,
                  allowed=None, allowed_start=None, allowed_end=None):
        cdef Py_ssize_t n_states = features.n_states
        check_least(n_states, 1, "the number of states")
        for size in (transitions.shape[0], transitions.shape[1], start.shape[0], end.shape[0]):
            check_equal(size, n_states, "the number of states")
        self.features, self.offsets, self.n_states = features, offsets, n_states
        self.n_blocks, self.n_nodes = offsets.shape[0] - 1, features.n_rows
        self.stride = padded(n_states)
        self.check_lengths()
        table = np.zeros(n_states * self.stride + LANES)
        rows = table[: n_states * self.stride].reshape(n_states, self.stride)[:, :n_states]
        rows[...] = transitions
        self.start, self.end = np.array(start), np.array(end)
        self.transitions = table
        if allowed is not None:
            rows[~allowed] = -INFINITY
        if allowed_start is not None:
            np.asarray(self.start)[~allowed_start] = -INFINITY
        if allowed_end is not None:
            np.asarray(self.end)[~allowed_end] = -INFINITY

    cdef int check_lengths(self) except -1:
        """Find the longest sequence; raise ValueError if they do not make up all rows."""
        cdef Py_ssize_t i
        cdef bint wrong = self.n_blocks < 0
        if not wrong:
            wrong = self.offsets[0] != 0 or self.offsets[self.n_blocks] != self.n_nodes
            for i in range(self.n_blocks):
                wrong |= self.length(i) < 1
                self.longest = max(self.longest, self.length(i))
        return check_offsets(np.asarray(self.offsets), self.n_nodes, 1, "offsets") if wrong else 0

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i + 1] - self.offsets[i]

    cdef void nodes(self, Py_ssize_t i, double* out) noexcept nogil:
        cdef Py_ssize_t b, last = (self.length(i) - 1) * self.stride
        self.features.write(self.offsets[i], self.length(i), out)
        for b in range(self.n_states):
            out[b] += self.start[b]
            out[last + b] += self.end[b]

    def is_modest(self):
        """Return whether features and their weights are so small that no score can overflow.

        Other weights are below 1e154 in a fitted estimator: it takes too many to overflow.
        """
        return self.features.modest()

    def tables(self):
        """Return the scores by themselves.

        Returns
        -------
        nodes : ndarray of shape (n_tokens, n_states)
            Those of the features of the tokens.
        transitions : ndarray of shape (n_states, n_states)
            Those of the transitions, -inf where forbidden.
        start, end : ndarray of shape (n_states,)
            Those of the first and of the last label, likewise.
        """
        rows = np.asarray(self.transitions)[: self.n_states * self.stride]
        transitions = rows.reshape(self.n_states, self.stride)[:, : self.n_states].copy()
        return self.features.table(), transitions, np.array(self.start), np.array(self.end)

    def fork(self):
        """Return the request: nothing of it is written to."""
        return self
