"""One visit of a block (see the .pxd)."""

import numpy as np

from sskit.core.dual cimport max_entries


cdef class Visit:
    """Scratch memory for visiting the blocks of a problem.

    Parameters
    ----------
    problem : Problem
        Gives the sizes.
    """

    def __cinit__(self, Problem problem):
        self.theta = np.zeros(max(problem.max_statistics, 1))
        self.code = np.zeros(max(problem.max_code_length, 1), dtype=np.int32)
        self.index = np.zeros(max_entries(problem), dtype=np.int32)
        self.value = np.zeros(max_entries(problem))
        self.delta = Direction(problem.max_statistics)

    cdef int call_oracle(
        self, Problem problem, Py_ssize_t i, const double* w, double loss_weight
    ) except -1 nogil:
        cdef Py_ssize_t e
        problem.scores(i, w, &self.theta[0])
        problem.argmax(i, &self.theta[0], loss_weight, &self.code[0], &self.loss)
        self.n = problem.plane(i, &self.code[0], &self.index[0], &self.value[0])
        self.hinge = loss_weight * self.loss
        for e in range(self.n):
            self.hinge -= self.value[e] * self.theta[self.index[e]]
        self.excess = problem.excess
        if self.hinge < 0.0:
            self.excess = max(self.excess + self.hinge, 0.0)
            problem.truth(i, &self.code[0])
            self.n = 0
            self.loss = 0.0
            self.hinge = 0.0
        return 0

    cdef int load_plane(
        self, Problem problem, Py_ssize_t i, const int32_t* code, double loss
    ) except -1 nogil:
        self.n = problem.plane(i, code, &self.index[0], &self.value[0])
        self.loss = loss
        return 0

    cdef double bound(self) noexcept nogil:
        cdef double total = self.loss
        cdef Py_ssize_t e
        for e in range(self.n):
            total -= self.value[e] * self.theta[self.index[e]]
        return total


cdef void prefetch_next(Problem problem, DualState dual, Sampler sampler) noexcept nogil:
    cdef Py_ssize_t i = sampler.peek(0)
    if i >= 0:
        problem.prefetch(i)
        dual.prefetch(i)
    i = sampler.peek(1)
    if i >= 0:
        dual.prefetch_block(i)
