from libc.stdint cimport int32_t, int64_t

from sskit.core.decomposition cimport LabelFactors


cdef class PairTable:
    """The weights of all edges once more, by label: what searches over pairs read.

    The entries offsets[k] .. offsets[k + 1] - 1 are the edges of label k: to which label, which
    edge, and its weight. There is one table for all blocks.

    Invariant: `weight` is that of w, if every move of a weight was told by push() or renew();
    most[k] is at least the largest weight of the edges of k, and at least 0.
    """

    cdef readonly Py_ssize_t n_labels
    cdef int64_t[::1] offsets            # (n_labels + 1,)
    cdef int32_t[::1] label              # (2 n_edges + 1,)
    cdef int32_t[::1] edge               # likewise
    cdef double[::1] weight              # likewise
    cdef int64_t[:, ::1] place           # (n_edges + 1, 2) where the edge stands
    cdef const int32_t[:, ::1] ends
    cdef double[::1] most                # (n_labels,)

    cdef void push(self, Py_ssize_t e, double weight) noexcept nogil
