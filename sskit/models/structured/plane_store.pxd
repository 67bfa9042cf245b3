from libc.stdint cimport int32_t, int64_t

from sskit.core.capabilities cimport PlaneStore

cdef enum:
    TRUTH = 0        # handle of the truth of every block
    UNKNOWN = -1
    N_CHUNKS = 25    # chunk c has 64 * 2^c slots; int32 handles reach no further


cdef struct Plane:
    int32_t* index       # psi, sparse; indices are distinct
    double* value
    Py_ssize_t n
    double loss
    Py_ssize_t block
    Py_ssize_t n_pending     # pending places that hold the plane
    Py_ssize_t n_kept        # times that it was kept and not forgotten
    int64_t rank             # in the order in which planes were first kept


cdef class HandleStore(PlaneStore):
    """Planes of all blocks, by handle; each stays until nobody holds it.

    Slots never move in memory, so a plane that somebody holds can be read without the GIL while
    others come and go. Methods that change the store are called with the GIL and take its lock.

    Invariants: known[i] maps the keys of the truth and of the held planes of block i to their
    handles, key_of maps handles of held planes to keys. A slot that nobody holds has n = 0.
    """

    cdef Plane* chunks[N_CHUNKS]
    cdef int32_t n_slots         # ever used, that of the truth included
    cdef list spare              # handles of slots that nobody holds
    cdef list known              # (n_blocks,) dict
    cdef dict key_of
    cdef object lock
    cdef int64_t n_keeps
    cdef readonly Py_ssize_t n_bytes     # of all psi
    cdef Py_ssize_t n_weights

    cdef int reserve(self, int32_t handle) except -1
    cdef Plane* at(self, int32_t handle) noexcept nogil
    # is this the handle of a plane of block i that somebody holds, or has held?
    cdef bint has(self, Py_ssize_t i, int32_t handle) noexcept nogil

    # handle of the plane with this key, held for a pending place, or UNKNOWN
    cdef int32_t find(self, Py_ssize_t i, object key) except? -1
    # store a plane, held for a pending place; one with the same key is taken instead
    cdef int32_t add(
        self, Py_ssize_t i, object key, const int32_t[::1] index, const double[::1] value,
        double loss
    ) except? -1
    cdef int keep_handle(self, int32_t handle) except -1
    cdef int forget_handle(self, int32_t handle) except -1
    # by a pending place
    cdef int hold(self, int32_t handle) except -1
    cdef int release(self, int32_t handle) except -1
    # handles of the planes of block i that are kept, in the order in which they first were
    cdef list kept(self, Py_ssize_t i)
    cdef int free_unheld(self, int32_t handle) except -1
