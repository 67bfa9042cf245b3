"""Sequences that are to be cut into segments, and the weights for that (see the .pxd)."""

import numpy as np

from sskit.models.segments.whole import no_features

from sskit.core.checks cimport check_equal, check_offsets
from sskit.core.lanes cimport padded


cdef class SegmentRequest:
    """Sequences to cut into segments.

    Parameters
    ----------
    scores : list of one or three RowScores
        Scores of the tokens of all sequences; with those of first and last tokens.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Where the sequences begin; none is empty.
    limits : ndarray of shape (n_states,), int32
        Length of the longest segment of each state.
    table : ndarray of shape (n_table,)
        Weights that belong to no feature, as in `SegmentTables`.
    has_lengths : bool
        Whether weights of lengths are among them.
    whole : WholeFeatures, default=None
        Features of whole segments; None for none.
    """

    def __cinit__(self, list scores, offsets, const int32_t[::1] limits, const double[::1] table,
                  bint has_lengths, WholeFeatures whole=None):
        self.inside = scores[0]
        self.has_ends = len(scores) > 1
        if self.has_ends:
            self.first, self.last = scores[1:]
        self.n_tokens, self.n_states = self.inside.n_rows, limits.shape[0]
        for part in scores:
            check_equal(part.n_rows, self.n_tokens, "the number of rows")
            check_equal(part.n_states, self.n_states, "the number of states")
        check_offsets(offsets, self.n_tokens, 1, "offsets")
        self.offsets, self.limits, self.table = offsets, limits, table
        self.n_blocks = len(offsets) - 1
        self.longest = int(np.diff(offsets).max())
        self.has_lengths = has_lengths
        self.max_length = np.max(limits)
        self.whole = no_features(offsets, self.max_length) if whole is None else whole
        check_equal(self.whole.offsets.shape[0], len(offsets), "the number of offsets")
        check_equal(self.whole.offsets[self.n_blocks], self.n_tokens, "the number of tokens")
        check_equal(self.whole.max_length, self.max_length, "the longest segment")
        check_equal(table.shape[0], self.make_tables().n_weights, "the number of weights")

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i + 1] - self.offsets[i]

    def make_tables(self):
        """Return new `SegmentTables` with the weights that belong to no feature."""
        cdef SegmentTables tables = SegmentTables(
            self.longest, self.limits, self.has_lengths, self.whole.n_features
        )
        if self.table.shape[0] == tables.n_weights:
            tables.set_weights(&self.table[0])
        return tables

    cdef void write(self, Py_ssize_t i, SegmentTables tables, double* scratch) noexcept nogil:
        cdef Py_ssize_t start = self.offsets[i], count = self.length(i)
        cdef Py_ssize_t stride = padded(self.n_states), size = self.longest * stride
        if tables.n_whole:
            self.whole.write(
                i, &self.table[tables.whole_place()], self.n_states, &tables.whole[0]
            )
        self.inside.write(start, count, scratch)
        if self.has_ends:
            self.first.write(start, count, scratch + size)
            self.last.write(start, count, scratch + 2 * size)
            tables.set_tokens(count, scratch, scratch + size, scratch + 2 * size, stride)
        else:
            tables.set_tokens(count, scratch, NULL, NULL, stride)

    def is_modest(self):
        """Return whether features and their weights are so small that no score can overflow."""
        return self.inside.modest() and (
            not self.has_ends or (self.first.modest() and self.last.modest())
        )

    def fork(self):
        """Return the request: nothing of it is written to."""
        return self
