"""Planes that a problem holds for others, by handle (see the .pxd)."""

from threading import Lock

import numpy as np

from libc.stdlib cimport calloc, free, malloc
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from sskit.core.checks cimport check_equal, check_indices


cdef class HandleStore(PlaneStore):
    """No planes to begin with but the truth of each block, which has the handle 0.

    Parameters
    ----------
    truth_keys : list of hashable
        Keys of the true labellings.
    n_weights : int
        Length of psi.
    """

    def __cinit__(self, list truth_keys, Py_ssize_t n_weights):
        self.n_weights = n_weights
        self.spare = []
        self.known = [{key: TRUTH} for key in truth_keys]
        self.key_of = {}
        self.lock = Lock()
        self.reserve(0)
        self.n_slots = 1      # not before it is there: __dealloc__ goes through them

    def __dealloc__(self):
        cdef int32_t handle
        cdef Py_ssize_t c
        for handle in range(self.n_slots):
            free(self.at(handle).index)
            free(self.at(handle).value)
        for c in range(N_CHUNKS):
            free(self.chunks[c])

    @property
    def n_planes(self):
        """Number of planes that somebody holds, those of the truth not counted."""
        return len(self.key_of)

    # make sure that the slot of a handle exists
    cdef int reserve(self, int32_t handle) except -1:
        cdef Py_ssize_t c = chunk_of(handle)
        if self.chunks[c] == NULL:
            self.chunks[c] = <Plane*>calloc(<size_t>64 << c, sizeof(Plane))
            if self.chunks[c] == NULL:
                raise MemoryError(f"no memory for {handle} planes")
        return 0

    cdef Plane* at(self, int32_t handle) noexcept nogil:
        cdef Py_ssize_t c = chunk_of(handle)
        return &self.chunks[c][handle + 64 - (<Py_ssize_t>64 << c)]

    cdef bint has(self, Py_ssize_t i, int32_t handle) noexcept nogil:
        return TRUTH < handle < self.n_slots and self.at(handle).block == i

    cdef int32_t find(self, Py_ssize_t i, object key) except? -1:
        cdef int32_t handle = UNKNOWN
        with self.lock:
            handle = self.known[i].get(key, UNKNOWN)
            if handle > TRUTH:
                self.at(handle).n_pending += 1
        return handle

    cdef int32_t add(
        self, Py_ssize_t i, object key, const int32_t[::1] index, const double[::1] value,
        double loss
    ) except? -1:
        cdef int32_t handle = UNKNOWN
        cdef Py_ssize_t n = index.shape[0]
        cdef Plane* plane
        with self.lock:
            if key in self.known[i]:  # another thread was faster
                handle = self.known[i][key]
                if handle > TRUTH:
                    self.at(handle).n_pending += 1
                return handle
            if self.spare:
                handle = self.spare.pop()
            else:
                self.reserve(self.n_slots)
                handle = self.n_slots
                self.n_slots += 1
            plane = self.at(handle)
            plane.index = <int32_t*>malloc(max(n, 1) * sizeof(int32_t))
            plane.value = <double*>malloc(max(n, 1) * sizeof(double))
            if plane.index == NULL or plane.value == NULL:
                free(plane.index)
                free(plane.value)
                plane.index = NULL
                plane.value = NULL
                self.spare.append(handle)
                raise MemoryError(f"no memory for a plane of {n} entries")
            if n:
                memcpy(plane.index, &index[0], n * sizeof(int32_t))
                memcpy(plane.value, &value[0], n * sizeof(double))
            plane.loss = loss
            plane.block = i
            plane.n_pending = 1
            plane.n_kept = 0
            plane.n = n
            self.n_bytes += n * (sizeof(int32_t) + sizeof(double))
            self.known[i][key] = handle
            self.key_of[handle] = key
        return handle

    cdef int keep(self, Py_ssize_t i, const int32_t* code) except -1 nogil:
        if code[0] != TRUTH:
            with gil:
                self.keep_handle(code[0])
        return 0

    cdef void forget(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        if code[0] != TRUTH:
            with gil:
                self.forget_handle(code[0])

    cdef Py_ssize_t plane_bytes(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return self.at(code[0]).n * (sizeof(int32_t) + sizeof(double)) + sizeof(Plane)

    cdef int keep_handle(self, int32_t handle) except -1:
        cdef Plane* plane
        with self.lock:
            if handle not in self.key_of:
                raise RuntimeError(f"plane {handle} cannot be kept, it is no longer known")
            plane = self.at(handle)
            if plane.n_kept == 0:
                plane.rank = self.n_keeps
                self.n_keeps += 1
            plane.n_kept += 1
        return 0

    cdef int forget_handle(self, int32_t handle) except -1:
        with self.lock:
            if handle in self.key_of and self.at(handle).n_kept > 0:
                self.at(handle).n_kept -= 1
                self.free_unheld(handle)
        return 0

    cdef int hold(self, int32_t handle) except -1:
        if handle == TRUTH:
            return 0
        with self.lock:
            self.at(handle).n_pending += 1
        return 0

    cdef int release(self, int32_t handle) except -1:
        if handle == TRUTH:
            return 0
        with self.lock:
            self.at(handle).n_pending -= 1
            self.free_unheld(handle)
        return 0

    cdef list kept(self, Py_ssize_t i):
        cdef int32_t handle
        with self.lock:
            ranked = [
                (self.at(handle).rank, handle)
                for handle in self.known[i].values() if self.at(handle).n_kept > 0
            ]
        return [handle for _, handle in sorted(ranked)]

    def export_planes(self, const int32_t[::1] handles):
        """Return what planes are, by their labellings, with psi and loss, without their handles.

        Parameters
        ----------
        handles : ndarray of shape (n,), int32
            Of planes that are kept, or of the truth.

        Returns
        -------
        planes : dict
            Keys (None for the truth), losses, numbers of entries of psi, and the entries.
        """
        cdef Py_ssize_t p, first = 0
        cdef const Plane* plane
        check_indices(handles, self.n_slots, "plane")
        n_entries = np.array([self.at(handle).n for handle in handles], dtype=np.int64)
        index, value = np.empty(n_entries.sum(), dtype=np.int32), np.empty(n_entries.sum())
        cdef int32_t[::1] indices = index
        cdef double[::1] values = value
        for p in range(handles.shape[0]):
            plane = self.at(handles[p])
            if plane.n:
                memcpy(&indices[first], plane.index, plane.n * sizeof(int32_t))
                memcpy(&values[first], plane.value, plane.n * sizeof(double))
                first += plane.n
        with self.lock:
            keys = [self.key_of.get(handle) for handle in handles]
        return {
            "key": keys,
            "loss": np.array([self.at(handle).loss for handle in handles]),
            "n_entries": n_entries,
            "index": index,
            "value": value,
        }

    def import_planes(self, const int64_t[::1] blocks, planes):
        """Store planes that `export_planes` returned, of this or another store, and keep each.

        Parameters
        ----------
        blocks : ndarray of shape (n,), int64
            Their blocks.
        planes : dict
            From `export_planes`.

        Returns
        -------
        handles : ndarray of shape (n,), int32
            Of the planes here.
        """
        cdef Py_ssize_t p
        cdef int32_t handle
        check_indices(blocks, len(self.known), "block")
        for name in ("key", "n_entries", "loss"):
            check_equal(len(planes[name]), len(blocks), f"the length of {name}")
        check_indices(planes["index"], self.n_weights, "feature")
        if np.min(planes["n_entries"], initial=0) < 0:
            raise ValueError("numbers of entries must not be negative")
        for name in ("index", "value"):
            check_equal(len(planes[name]), np.sum(planes["n_entries"]), f"the length of {name}")
        handles = np.empty(len(blocks), dtype=np.int32)
        stops = np.cumsum(planes["n_entries"])
        for p, (key, stop) in enumerate(zip(planes["key"], stops)):
            handle = TRUTH
            if key is not None:
                start = stop - planes["n_entries"][p]
                handle = self.add(
                    blocks[p], key, planes["index"][start:stop], planes["value"][start:stop],
                    planes["loss"][p]
                )
                self.keep_handle(handle)
                self.release(handle)
            handles[p] = handle
        return handles

    cdef int free_unheld(self, int32_t handle) except -1:
        cdef Plane* plane = self.at(handle)
        if plane.n_pending or plane.n_kept:
            return 0
        self.n_bytes -= plane.n * (sizeof(int32_t) + sizeof(double))
        plane.n = 0
        free(plane.index)
        free(plane.value)
        plane.index = NULL
        plane.value = NULL
        del self.known[plane.block][self.key_of.pop(handle)]
        self.spare.append(handle)
        return 0


cdef Py_ssize_t chunk_of(int32_t handle) noexcept nogil:
    cdef Py_ssize_t c = 0
    while (handle + <Py_ssize_t>64) >> (c + 7):
        c += 1
    return c
