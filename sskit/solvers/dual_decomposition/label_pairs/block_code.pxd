from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.solvers.dual_decomposition.label_pairs.pair_step cimport Marginals


# An edge of a block whose mix is kept, with what it says to its ends
cdef struct Link:
    int32_t edge
    int32_t first            # its labels
    int32_t second
    Marginals q              # of the edge
    double mu_first          # multipliers
    double mu_second


# A number as it is kept: rounded to single precision, and to zero
cdef double kept(double value) noexcept nogil
# A share as it is kept: no larger than it was, so that sums stay below their limits
cdef double kept_share(double value) noexcept nogil

# Write the labels that are released or have not their true state, and the links, which come by
# rising edges with q(1, 1) and multipliers. Numbers are as kept() and kept_share() have them.
cdef int write_block(
    Py_ssize_t n_labels, const unsigned char* truth, const double* y, const unsigned char* level,
    const vector[Link]* links, vector[unsigned char]* text
) except -1 nogil
# Read them, links.size() of the links; labels and ends of links are left as they are
cdef int read_block(
    const vector[unsigned char]* text, Py_ssize_t n_labels, const unsigned char* truth,
    double* y, unsigned char* level, vector[Link]* links
) except -1 nogil
# Bring links in the order of their edges
cdef void sort_links(vector[Link]* links) noexcept nogil
