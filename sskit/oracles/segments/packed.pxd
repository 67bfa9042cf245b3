from sskit.oracles.segments.max_sum cimport SegmentPotentials


cdef class PackedSegments:
    """Scores of segments that came from arrays: the memory behind their potentials."""

    cdef readonly Py_ssize_t n_tokens
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t max_length
    cdef const double[:, ::1] opening
    cdef const double[:, ::1] closing
    cdef const double[:, ::1] lengths
    cdef const double[:, ::1] whole          # (n_tokens * max_length, stride), or one row
    cdef const double[:, ::1] transitions
    cdef const double[:, ::1] ends           # (2, stride) start and end
    cdef bint has_whole

    cdef SegmentPotentials potentials(self) noexcept nogil
