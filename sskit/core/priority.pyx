"""A sum tree, which is a maximum tree too (see the .pxd)."""

import numpy as np

from sskit.core.checks cimport check_equal


cdef class SumTree:
    """Values from which one is drawn in proportion.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Non-negative.
    """

    def __cinit__(self, values):
        self.n_values = len(values)
        self.n_leaves = 1
        while self.n_leaves < self.n_values:
            self.n_leaves *= 2
        self.total = np.zeros(2 * self.n_leaves)
        self.largest = np.zeros(2 * self.n_leaves)
        self.fill(values)

    def fill(self, const double[::1] values):
        """Replace all values, of shape (n_values,); O(n)."""
        cdef Py_ssize_t j
        check_equal(values.shape[0], self.n_values, "the number of values")
        for j in range(self.n_values):
            self.total[self.n_leaves + j] = values[j]
            self.largest[self.n_leaves + j] = values[j]
        for j in range(self.n_leaves - 1, 0, -1):
            self.total[j] = self.total[2 * j] + self.total[2 * j + 1]
            self.largest[j] = max(self.largest[2 * j], self.largest[2 * j + 1])

    cdef void set(self, Py_ssize_t i, double value) noexcept nogil:
        cdef Py_ssize_t j = self.n_leaves + i
        self.total[j] = value
        self.largest[j] = value
        j //= 2
        while j > 0:
            # from the children, not by differences, so that nothing drifts
            self.total[j] = self.total[2 * j] + self.total[2 * j + 1]
            self.largest[j] = max(self.largest[2 * j], self.largest[2 * j + 1])
            j //= 2

    cdef Py_ssize_t draw(self, double share) noexcept nogil:
        cdef double rest = share * self.total[1]
        cdef Py_ssize_t j = 1
        while j < self.n_leaves:
            j *= 2
            # rounding must not lead into a branch without weight
            if rest >= self.total[j] and self.total[j + 1] > 0.0:
                rest -= self.total[j]
                j += 1
        return j - self.n_leaves

    cdef Py_ssize_t top(self) noexcept nogil:
        cdef Py_ssize_t j = 1
        while j < self.n_leaves:
            j *= 2
            if self.largest[j] < self.largest[j + 1]:
                j += 1
        return j - self.n_leaves
