from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.sampler cimport SumTree
from sskit.parallel.buffer cimport Buffer
from sskit.solvers.dual_decomposition.factors.oracle cimport EdgeSearch

cdef extern from "partners.hpp" namespace "sskit" nogil:
    struct Partner:
        double weight
        int32_t label
    # the partners of a label with which it makes a pair of positive weight
    cdef cppclass Order:
        Buffer[Partner] partners
        bint stale
        double top()
        bint hold(int32_t label)
        void sort(const double* weights, Py_ssize_t stride)


# A pair whose weight is about to change
cdef struct Move:
    int32_t pair
    double before


cdef class OrderedSearch(EdgeSearch):
    """Oracle of edges in time sublinear in their pairs, where all share one table of weights.

    Invariant: outside of leave(), or note(), and enter(), `rows` and `columns` hold all pairs of
    positive weight; those that are not stale hold no others, by their present weights. No pair
    (a, b) has more than `tops` has for a and `column_tops` has for b, which are the first weight of
    the row and of the column, or 0, where these are not stale.
    """

    cdef vector[Order] rows          # by first label
    cdef vector[Order] columns       # by second label
    cdef SumTree tops                # (n_states,) by first label
    cdef double[::1] column_tops     # (n_states,) by second label
    cdef Buffer[Move] moving         # until enter()
    cdef double most                 # the largest gain found so far, and its pair
    cdef int32_t found

    cdef double weight(self, int32_t pair) noexcept nogil
    # Let a row, a column, be in order
    cdef void sort_row(self, int32_t a) noexcept nogil
    cdef void sort_column(self, int32_t b) noexcept nogil
    cdef void offer(self, double gain, int32_t pair) noexcept nogil
    # Offer the first pair of a row, or of a column, whose other label has no message; `base` is
    # what it gains besides its weight
    cdef void walk_row(self, int32_t a, double base) noexcept nogil
    cdef void walk_column(self, int32_t b, double base) noexcept nogil
    # Offer the first pair of all whose labels have no messages
    cdef void walk_table(self) noexcept nogil
    # Offer the best pair that is not held and has no messages but those of its labels a and b; -1
    # stands for any label without a message
    cdef void offer_unheld(self, double base, int32_t a, int32_t b) noexcept nogil
