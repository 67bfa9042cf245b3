"""What all searches for slack-rescaled oracles share (see the .pxd), and the one that asks once."""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy

# Numbers that are closer than this, relatively, are equal: rounding.
cdef double ROUNDING = 1e-12


cdef int check_oracle(bint able, Problem problem) except -1:
    if not able:
        raise ValueError(f"{type(problem).__name__} has no oracle for this search")
    return 0


cdef class SlackSearch:
    """Base of the searches.

    Parameters
    ----------
    problem : Problem
        Its oracles are asked.
    tol : float
        A label is good enough if no other one can be better by a larger share.
    max_queries : int
        Largest number of questions of a search.
    """

    def __cinit__(self, Problem problem, double tol, Py_ssize_t max_queries):
        self.problem = problem
        self.oracle = problem.slack_oracle()
        self.tol = tol
        self.max_queries = max_queries
        self.exact, self.lock_free = False, problem.lock_free
        self.bounds = problem.exact or problem.bounds
        self.rounding = ROUNDING
        if self.oracle is not None:
            self.rounding = max(self.oracle.precision, ROUNDING)
        self.counts = np.zeros(2, dtype=np.int64)
        self.code = np.zeros(max(problem.max_code_length, 1), dtype=np.int32)
        self.best_code = np.zeros(max(problem.max_code_length, 1), dtype=np.int32)
        self.index = np.zeros(max(problem.max_support, 1), dtype=np.int32)
        self.value = np.zeros(max(problem.max_support, 1))

    def fork(self, Problem problem):
        """Return the same search with scratch memory of its own, for a fork of the problem."""
        return type(self)(problem, self.tol, self.max_queries)

    cdef int find(
        self, Py_ssize_t i, const double* theta, double offset, const int32_t* known,
        double known_loss, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t size = self.problem.code_length(i) * sizeof(int32_t)
        self.i, self.theta, self.offset = i, theta, offset
        self.n_asked = 0
        self.best = self.best_h = self.best_g = 0.0
        self.bound = INFINITY
        self.problem.truth(i, &self.best_code[0])
        self.problem.plane_store.keep(i, &self.best_code[0])
        if known_loss > 0.0:
            memcpy(&self.code[0], known, size)
            self.meet(known_loss)
        self.search()
        self.counts[0] += 1
        self.counts[1] += self.n_asked
        memcpy(code, &self.best_code[0], size)
        loss[0] = self.best_g
        return 0

    cdef int search(self) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement search")

    cdef int ask(self, double lam) except -1 nogil:
        cdef double loss, value
        self.n_asked += 1
        self.problem.argmax(self.i, self.theta, lam, &self.code[0], &loss)
        self.meet(loss)
        value = max(self.h + lam * self.g + self.problem.excess, 0.0)
        self.bound = max(min(self.bound, value * value / (4.0 * lam)), self.best)
        return 0

    cdef int meet(self, double loss) except -1 nogil:
        cdef Py_ssize_t e, n = self.problem.plane(
            self.i, &self.code[0], &self.index[0], &self.value[0]
        )
        self.g = loss
        self.h = self.offset
        for e in range(n):
            self.h -= self.value[e] * self.theta[self.index[e]]
        if self.h > 0.0 and self.h * self.g > self.best:
            self.problem.plane_store.keep(self.i, &self.code[0])
            self.problem.plane_store.forget(self.i, &self.best_code[0])
            self.best, self.best_h, self.best_g = self.h * self.g, self.h, self.g
            memcpy(
                &self.best_code[0], &self.code[0],
                self.problem.code_length(self.i) * sizeof(int32_t)
            )
        return 0

    cdef bint done(self) noexcept nogil:
        return (
            self.bound <= (1.0 + self.tol + self.rounding) * self.best
            or self.bound == 0.0
            or self.n_asked >= self.max_queries
        )

    cdef double first_weight(self) noexcept nogil:
        return self.best_h / self.best_g if self.best > 0.0 else 1.0


cdef class ExactSearch(SlackSearch):
    """No search: the problem has an oracle for the product itself.

    Parameters
    ----------
    problem : Problem
        Its slack oracle has ``argmax_slack``.
    tol : float
        Not needed.
    max_queries : int
        Not needed: one is enough.
    """

    def __cinit__(self, Problem problem, double tol, Py_ssize_t max_queries):
        # an oracle for the product that misses the maximum says nothing of what it missed
        self.exact, self.bounds = problem.exact, False
        check_oracle(self.oracle is not None and self.oracle.has_product, problem)
        self.lock_free = problem.lock_free and self.oracle.lock_free

    cdef int search(self) except -1 nogil:
        cdef double loss
        self.n_asked = 1
        self.oracle.argmax_slack(self.i, self.theta, self.offset, &self.code[0], &loss)
        self.meet(loss)
        self.bound = self.best
        return 0
