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

# Links are written by rising edges as (edge, q(1, 1), multipliers), numbers as kept() has them
cdef int write_links(const vector[Link]* links, vector[unsigned char]* text) except -1 nogil
# Read the first links.size() of them; labels and ends of links are left as they are
cdef int read_links(const vector[unsigned char]* text, vector[Link]* links) except -1 nogil
# Bring links in the order of their edges
cdef void sort_links(vector[Link]* links) noexcept nogil
