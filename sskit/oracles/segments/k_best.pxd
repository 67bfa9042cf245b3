from libc.stdint cimport int32_t, int64_t

from sskit.oracles.segments.max_sum cimport SegmentPotentials


cdef class SegmentKBest:
    """The k best segmentations: lists of partial ones, for one thread.

    List t * n_states + a holds the best ways to begin a segment of state a at token t, list
    (max_tokens + t) * n_states + a those to end one there, the last list whole segmentations.
    Entry r of list l stands at l * k + r, best first, and knows the entry that it goes on from.
    """

    cdef readonly Py_ssize_t max_tokens
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t max_length
    cdef readonly Py_ssize_t k
    cdef Py_ssize_t stride                   # padded(n_states)
    cdef double[::1] score                   # of entries
    cdef int64_t[::1] origin                 # the entry gone on from; -1: none
    cdef int32_t[::1] count                  # entries of each list
    # lists that are merged, what each adds, and how many of its entries are taken
    cdef int64_t[::1] source
    cdef double[::1] added
    cdef int32_t[::1] taken

    # The best segmentations by falling score, as many as exist up to k; returns their number.
    # code (k, n_tokens) and scores (k,) are written to. O(n_tokens n_states k (n_states +
    # max_length)).
    cdef Py_ssize_t decode(
        self, const SegmentPotentials* p, int32_t* code, double* scores
    ) noexcept nogil
    cdef void merge(self, Py_ssize_t into, Py_ssize_t n_sources) noexcept nogil
    cdef void trace(self, int64_t entry, int32_t* code) noexcept nogil
