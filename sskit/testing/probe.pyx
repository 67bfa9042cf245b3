"""The contract of problems, called from Python: for tests of compiled problems.

Solvers call problems without the GIL and without checks. Here the same methods take and return
NumPy arrays, one call at a time. Directions and planes are dense arrays over the statistics of a
block. `check_problem` tries the laws on which solvers rely.
"""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.lanes cimport LANES
from sskit.core.problem cimport Problem

# Number of spare entries behind a buffer that a problem fills, and their value, which must stay.
GUARD = 16
UNTOUCHED = -77


cdef class ProblemProbe:
    """The methods of a problem, for one call at a time.

    Parameters
    ----------
    problem : Problem
        The problem.
    """

    def __cinit__(self, Problem problem, *args):
        self.problem = problem
        self.delta = Direction(problem.max_statistics)

    cdef Py_ssize_t block(self, Py_ssize_t i) except -1:
        if not 0 <= i < self.problem.n_blocks:
            raise IndexError(f"block {i} of a problem with {self.problem.n_blocks} blocks")
        return i

    cdef codes(self, Py_ssize_t i, code):
        cdef const int32_t[::1] codes = checked(code, self.code_length(i), "code", np.int32)
        if not self.problem.knows(i, &codes[0]):
            raise ValueError(f"block {i} has no plane of the code {code}")
        return codes

    cdef Direction direction(self, delta):
        dense = checked(delta, self.problem.max_statistics, "delta")
        cdef const int32_t[::1] index = np.flatnonzero(dense).astype(np.int32)
        cdef const double[::1] value = dense[index]
        self.delta.clear()
        if index.shape[0]:
            self.delta.add(&index[0], &value[0], index.shape[0], 1.0)
        return self.delta

    def code_length(self, Py_ssize_t i):
        """Return the length of the code of the planes of block i."""
        return self.problem.code_length(self.block(i))

    def truth(self, Py_ssize_t i):
        """Return the code of the truth of block i, shape (code_length,), int32."""
        cdef int32_t[::1] code = guarded(self.problem.max_code_length, np.int32)
        self.problem.truth(self.block(i), &code[0])
        return released(code, self.problem.max_code_length, "truth", i)[: self.code_length(i)]

    def scores(self, Py_ssize_t i, w):
        """Return theta = B_i^T w, shape (max_statistics,), for w of shape (n_weights,)."""
        cdef double[::1] padded = room(checked(w, self.problem.n_weights, "w"))
        cdef double[::1] theta = guarded(self.problem.max_statistics, np.float64)
        theta[: self.problem.max_statistics] = 0.0
        self.problem.scores(self.block(i), &padded[0], &theta[0])
        return released(theta, self.problem.max_statistics, "scores", i)

    def argmax(self, Py_ssize_t i, theta, double loss_weight=1.0):
        """Return the code and loss of a y maximising loss_weight * L_i(y) + <theta, m_i(y)>."""
        cdef double[::1] potentials = checked(theta, self.problem.max_statistics, "theta")
        cdef int32_t[::1] code = guarded(self.problem.max_code_length, np.int32)
        cdef double loss = 0.0
        self.problem.argmax(self.block(i), &potentials[0], loss_weight, &code[0], &loss)
        codes = released(code, self.problem.max_code_length, "argmax", i)
        return codes[: self.code_length(i)], loss

    def plane(self, Py_ssize_t i, code):
        """Return psi of the plane with this code, shape (max_statistics,)."""
        cdef const int32_t[::1] codes = self.codes(i, code)
        cdef int32_t[::1] index = guarded(self.problem.max_support, np.int32)
        cdef double[::1] value = guarded(self.problem.max_support, np.float64)
        cdef Py_ssize_t n = self.problem.plane(self.block(i), &codes[0], &index[0], &value[0])
        places = released(index, self.problem.max_support, "plane", i)[:n]
        psi = np.zeros(self.problem.max_statistics)
        np.add.at(psi, places, released(value, self.problem.max_support, "plane", i)[:n])
        return psi

    def scatter(self, Py_ssize_t i, delta, double step=1.0):
        """Return step * B_i delta, shape (n_weights,)."""
        cdef double[::1] v = np.zeros(self.problem.n_weights + LANES)
        self.problem.scatter(self.block(i), self.direction(delta), step, &v[0])
        return np.array(v[: self.problem.n_weights])

    def grow(self, Py_ssize_t i, delta, w, v=None):
        """Return v + B_i delta and 2 <w, B_i delta> + ||B_i delta||^2; v and w are one by default.

        w and v have the shape (n_weights,).
        """
        cdef double[::1] weights = room(checked(w, self.problem.n_weights, "w"))
        cdef double[::1] moved = weights
        if v is not None:
            moved = room(checked(v, self.problem.n_weights, "v"))
        growth = self.problem.grow(self.block(i), self.direction(delta), &weights[0], &moved[0])
        return np.array(moved[: self.problem.n_weights]), growth

    def sqnorm(self, Py_ssize_t i, delta):
        """Return || B_i delta ||^2."""
        return self.problem.sqnorm(self.block(i), self.direction(delta))

    def inner_products(self, Py_ssize_t i, delta, psis):
        """Return <B_i delta, B_i psi> for every row of psis (n, max_statistics)."""
        psis = np.ascontiguousarray(psis, dtype=np.float64)
        rows, places = np.nonzero(psis)
        n = len(psis)
        cdef int32_t[::1] index = np.append(places, 0).astype(np.int32)
        cdef double[::1] value = np.append(psis[rows, places], 0.0)
        cdef Py_ssize_t[::1] first = np.searchsorted(rows, np.arange(n + 1)).astype(np.intp)
        cdef double[::1] out = guarded(n, np.float64)
        self.problem.inner_products(
            self.block(i), self.direction(delta), &index[0], &value[0], &first[0], n, &out[0]
        )
        return released(out, n, "inner_products", i)

    def clip(self, Py_ssize_t i, delta, v, lower, upper, w):
        """Return w, clipped anew from v wherever scatter(i, delta) may have changed v."""
        d = self.problem.n_weights
        cdef double[::1] moved = room(checked(v, d, "v")), image = room(checked(w, d, "w"))
        cdef double[::1] low = checked(lower, d, "lower"), high = checked(upper, d, "upper")
        self.problem.clip(
            self.block(i), self.direction(delta), &moved[0], &low[0], &high[0], &image[0]
        )
        return np.array(image[:d])


def checked(values, size, name, dtype=np.float64):
    """Return a contiguous copy of `size` values, with room for at least one."""
    values = np.array(values, dtype=dtype)
    if values.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},), got {values.shape}")
    return values if size else np.zeros(1, dtype=dtype)


def room(values):
    """Return values with the spare room of weight vectors behind them."""
    return np.concatenate([values, np.zeros(LANES)])


def guarded(Py_ssize_t size, dtype):
    """Return a buffer of `size` entries with a guard behind them."""
    return np.full(size + GUARD, UNTOUCHED, dtype=dtype)


def released(buffer, size, method, i):
    """Return the entries of a guarded buffer; raise AssertionError if the guard was hit."""
    values = np.array(buffer)
    if not (values[size:] == UNTOUCHED).all():
        raise AssertionError(f"block {i}: {method} writes behind its buffer")
    return values[:size]
