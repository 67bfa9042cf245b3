from libc.stdint cimport int32_t


cdef class Direction:
    """A vector in the statistics space of one block, dense for reading, sparse for clearing.

    Invariants: ``value[j] == 0`` and ``seen[j] == 0`` for every j outside ``index[:n]``;
    the entries of ``index[:n]`` are distinct, in the order in which they first appeared.
    """

    cdef double[::1] value          # (size,) padded; zero outside index[:n]
    cdef unsigned char[::1] seen    # (size,) 1 for the entries of index[:n]
    cdef int32_t[::1] index         # (size,)
    cdef Py_ssize_t n

    # value += scale * (sparse vector of `count` entries; an index may occur more than once)
    cdef void add(
        self, const int32_t* index, const double* value, Py_ssize_t count, double scale
    ) noexcept nogil
    cdef void clear(self) noexcept nogil
