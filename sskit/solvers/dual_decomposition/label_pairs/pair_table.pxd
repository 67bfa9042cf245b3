from libc.stdint cimport int32_t, int64_t, uint64_t


cdef class PairTable:
    """The weights of all edges once more, by label, and the factorwise maximisation oracle of pairs
    of labels that are both off.

    The entries offsets[k] .. offsets[k + 1] - 1 are the edges of label k: to which label, which
    edge, and its weight. There is one table for all blocks.

    The gain of an edge (k, l) whose messages are zero, with its ends following, is

        w_kl + reduced_cost[k] + reduced_cost[l]

    where reduced_cost <= 0 is what a label gains by itself, -inf if it is none to ask for. Asked
    for are edges of positive weight; those that are linked are shown with weight zero.

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
    cdef readonly uint64_t n_looks       # edges whose gains were compared so far
    cdef Py_ssize_t first                # what was found
    cdef Py_ssize_t second
    cdef double gain

    cdef void push(self, Py_ssize_t e, double weight) noexcept nogil
    # Find the edge with the largest gain above `least`; returns whether there is one
    cdef bint find(self, const double* reduced_cost, double least) noexcept nogil
    # Compare the edges of label k
    cdef void scan(self, Py_ssize_t k, const double* reduced_cost) noexcept nogil
    # reduced_cost = -inf where a label stays off even if all the others that may come attract it
    # together; returns how many are left. sum (n_labels,) is scratch memory.
    cdef Py_ssize_t screen(self, double* reduced_cost, double* sum) noexcept nogil
