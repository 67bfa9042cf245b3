from libc.stdint cimport int32_t, uint64_t

from sskit.solvers.dual_decomposition.label_pairs.pair_weights cimport PairTable


cdef class PairSearch:
    """Factorwise maximisation oracle of pairs of labels that are both off.

    The gain of an edge (k, l) whose messages are zero, with its ends following, is

        w_kl + reduced_cost[k] + reduced_cost[l]

    where reduced_cost <= 0 is what a label gains by itself, -inf if it is none to ask for. Asked
    for are edges of positive weight; those that are linked are shown with weight zero.
    """

    cdef readonly PairTable table
    cdef readonly uint64_t n_looks       # edges whose gains were compared so far
    cdef Py_ssize_t first                # what was found
    cdef Py_ssize_t second
    cdef double gain

    # Find the edge with the largest gain above `least`; returns whether there is one
    cdef bint find(self, const double* reduced_cost, double least) noexcept nogil
    # Compare the edges of label k
    cdef void scan(self, Py_ssize_t k, const double* reduced_cost) noexcept nogil
    # reduced_cost = -inf where a label stays off even if all the others that may come attract it
    # together; returns how many are left. sum (n_labels,) is scratch memory.
    cdef Py_ssize_t screen(self, double* reduced_cost, double* sum) noexcept nogil


cdef class BoundedSearch(PairSearch):
    """Passes over the labels whose largest weight cannot suffice."""
