from libc.stdint cimport int32_t
from libcpp.vector cimport vector


cdef class BytePages:
    """Strings of bytes of changing lengths, one for each block, on pages of one size.

    Strings grow and shrink all the time. Memory of just their lengths would leave gaps between
    them, and arrays that double as they grow would be half empty; here at most a page of each is
    not full, and pages that one string gives up serve the others. Memory is asked for in slabs
    that never move.
    """

    cdef readonly Py_ssize_t n_blocks
    cdef readonly Py_ssize_t n_pages         # handed out so far
    cdef Py_ssize_t n_slabs
    cdef unsigned char** slab                # (n_slabs,)
    cdef int32_t spare                       # the first page that is not in use, -1 for none
    cdef int32_t* first                      # (n_blocks,) the first page of a block, or -1

    cdef unsigned char* page(self, Py_ssize_t p) noexcept nogil
    # one that is not in use
    cdef int32_t take(self) except -1 nogil
    # keep the bytes for a block, in place of those it had
    cdef int put(self, Py_ssize_t i, const vector[unsigned char]* text) except -1 nogil
    # the bytes of a block, and some of the last page that are behind them
    cdef int get(self, Py_ssize_t i, vector[unsigned char]* text) except -1 nogil
    cdef Py_ssize_t n_bytes(self) noexcept nogil
