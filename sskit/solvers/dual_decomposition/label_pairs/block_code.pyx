"""A block of labels and links as a string of bytes (see the .pxd).

What is written are entries of a label or a link each. An entry begins with a byte of flags that say
which numbers follow; the other bits of this byte, and as many more bytes as are needed, count the
labels or edges that are passed over since the last entry. Then come the numbers, in single
precision. A link takes seven bytes where sixteen would be needed for a record of fixed size.
"""

import numpy as np

from libc.math cimport nextafterf
from libc.stdint cimport uint32_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from sskit.core.checks cimport check_equal

# Numbers below it are rounding of others of the order of one. Shares are small where lam is.
cdef double NOISE = 1e-14
# Flags of a byte; the three bits behind the first four begin the count of what is passed over
cdef enum:
    MORE = 128
    # of a label: is released; has a share between 0 and 1, or 1. No label has all four, which
    # END is: nothing but links comes after it.
    RELEASED = 1
    SHARE = 2
    ONE = 4
    END = 15
    # of a link: q(1, 1) and which multipliers are not zero, and whether they are equal, as those of
    # an edge whose ends share what is left of one
    BOTH = 1
    FIRST = 2
    SECOND = 4
    EQUAL = 8
    # bytes of an entry: flags, five more of the count, three numbers
    ENTRY = 18


cdef extern from *:
    """
    #include <algorithm>

    // Most stand in order: new ones come last.
    template <class Link>
    static inline void sort_by_edge(Link* begin, Link* end) {
        const auto before = [](const Link& a, const Link& b) { return a.edge < b.edge; };
        Link* middle = std::is_sorted_until(begin, end, before);
        std::sort(middle, end, before);
        std::inplace_merge(begin, middle, end, before);
    }
    """
    void sort_by_edge[T](T* begin, T* end) nogil


cdef double kept(double value) noexcept nogil:
    return <float>value if abs(value) > NOISE else 0.0


cdef double kept_share(double value) noexcept nogil:
    cdef float share = <float>value
    if value <= NOISE:
        return 0.0
    return nextafterf(share, 0.0) if share > value else share


cdef void sort_links(vector[Link]* links) noexcept nogil:
    sort_by_edge(links.data(), links.data() + links.size())


cdef unsigned char* put_head(
    unsigned char* to, unsigned char flags, uint32_t passed
) noexcept nogil:
    to[0] = flags + ((passed & 7) << 4) + MORE * (passed > 7)
    to += 1
    passed >>= 3
    while passed > 0:
        to[0] = (passed & 127) + MORE * (passed > 127)
        passed >>= 7
        to += 1
    return to


cdef const unsigned char* get_head(
    const unsigned char* at, unsigned char* flags, uint32_t* passed
) noexcept nogil:
    cdef unsigned char byte = at[0]
    cdef int shift = 3
    flags[0], passed[0] = byte & 15, (byte >> 4) & 7
    while byte & MORE:
        at += 1
        byte = at[0]
        passed[0] += <uint32_t>(byte & 127) << shift
        shift += 7
    return at + 1


cdef unsigned char* put(unsigned char* to, double value) noexcept nogil:
    cdef float number = <float>value
    memcpy(to, &number, sizeof(float))
    return to + sizeof(float)


cdef const unsigned char* get(const unsigned char* at, double* value) noexcept nogil:
    cdef float number
    memcpy(&number, at, sizeof(float))
    value[0] = number
    return at + sizeof(float)


cdef int write_block(
    Py_ssize_t n_labels, const unsigned char* truth, const double* y, const unsigned char* level,
    const vector[Link]* links, vector[unsigned char]* text
) except -1 nogil:
    cdef const Link* link
    cdef unsigned char* to
    cdef unsigned char flags
    cdef Py_ssize_t j, last = -1
    cdef size_t m
    text.resize((n_labels + 1 + links.size()) * ENTRY)
    to = text.data()
    for j in range(n_labels):
        if level[j] == 0 and y[j] == truth[j]:
            continue
        flags = RELEASED * (level[j] > 0) + ONE * (y[j] == 1.0) + SHARE * (0.0 < y[j] < 1.0)
        to = put_head(to, flags, <uint32_t>(j - last - 1))
        last = j
        if flags & SHARE:
            to = put(to, y[j])
    to = put_head(to, END, 0)
    last = -1
    for m in range(links.size()):
        link = links.data() + m
        flags = BOTH * (link.q.both != 0.0) + FIRST * (link.mu_first != 0.0)
        if link.mu_second != 0.0:
            flags += EQUAL if link.mu_second == link.mu_first else SECOND
        to = put_head(to, flags, <uint32_t>(link.edge - last - 1))
        last = link.edge
        if flags & BOTH:
            to = put(to, link.q.both)
        if flags & FIRST:
            to = put(to, link.mu_first)
        if flags & SECOND:
            to = put(to, link.mu_second)
    text.resize(to - text.data())
    return 0


cdef int read_block(
    const vector[unsigned char]* text, Py_ssize_t n_labels, const unsigned char* truth,
    double* y, unsigned char* level, vector[Link]* links
) except -1 nogil:
    cdef const unsigned char* at = text.data()
    cdef Link* link
    cdef unsigned char flags = 0
    cdef uint32_t passed
    cdef Py_ssize_t j, last = -1
    cdef size_t m
    for j in range(n_labels):
        y[j], level[j] = truth[j], 0
    # nothing was ever written for a block that is as it was at first
    while text.size() > 0:
        at = get_head(at, &flags, &passed)
        if flags == END:
            break
        last += passed + 1
        level[last], y[last] = flags & RELEASED, 1.0 if flags & ONE else 0.0
        if flags & SHARE:
            at = get(at, &y[last])
    last = -1
    for m in range(links.size()):
        link = links.data() + m
        at = get_head(at, &flags, &passed)
        last += passed + 1
        link.edge = <int>last
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


def copied_block(truth, shares, level, links):
    """Write a block of labels and links, and read it again; for tests.

    Parameters
    ----------
    truth, level : ndarray of shape (n_labels,), uint8
        True states and levels, 0 or 1.
    shares : ndarray of shape (n_labels,), float64
        Shares of state 1.
    links : list of tuple
        Edge, q(1, 1) and two multipliers of each; any order of the edges.

    Returns
    -------
    shares : ndarray of shape (n_labels,), float64
        Those that were read.
    level : ndarray of shape (n_labels,), uint8
        Likewise.
    links : list of tuple
        Likewise, by rising edges.
    """
    cdef Py_ssize_t j, n = len(truth)
    cdef size_t m
    cdef vector[Link] block
    cdef vector[unsigned char] text
    check_equal(len(shares), n, "the number of shares")
    check_equal(len(level), n, "the number of levels")
    # a spare entry each: compiled code takes the address of the first
    cdef const unsigned char[::1] states = np.append(truth, 0).astype(np.uint8)
    cdef unsigned char[::1] levels = np.append(level, 0).astype(np.uint8)
    cdef double[::1] y = np.append(shares, 0.0)
    block.resize(len(links))
    for m in range(block.size()):
        block[m].edge, block[m].q.both, block[m].mu_first, block[m].mu_second = links[m]
        block[m].q.both = kept(block[m].q.both)
        block[m].mu_first, block[m].mu_second = kept(block[m].mu_first), kept(block[m].mu_second)
    for j in range(n):
        y[j] = kept_share(y[j])
    sort_links(&block)
    write_block(n, &states[0], &y[0], &levels[0], &block, &text)
    y[:], levels[:] = -1.0, 2
    block.clear()
    block.resize(len(links))
    read_block(&text, n, &states[0], &y[0], &levels[0], &block)
    found = []
    for m in range(block.size()):
        found.append((block[m].edge, block[m].q.both, block[m].mu_first, block[m].mu_second))
    return np.array(y)[:n], np.array(levels)[:n], found
