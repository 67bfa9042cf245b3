"""Sparse directions in the statistics space of a block (see the .pxd for the contract)."""

import numpy as np


cdef class Direction:
    """Sparse vector with dense storage, reused from block to block.

    Parameters
    ----------
    size : int
        Largest number of statistics of a block, not negative.
    """

    def __cinit__(self, Py_ssize_t size):
        self.value = np.zeros(max(size, 1))
        self.seen = np.zeros(max(size, 1), dtype=np.uint8)
        self.index = np.zeros(size + 1, dtype=np.int32)  # one to spare for add()
        self.n = 0

    cdef void add(
        self, const int32_t* index, const double* value, Py_ssize_t count, double scale
    ) noexcept nogil:
        cdef Py_ssize_t e
        cdef int32_t j
        for e in range(count):
            j = index[e]
            # written in any case, counted if new: a branch could not be predicted
            self.index[self.n] = j
            self.n += self.seen[j] == 0
            self.seen[j] = 1
            self.value[j] += scale * value[e]

    cdef void clear(self) noexcept nogil:
        cdef Py_ssize_t e
        for e in range(self.n):
            self.value[self.index[e]] = 0.0
            self.seen[self.index[e]] = 0
        self.n = 0
