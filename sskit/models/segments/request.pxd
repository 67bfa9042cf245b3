from libc.stdint cimport int32_t, int64_t

from sskit.models.row_scores cimport RowScores
from sskit.models.segments.tables cimport SegmentTables
from sskit.models.segments.whole cimport WholeFeatures


cdef class SegmentRequest:
    """Sequences that are to be cut into segments, and the weights for that.

    What prediction needs of a `SegmentProblem`, and nothing else. Threads share it.
    """

    cdef RowScores inside
    cdef RowScores first                     # or None; likewise the next
    cdef RowScores last
    cdef WholeFeatures whole                 # features of whole segments
    cdef readonly bint has_ends
    cdef readonly bint has_lengths
    cdef const int64_t[::1] offsets          # (n_blocks + 1,) rows of the features
    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_tokens        # of all sequences
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t longest         # sequence
    cdef readonly Py_ssize_t max_length      # of a segment
    cdef const int32_t[::1] limits           # (n_states,)
    cdef const double[::1] table             # weights that belong to no feature

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    # tables take the scores of sequence i; scratch (3 * longest, padded(n_states))
    cdef void write(self, Py_ssize_t i, SegmentTables tables, double* scratch) noexcept nogil
