"""The pass of the stochastic subgradient method."""

import numpy as np

from sskit.core.checks cimport check_equal, check_least
from sskit.core.direction cimport Direction
from sskit.core.lanes cimport LANES
from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.solvers.oracle_calls.call cimport Visit


cdef class SubgradientState:
    """Iterates of the stochastic subgradient method with step size 1 / (lam k).

    With that step size the iterate is a plain sum, w_k = total / k, and its weighted average
    needs one more sum:  sum_j j w_j = (k + 1) total - behind.

    Parameters
    ----------
    lam : float
        Regularisation strength.
    n_weights : int
        Number of weights d.
    """

    cdef readonly double lam
    cdef readonly Py_ssize_t n_weights
    cdef readonly double[::1] total      # (n_weights + LANES,) sum of all subgradients / -lam
    # (n_weights + LANES,) the same, step j weighted by j; on a box the sum of j w_j
    cdef readonly double[::1] behind
    cdef readonly double n_steps         # k
    cdef readonly double loss            # sum of the weighted losses of the planes

    def __cinit__(self, double lam, Py_ssize_t n_weights, *box):
        check_least(n_weights, 0, "n_weights")
        self.lam = lam
        self.n_weights = n_weights
        self.total = np.zeros(n_weights + LANES)
        self.behind = np.zeros(n_weights + LANES)

    def dual_sum(self):
        """Return the mean of all subgradients / -lam, whose image is the last iterate, padded."""
        return np.asarray(self.total) / max(self.n_steps, 1.0)

    def last(self):
        """Return the last iterate w_k, padded."""
        return self.dual_sum()

    def average(self):
        """Return the average with weights 2 j / (k (k + 1)), padded."""
        k = max(self.n_steps, 1.0)
        return ((k + 1.0) * np.asarray(self.total) - np.asarray(self.behind)) * (
            2.0 / (k * (k + 1.0))
        )

    cdef const double* scaled(self) noexcept nogil:
        """Return k w_k, or at the start w_0."""
        return &self.total[0]

    cdef int move(
        self, Problem problem, Py_ssize_t i, Direction delta, double size
    ) except -1 nogil:
        """Add the subgradient of step k, which is counted already."""
        problem.scatter(i, delta, size, &self.total[0])
        problem.scatter(i, delta, self.n_steps * size, &self.behind[0])
        return 0


cdef class BoxedSubgradientState(SubgradientState):
    """The same on a box lower <= w <= upper: w_k = clip(prior + total / k, lower, upper).

    Parameters
    ----------
    lam : float
        Regularisation strength.
    n_weights : int
        Number of weights d.
    lower, upper : float or ndarray of shape (n_weights,)
        Bounds, infinite where there is none; lower <= upper.
    prior : ndarray of shape (n_weights,), default=None
        Weights that the norm is measured from; None for zero.
    """

    cdef const double[::1] lower         # (n_weights,)
    cdef const double[::1] upper         # (n_weights,)
    cdef double[::1] inside              # (n_weights + LANES,) k w_k
    cdef const double[::1] prior         # (n_weights,), or None for zero

    def __cinit__(self, double lam, Py_ssize_t n_weights, lower, upper, prior=None):
        self.prior = None
        if prior is not None:
            lower, upper = (np.broadcast_to(side, n_weights) for side in (lower, upper))
            check_equal(len(prior), n_weights, "the number of weights of the prior")
            self.prior = np.ascontiguousarray(prior, dtype=np.float64)
        check_equal(len(lower), n_weights, "the number of lower bounds")
        check_equal(len(upper), n_weights, "the number of upper bounds")
        self.lower = np.ascontiguousarray(lower, dtype=np.float64)
        self.upper = np.ascontiguousarray(upper, dtype=np.float64)
        self.inside = np.zeros(n_weights + LANES)
        self.project(1.0)

    def dual_sum(self):
        """Return the prior and the mean of all subgradients / -lam, padded."""
        v = SubgradientState.dual_sum(self)
        if self.prior is not None:
            v[: self.n_weights] += self.prior
        return v

    def last(self):
        """Return the last iterate w_k, padded."""
        return self._clipped(self.dual_sum())

    def average(self):
        """Return the average with weights 2 j / (k (k + 1)), padded."""
        if self.n_steps == 0:
            return self.last()
        # of points of the box, in which only rounding may miss it
        return self._clipped(
            np.asarray(self.behind) * (2.0 / (self.n_steps * (self.n_steps + 1.0)))
        )

    def _clipped(self, w):
        """Return padded weights, clipped in place."""
        inner = w[: self.n_weights]
        np.clip(inner, self.lower, self.upper, out=inner)
        return w

    cdef const double* scaled(self) noexcept nogil:
        return &self.inside[0]

    cdef void project(self, double k) noexcept nogil:
        cdef Py_ssize_t j
        if self.prior is not None:
            for j in range(self.n_weights):
                self.inside[j] = min(
                    max(k * self.prior[j] + self.total[j], k * self.lower[j]), k * self.upper[j]
                )
            return
        for j in range(self.n_weights):
            self.inside[j] = min(max(self.total[j], k * self.lower[j]), k * self.upper[j])

    cdef int move(
        self, Problem problem, Py_ssize_t i, Direction delta, double size
    ) except -1 nogil:
        cdef Py_ssize_t j
        problem.scatter(i, delta, size, &self.total[0])
        # weights that the step has not moved may leave the box too: it is k times as large
        self.project(self.n_steps)
        for j in range(self.n_weights):
            self.behind[j] += self.inside[j]
        return 0


cdef int step(
    Problem problem, SubgradientState state, Visit visit, Direction delta, Py_ssize_t i
) except -1 nogil:
    cdef double scale = problem.n_blocks * problem.block_weight[i]
    # the argmax at w_k is that at k w_k with k times the loss
    visit.call_oracle(problem, i, state.scaled(), max(state.n_steps, 1.0))
    state.n_steps += 1.0
    state.loss += scale * visit.loss
    delta.add(&visit.index[0], &visit.value[0], visit.n, 1.0)
    state.move(problem, i, delta, scale / state.lam)
    delta.clear()
    return 0


def run_pass(
    Problem problem, SubgradientState state, Sampler sampler, Visit visit, Py_ssize_t n_steps,
    Stop stop=None
):
    """Take n_steps subgradient steps without the GIL.

    Parameters
    ----------
    problem : Problem
        The problem.
    state : SubgradientState
        The iterates; moved.
    sampler : Sampler
        Says which blocks; its begin_pass(n_steps) has been called.
    visit : Visit
        Scratch memory.
    n_steps : int
        Number of steps.
    stop : Stop, default=None
        Says after which step to end already; None never does.

    Returns
    -------
    n_done : int
        Number of steps taken.
    """
    cdef Py_ssize_t n_done = 0
    visit.match(problem)
    check_equal(state.n_weights, problem.n_weights, "the number of weights")
    sampler.check(problem.n_blocks, n_steps)
    if stop is None:
        stop = Stop()
    with nogil:
        while n_done < n_steps:
            step(problem, state, visit, visit.delta, sampler.next())
            n_done += 1
            if stop.due():
                break
    return n_done
