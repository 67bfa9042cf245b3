"""Functions of a kernel space within a weight vector (see the .pxd)."""

import numpy as np

cdef extern from "kernels.hpp" namespace "sskit":
    void add_scaled(
        const double* row, Py_ssize_t n, double factor, double* target
    ) noexcept nogil


cdef class KernelExpansion:
    """Functions of a kernel space, one for each state.

    Parameters
    ----------
    rows : KernelRows
        The kernel matrix of the training rows.
    n_states : int
        Number of states.
    place : int
        Where they begin in a weight vector.
    """

    def __init__(self, KernelRows rows, Py_ssize_t n_states, Py_ssize_t place):
        self.rows = rows
        self.n_states = n_states
        self.n_rows = rows.n_rows
        self.place = place
        self.stop = place + 2 * n_states * rows.n_rows

    cdef void add_values(
        self, Py_ssize_t first, Py_ssize_t count, const double* w, double* scores,
        Py_ssize_t stride
    ) noexcept nogil:
        cdef Py_ssize_t k, t
        cdef const double* values = w + self.place + first
        for k in range(self.n_states):
            for t in range(count):
                scores[t * stride + k] += values[t]
            values += self.n_rows

    cdef int add_rows(
        self, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active, double step,
        const double* direction, Py_ssize_t stride, double* v
    ) except -1 nogil:
        cdef Py_ssize_t a, k, t, n_rows = self.n_rows
        cdef double* values = v + self.place
        cdef double* coefficients = values + self.n_states * n_rows
        cdef const double* row
        cdef double factor
        self.rows.require(first, active, n_active)
        for a in range(n_active):
            t = first + active[a]
            row = self.rows.row(t)
            for k in range(self.n_states):
                factor = step * direction[active[a] * stride + k]
                if factor != 0.0:
                    add_scaled(row, n_rows, factor, values + k * n_rows)
                    coefficients[k * n_rows + t] += factor
        return 0

    def covector(self, w):
        """Return w up to `place`, then nothing to meet values, and its values to meet beta."""
        size = self.n_states * self.n_rows
        out = np.zeros(len(w))
        out[: self.place] = w[: self.place]
        out[self.place + size :] = w[self.place :][:size]
        return out

    def values_at(self):
        """Return the places of the values in a weight vector, a slice."""
        return slice(self.place, self.place + self.n_states * self.n_rows)
