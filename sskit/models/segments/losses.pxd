from libc.stdint cimport int32_t

from sskit.models.segments.tables cimport SegmentTables


cdef class SegmentLoss:
    """What it costs to cut a sequence into other segments than the true ones.

    Labellings are given by 2 k + 1 at the first token of each segment of state k and 2 k at its
    other tokens; `first` is the number of the first token of a sequence among those of all.
    """

    cdef const int32_t[::1] truth            # (n_rows,) true labellings of all sequences
    cdef const double[::1] cost              # (n_rows,)
    cdef readonly bint has_bonus             # does it use the bonus of the tables?

    # the loss of a labelling
    cdef double of(self, Py_ssize_t first, Py_ssize_t count, const int32_t* code) noexcept nogil
    # add weight times the loss to tables of tokens, but for a constant
    cdef void add(
        self, Py_ssize_t first, Py_ssize_t count, double weight, SegmentTables tables
    ) noexcept nogil


cdef class TokenLoss(SegmentLoss):
    """Tokens with another state, or of which one begins a segment and the other does not."""


cdef class SpanLoss(SegmentLoss):
    """Segments that are not true, and true ones that are missed."""

    cdef const double[::1] false_cost        # (n_states,) of a segment that is not true
