"""Problems whose oracles are not exact: for tests of what solvers do with such answers."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem


cdef class WrappedProblem(Problem):
    """Another problem, which answers everything.

    Parameters
    ----------
    problem : Problem
        Who answers.

    Attributes
    ----------
    forgotten : {"plane", "truth", "clip", "sqnorm"} or None
        A method that is not there, as if a class had forgotten to implement it.
    """

    cdef readonly Problem problem
    cdef readonly object forgotten
    cdef Problem of_planes, of_truths, of_clips, of_norms
    cdef readonly object map
    cdef readonly object structure
    cdef readonly object loss

    def __cinit__(self, Problem problem, *args, **kwargs):
        self.problem = problem
        self.forget(None)
        self.map, self.structure, self.loss = problem.map, problem.structure, problem.loss
        self.exact = problem.exact
        self.costly = problem.costly
        self.lock_free = problem.lock_free
        self.n_blocks = problem.n_blocks
        self.n_weights = problem.n_weights
        self.max_statistics = problem.max_statistics
        self.max_code_length = problem.max_code_length
        self.max_support = problem.max_support
        self.block_weight = problem.block_weight
        self.space = problem.space
        self.plane_store = problem.plane_store

    def forget(self, name):
        """Leave out one of the methods, or none."""
        self.forgotten, nothing = name, Problem()
        self.of_planes = nothing if name == "plane" else self.problem
        self.of_truths = nothing if name == "truth" else self.problem
        self.of_clips = nothing if name == "clip" else self.problem
        self.of_norms = nothing if name == "sqnorm" else self.problem

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        return self.problem.argmax(i, theta, loss_weight, code, loss)

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        return self.problem.scores(i, w, theta)

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        return self.problem.scores_at(i, w, index, count, theta)

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        return self.of_planes.plane(i, code, index, value)

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return self.problem.code_length(i)

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        return self.of_truths.truth(i, code)

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        return self.problem.scatter(i, delta, step, v)

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        return self.of_clips.clip(i, delta, v, lower, upper, w)

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        return self.of_norms.sqnorm(i, delta)

    cdef int inner_products(
        self, Py_ssize_t i, Direction delta, const int32_t* index, const double* value,
        const Py_ssize_t* first, Py_ssize_t n, double* out
    ) except -1 nogil:
        return self.problem.inner_products(i, delta, index, value, first, n, out)

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return self.problem.knows(i, code)

    cpdef Problem fork(self):
        return WrappedProblem(self.problem.fork())


cdef class UnreliableProblem(WrappedProblem):
    """Another problem whose oracle, after some good answers, gives the truth ever after.

    It declares itself inexact. Unlike a structure written in Python it never compares planes that
    it knows, so what makes up for its answers must be the solver.

    Parameters
    ----------
    problem : Problem
        Answers everything else, and the oracle's first questions.
    n_good : int
        Number of good answers.
    n_moves : int, default=-1
        After so many steps of weights they fail; never if it is negative.
    costly : bool, default=False
        What it says of the cost of its oracle.

    Attributes
    ----------
    n_good, n_moves : int
        How many are left.
    n_lengths : int
        After so many questions for the length of a step these fail too; -1 at first, which is
        never.
    """

    cdef public Py_ssize_t n_good
    cdef public Py_ssize_t n_moves
    cdef public Py_ssize_t n_lengths

    def __cinit__(self, Problem problem, Py_ssize_t n_good, bint costly=False,
                  Py_ssize_t n_moves=-1):
        self.n_good = n_good
        self.n_moves = n_moves
        self.n_lengths = -1
        self.exact = False
        self.costly = costly

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        if self.n_good > 0:
            self.n_good -= 1
            return self.problem.argmax(i, theta, loss_weight, code, loss)
        self.problem.truth(i, code)
        loss[0] = 0.0
        return 0

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        if self.n_moves == 0:
            with gil:
                raise RuntimeError(f"the weights of block {i} cannot be moved")
        self.n_moves -= 1
        return self.problem.scatter(i, delta, step, v)

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        if self.n_lengths == 0:
            with gil:
                raise RuntimeError(f"the length of a step of block {i} is not known")
        self.n_lengths -= 1
        return WrappedProblem.sqnorm(self, i, delta)

    # by norms, which may fail
    cdef int inner_products(
        self, Py_ssize_t i, Direction delta, const int32_t* index, const double* value,
        const Py_ssize_t* first, Py_ssize_t n, double* out
    ) except -1 nogil:
        return Problem.inner_products(self, i, delta, index, value, first, n, out)

    cpdef Problem fork(self):
        other = UnreliableProblem(self.problem.fork(), self.n_good, self.costly, self.n_moves)
        other.forget(self.forgotten)
        return other


cdef class BoundingProblem(WrappedProblem):
    """Another problem whose oracle searches with too small a fraction of the loss.

    What it then finds is a good labelling, often the best one, and the same for the same
    potentials. Every third block is always answered well, and the excess is 0 there.

    Parameters
    ----------
    problem : Problem
        Exact; answers everything else.
    fraction : float, default=0.5
        Of the loss, in the search; 1 finds the maximum.
    loose : float, default=1.0
        By how much the excess is too large, as a factor, at least 1.
    extra : float, default=0.0
        And a number that is added to it.
    bounds : bool, default=True
        Whether it says so; if not, there is no excess.
    costly : bool, default=False
        What it says of the cost of its oracle.
    """

    cdef readonly double fraction
    cdef readonly double loose
    cdef readonly double extra
    cdef int32_t[::1] index              # scratch for planes
    cdef double[::1] value

    def __cinit__(self, Problem problem, double fraction=0.5, double loose=1.0, double extra=0.0,
                  bint bounds=True, bint costly=False):
        self.fraction = fraction
        self.loose = loose
        self.extra = extra
        self.exact, self.bounds, self.costly = False, bounds, costly
        self.index = np.zeros(max(problem.max_support, 1), dtype=np.int32)
        self.value = np.zeros(max(problem.max_support, 1))

    # value of a labelling above that of the truth
    cdef double above_truth(
        self, Py_ssize_t i, const double* theta, double loss_weight, const int32_t* code,
        double loss
    ) except? -1 nogil:
        cdef Py_ssize_t e, n = self.problem.plane(i, code, &self.index[0], &self.value[0])
        cdef double total = loss_weight * loss
        for e in range(n):
            total -= self.value[e] * theta[self.index[e]]
        return total

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef double best, missed
        self.problem.argmax(i, theta, loss_weight, code, loss)
        self.excess = 0.0
        if i % 3 == 0:
            return 0
        best = self.above_truth(i, theta, loss_weight, code, loss[0])
        self.problem.argmax(i, theta, self.fraction * loss_weight, code, loss)
        missed = best - self.above_truth(i, theta, loss_weight, code, loss[0])
        if self.bounds:
            self.excess = self.loose * max(missed, 0.0) + self.extra
        return 0

    def decomposition(self):
        """Return that of the problem."""
        return self.problem.decomposition()

    cpdef Problem fork(self):
        return BoundingProblem(
            self.problem.fork(), self.fraction, self.loose, self.extra, self.bounds, self.costly
        )
