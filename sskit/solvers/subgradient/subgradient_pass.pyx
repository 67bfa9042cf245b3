"""The pass of the stochastic subgradient method."""

import numpy as np

from sskit.core.lanes cimport LANES
from sskit.core.problem cimport Problem
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.solvers.oracle_calls.pool cimport OracleCall


cdef class SubgradientState:
    """Iterates of the stochastic subgradient method with step size 1 / (lam k).

    With that step size the iterate is a plain sum, w_k = total / k, and its weighted average
    needs one more sum:  sum_j j w_j = (k + 1) total - behind.

    Parameters
    ----------
    problem : Problem
        The problem.
    lam : float
        Regularisation strength.
    """

    cdef Problem problem
    cdef OracleCall call
    cdef double lam
    cdef double[::1] total               # (n_weights + LANES,) sum of all subgradients / -lam
    cdef double[::1] behind              # (n_weights + LANES,) the same, step j weighted by j
    cdef readonly double n_steps         # k
    cdef readonly double loss            # sum of the weighted losses of the planes

    def __cinit__(self, Problem problem, double lam):
        self.problem, self.lam = problem, lam
        self.call = OracleCall(problem)
        self.total = np.zeros(problem.n_weights + LANES)
        self.behind = np.zeros(problem.n_weights + LANES)

    def last(self):
        """Return the last iterate w_k, the mean of all subgradients / -lam."""
        return np.asarray(self.total)[: self.problem.n_weights] / max(self.n_steps, 1.0)

    def average(self):
        """Return the average with weights 2 j / (k (k + 1))."""
        k, d = max(self.n_steps, 1.0), self.problem.n_weights
        total, behind = np.asarray(self.total)[:d], np.asarray(self.behind)[:d]
        return ((k + 1.0) * total - behind) * (2.0 / (k * (k + 1.0)))

    cdef int step(self, Problem problem, OracleCall call, Py_ssize_t i) except -1 nogil:
        cdef double scale = problem.n_blocks * problem.block_weight[i], size = scale / self.lam
        # the argmax at w_k is that at k w_k with k times the loss
        call.call_oracle(problem, i, &self.total[0], max(self.n_steps, 1.0))
        self.n_steps += 1.0
        self.loss += scale * call.loss
        call.delta.add(&call.index[0], &call.value[0], call.n, 1.0)
        problem.scatter(i, call.delta, size, &self.total[0])
        problem.scatter(i, call.delta, self.n_steps * size, &self.behind[0])
        call.delta.clear()
        return 0

    def visit_blocks(self, Sampler sampler, Py_ssize_t n_steps, Stop stop):
        """Take steps without the GIL.

        Parameters
        ----------
        sampler : Sampler
            Order of the blocks; its begin_pass(n_steps) has been called.
        n_steps : int
            Number of steps.
        stop : Stop
            Ends the pass early when due.

        Returns
        -------
        n_done : int
            Number of steps taken.
        """
        cdef Py_ssize_t n_done = 0
        with nogil:
            while n_done < n_steps:
                self.step(self.problem, self.call, sampler.next())
                n_done += 1
                if stop.due():
                    break
        return n_done
