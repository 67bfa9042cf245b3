"""Memory for what blocks hold, in pages (see the .pxd)."""

from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from libcpp.vector cimport vector

from sskit.core.checks cimport check_least
from sskit.core.memory cimport grown

# Bytes of a page, of which the first ones say which page is next, and pages of a slab
cdef enum:
    PAGE = 512
    HEAD = 4
    PAGES = 2048


cdef class BytePages:
    """Strings of bytes, all empty to begin with.

    Parameters
    ----------
    n_blocks : int
        Number of strings.
    """

    def __cinit__(self, Py_ssize_t n_blocks):
        cdef Py_ssize_t i
        check_least(n_blocks, 0, "the number of strings")
        self.n_blocks, self.spare = n_blocks, -1
        self.first = <int32_t*>malloc(max(n_blocks, 1) * sizeof(int32_t))
        if self.first == NULL:
            raise MemoryError(f"no memory for the edges of {n_blocks} blocks")
        for i in range(n_blocks):
            self.first[i] = -1

    def __dealloc__(self):
        cdef Py_ssize_t k
        for k in range(self.n_slabs):
            free(self.slab[k])
        free(self.slab)
        free(self.first)

    cdef unsigned char* page(self, Py_ssize_t p) noexcept nogil:
        return self.slab[p // PAGES] + p % PAGES * PAGE

    cdef int32_t take(self) except -1 nogil:
        cdef int32_t p = self.spare
        if p >= 0:
            memcpy(&self.spare, self.page(p), HEAD)
            return p
        if self.n_pages == self.n_slabs * PAGES:
            self.slab = <unsigned char**>grown(
                self.slab, (self.n_slabs + 1) * sizeof(unsigned char*)
            )
            self.slab[self.n_slabs] = <unsigned char*>grown(NULL, PAGES * PAGE)
            self.n_slabs += 1
        self.n_pages += 1
        return <int32_t>(self.n_pages - 1)

    cdef int put(self, Py_ssize_t i, const vector[unsigned char]* text) except -1 nogil:
        cdef size_t done = 0, count
        cdef int32_t p, rest
        # where the next page's number goes
        cdef unsigned char* link = <unsigned char*>&self.first[i]
        while done < text.size():
            memcpy(&p, link, HEAD)
            if p < 0:
                p = self.take()
                memcpy(link, &p, HEAD)
                link = self.page(p)
                rest = -1
                memcpy(link, &rest, HEAD)
            else:
                link = self.page(p)
            count = min(<size_t>(PAGE - HEAD), text.size() - done)
            memcpy(link + HEAD, text.data() + done, count)
            done += count
        # the pages that are left over
        memcpy(&rest, link, HEAD)
        p = -1
        memcpy(link, &p, HEAD)
        while rest >= 0:
            p = rest
            memcpy(&rest, self.page(p), HEAD)
            memcpy(self.page(p), &self.spare, HEAD)
            self.spare = p
        return 0

    cdef int get(self, Py_ssize_t i, vector[unsigned char]* text) except -1 nogil:
        cdef size_t done = 0
        cdef int32_t p = self.first[i]
        text.clear()
        while p >= 0:
            text.resize(done + PAGE - HEAD)
            memcpy(text.data() + done, self.page(p) + HEAD, PAGE - HEAD)
            done += PAGE - HEAD
            memcpy(&p, self.page(p), HEAD)
        return 0

    cdef Py_ssize_t n_bytes(self) noexcept nogil:
        return self.n_pages * PAGE
