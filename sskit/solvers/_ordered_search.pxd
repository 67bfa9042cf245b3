from libc.stdint cimport int32_t
from libcpp.pair cimport pair as couple
from libcpp.set cimport set as ordered_set
from libcpp.vector cimport vector

from sskit.solvers._factor_search cimport EdgeSearch

# pairs by falling weight: (-weight, pair), those of weight zero left out
ctypedef ordered_set[couple[double, int32_t]] Order


cdef class OrderedSearch(EdgeSearch):
    """Oracle of edges in time sublinear in their pairs, where all share one table of weights.

    Invariant: outside of leave() .. enter(), `whole`, `rows` and `columns` hold exactly the pairs
    whose weight is not zero, by their present weights.
    """

    cdef Order whole
    cdef vector[Order] rows          # by first label
    cdef vector[Order] columns       # by second label
    cdef vector[int32_t] moving      # between leave() and enter()
    cdef double most                 # the largest gain found so far, and its pair
    cdef int32_t found

    cdef double weight(self, int32_t pair) noexcept nogil
    cdef int insert(self, int32_t pair) except -1 nogil
    cdef void offer(self, double gain, int32_t pair) noexcept nogil
    # Offer the first pair of an order whose labels have no messages, the labels a and b (-1 for
    # none) aside, which add `base` to its gain
    cdef void walk(self, const Order* order, double base, int32_t a, int32_t b) noexcept nogil
    # Such a pair that is not held, or -1
    cdef int32_t unheld(self, int32_t a, int32_t b) noexcept nogil
    cdef bint offer_unheld(self, double base, int32_t a, int32_t b) noexcept nogil
