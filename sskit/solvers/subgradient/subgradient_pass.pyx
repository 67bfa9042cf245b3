"""The pass of the stochastic subgradient method."""

import numpy as np

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
    cdef readonly double[::1] behind     # (n_weights + LANES,) the same, step j weighted by j
    cdef readonly double n_steps         # k
    cdef readonly double loss            # sum of the weighted losses of the planes

    def __cinit__(self, double lam, Py_ssize_t n_weights):
        self.lam = lam
        self.n_weights = n_weights
        self.total = np.zeros(n_weights + LANES)
        self.behind = np.zeros(n_weights + LANES)

    def last(self):
        """Return the last iterate w_k, the mean of all subgradients / -lam, padded."""
        return np.asarray(self.total) / max(self.n_steps, 1.0)

    def average(self):
        """Return the average with weights 2 j / (k (k + 1)), padded."""
        k = max(self.n_steps, 1.0)
        return ((k + 1.0) * np.asarray(self.total) - np.asarray(self.behind)) * (
            2.0 / (k * (k + 1.0))
        )


cdef int step(
    Problem problem, SubgradientState state, Visit visit, Direction delta, Py_ssize_t i
) except -1 nogil:
    cdef double scale = problem.n_blocks * problem.block_weight[i], size = scale / state.lam
    # the argmax at w_k is that at k w_k with k times the loss
    visit.call_oracle(problem, i, &state.total[0], max(state.n_steps, 1.0))
    state.n_steps += 1.0
    state.loss += scale * visit.loss
    delta.add(&visit.index[0], &visit.value[0], visit.n, 1.0)
    problem.scatter(i, delta, size, &state.total[0])
    problem.scatter(i, delta, state.n_steps * size, &state.behind[0])
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
    if stop is None:
        stop = Stop()
    with nogil:
        while n_done < n_steps:
            step(problem, state, visit, visit.delta, sampler.next())
            n_done += 1
            if stop.due():
                break
    return n_done
