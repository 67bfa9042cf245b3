"""Links of a block as a string of bytes (see the .pxd).

A link begins with a byte of flags: which of its numbers are not zero and whether its multipliers
are equal, as those of an edge whose ends share what is left of one; the other bits, and as many
more bytes as are needed, count the edges that are passed over since the last link. Then come the
numbers that the flags name, in single precision. Of 16 bytes that leaves eight or nine.
"""

from libc.stdint cimport int32_t, uint32_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

# Numbers below it are rounding.
cdef double NOISE = 1e-9
# What the bits of the first byte say; the last three begin the count of edges
cdef enum:
    BOTH = 1
    FIRST = 2
    SECOND = 4
    EQUAL = 8
    MORE = 128


cdef extern from "link_order.hpp" namespace "sskit" nogil:
    void sort_by_edge[T](T* begin, T* end)


cdef double kept(double value) noexcept nogil:
    return <float>value if abs(value) > NOISE else 0.0


cdef void sort_links(vector[Link]* links) noexcept nogil:
    sort_by_edge(links.data(), links.data() + links.size())


cdef unsigned char* put(unsigned char* to, double value) noexcept nogil:
    cdef float number = <float>value
    memcpy(to, &number, sizeof(float))
    return to + sizeof(float)


cdef const unsigned char* get(const unsigned char* text, double* value) noexcept nogil:
    cdef float number
    memcpy(&number, text, sizeof(float))
    value[0] = number
    return text + sizeof(float)


cdef int write_links(const vector[Link]* links, vector[unsigned char]* text) except -1 nogil:
    cdef const Link* link
    cdef unsigned char* to
    cdef unsigned char flags
    cdef int32_t last = -1
    cdef uint32_t skipped
    cdef size_t m
    # a byte of flags, five more of the edge, three numbers
    text.resize(links.size() * (6 + 3 * sizeof(float)))
    to = text.data()
    for m in range(links.size()):
        link = links.data() + m
        skipped = <uint32_t>(link.edge - last - 1)
        last = link.edge
        flags = (link.q.both != 0.0) * BOTH + (link.mu_first != 0.0) * FIRST
        if link.mu_second != 0.0:
            flags += EQUAL if link.mu_second == link.mu_first else SECOND
        flags += (skipped & 7) << 4
        skipped >>= 3
        to[0] = flags + MORE * (skipped > 0)
        to += 1
        while skipped > 0:
            to[0] = (skipped & 127) + MORE * (skipped > 127)
            skipped >>= 7
            to += 1
        if flags & BOTH:
            to = put(to, link.q.both)
        if flags & FIRST:
            to = put(to, link.mu_first)
        if flags & SECOND:
            to = put(to, link.mu_second)
    text.resize(to - text.data())
    return 0


cdef int read_links(const vector[unsigned char]* text, vector[Link]* links) except -1 nogil:
    cdef const unsigned char* at = text.data()
    cdef Link* link
    cdef unsigned char flags, more
    cdef int32_t edge = -1
    cdef uint32_t skipped
    cdef int shift
    cdef size_t m
    for m in range(links.size()):
        link = links.data() + m
        flags = more = at[0]
        at += 1
        skipped = (flags >> 4) & 7
        shift = 3
        while more & MORE:
            more = at[0]
            at += 1
            skipped += <uint32_t>(more & 127) << shift
            shift += 7
        edge += skipped + 1
        link.edge = edge
        link.q.both = link.mu_first = link.mu_second = 0.0
        if flags & BOTH:
            at = get(at, &link.q.both)
        if flags & FIRST:
            at = get(at, &link.mu_first)
        if flags & SECOND:
            at = get(at, &link.mu_second)
        elif flags & EQUAL:
            link.mu_second = link.mu_first
    return 0
