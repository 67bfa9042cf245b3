"""Steps of some rows by their own small kernel matrix (see the .pxd)."""

import numpy as np

from libc.stddef cimport size_t

from sskit.core.checks cimport check_equal, check_indices
from sskit.models.kernel.rows cimport KernelRows
from sskit.models.row_kernels cimport add_scaled_singles

# Columns that are brought up to date at a time: so many numbers of all rows stay in the cache of
# the processor while one function after the other takes its share of them.
cdef Py_ssize_t TILE = 256


cdef class WorkingRows:
    """Rows that work among themselves.

    Parameters
    ----------
    rows : KernelRows
        The kernel matrix of all rows.
    n_states : int
        Number of functions.
    """

    def __cinit__(self, KernelRows rows not None, Py_ssize_t n_states):
        self.rows, self.n_states = rows, n_states
        self.v = NULL
        self.place_of = np.full(rows.n_rows, -1, dtype=np.int32)
        self.gram = np.empty((0, 0), dtype=np.float32)
        self.column, self.known = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.uint8)
        self.value, self.change = np.zeros((n_states, 1)), np.zeros((n_states, 1))

    def begin(self, columns, values, size_t v):
        """Begin.

        Parameters
        ----------
        columns : ndarray of shape (n,)
            Numbers of the rows, all different, no more than there are slots.
        values : ndarray of shape (n_states, n_rows)
            Of the functions; copied.
        v : int
            Address of the weights whose functions these are.
        """
        cdef double[:, ::1] value, change
        cdef float[:, ::1] gram = self.gram
        cdef int32_t[::1] column
        cdef unsigned char[::1] known
        check_indices(columns, self.rows.n_rows, "row")
        self.check_shape(values)
        n = len(columns)
        column = np.append(columns, 0).astype(np.int32)
        known = np.zeros(n + 1, dtype=np.uint8)
        if self.rows.direct:
            gram = self.rows.among(np.asarray(column)[:n])
            known[:] = 1
        elif len(gram) < n:
            gram = np.empty((n, n), dtype=np.float32)
        change = np.zeros((self.n_states, n + 1))
        value = np.ascontiguousarray(values[:, column])
        # from here on nothing fails, so that all of them belong together
        place_of = np.asarray(self.place_of)
        place_of[np.asarray(self.column)[: self.n]] = -1
        place_of[np.asarray(column)[:n]] = np.arange(n)
        self.n, self.column, self.known = n, column, known
        self.gram, self.value, self.change = gram, value, change
        self.v = <double*>v

    def end(self, values):
        """End; values, shape (n_states, n_rows), follow at all rows unless they are None."""
        cdef double[:, ::1] target
        cdef Py_ssize_t first, size = self.rows.n_together
        columns, change = np.asarray(self.column)[: self.n], np.asarray(self.change)[:, : self.n]
        self.v = NULL
        np.asarray(self.place_of)[columns] = -1
        if values is None:
            return
        self.check_shape(values)
        target = values
        moved = np.flatnonzero(change.any(axis=0))
        for first in range(0, len(moved), size):
            some = moved[first : first + size]
            functions, places = np.nonzero(change[:, some])
            # a spare one, for there may be none
            factor = np.append(change[functions, some[places]], 0.0)
            begin = np.searchsorted(functions, np.arange(self.n_states + 1))
            for start, table, slots in self.rows.stripes(columns[some]):
                slots = np.append(slots[places], slots[:1])
                self.spread(start, table, slots, factor, begin, target)

    cdef int check_shape(self, values) except -1:
        n_states, n_rows = values.shape
        check_equal(n_states, self.n_states, "the number of functions")
        return check_equal(n_rows, self.rows.n_rows, "the number of values")

    # add rows of a table of kernels from column `start` on: factor[e] times row slot[e] to function
    # k for begin[k] <= e < begin[k + 1]
    cdef int spread(
        self, start, table, const int32_t[::1] slot, const double[::1] factor,
        const Py_ssize_t[::1] begin, double[:, ::1] target
    ) except -1:
        cdef Py_ssize_t k, e, n, place = start, length = table.shape[1], size, first = 0
        cdef Py_ssize_t width = table.itemsize
        cdef size_t address = table.ctypes.data
        cdef const char* kernels = <const char*>address
        size = min(length, self.rows.n_rows - place)
        with nogil:
            while first < size:
                n = min(TILE, size - first)
                for k in range(self.n_states):
                    e = begin[k]
                    self.rows.add_all(
                        kernels + first * width, length, &slot[e], &factor[e], begin[k + 1] - e,
                        n, &target[k, place + first]
                    )
                first += n
        return 0

    cdef void add(self, Py_ssize_t place, Py_ssize_t k, double factor) noexcept nogil:
        add_scaled_singles(&self.gram[place, 0], self.n, factor, &self.value[k, 0])
        self.change[k, place] += factor

    cdef void learn(self, Py_ssize_t t) noexcept nogil:
        cdef Py_ssize_t place = self.place_of[t]
        self.rows.gather(t, &self.column[0], self.n, &self.gram[place, 0])
        self.known[place] = 1
