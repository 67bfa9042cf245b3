"""Exact passes: the hinges of all blocks at one w, and with them primal and gap."""

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from sskit.core._dual cimport DualState
from sskit.core._problem cimport Problem
from sskit.solvers._visit cimport Visit


cdef int evaluate(
    Problem problem, Visit visit, DualState dual, const double* w, Py_ssize_t start,
    Py_ssize_t stop, double* hinge, double* mix
) except -1 nogil:
    cdef Py_ssize_t i
    for i in range(start, stop):
        visit.consult(problem, i, w, 1.0)
        hinge[i] = visit.hinge
        mix[i] = dual.blocks[i].loss - dual.dot(i, &visit.theta[0])
    return 0


cdef int evaluate_hinges(
    Problem problem, Visit visit, const double* w, Py_ssize_t start, Py_ssize_t stop,
    double loss_weight, double* hinge
) except -1 nogil:
    cdef Py_ssize_t i
    for i in range(start, stop):
        visit.consult(problem, i, w, loss_weight)
        hinge[i] = visit.hinge
    return 0


cdef int evaluate_mixes(
    Problem problem, Visit visit, DualState dual, const double* w, double* mix
) except -1 nogil:
    cdef Py_ssize_t i
    for i in range(problem.n_blocks):
        problem.scores_at(i, w, dual.blocks[i].index, dual.blocks[i].n, &visit.theta[0])
        mix[i] = dual.blocks[i].loss - dual.dot(i, &visit.theta[0])
    return 0


cdef class Evaluator:
    """Exact passes over a problem, in parallel threads if asked.

    Every thread has a share of the blocks and a fork of the problem; results are summed in one
    order, so they do not depend on the number of threads.

    Parameters
    ----------
    problem : Problem
        What to evaluate.
    n_jobs : int, default=None
        Number of threads, as in scikit-learn.
    """

    cdef Problem problem
    cdef list workers
    cdef readonly Py_ssize_t n_calls     # oracle calls so far

    def __init__(self, Problem problem, n_jobs=None):
        n_workers = max(1, min(effective_n_jobs(n_jobs), problem.n_blocks))
        self.problem = problem
        self.workers = [(problem if k == 0 else problem.fork(), Visit(problem))
                        for k in range(n_workers)]
        self.n_calls = 0

    def hinges(self, const double[::1] w, DualState dual=None, double loss_weight=1.0):
        """Ask the oracle of every block at w.

        Parameters
        ----------
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.
        dual : DualState, default=None
            The dual point whose gaps are wanted.
        loss_weight : float, default=1.0
            Factor of the losses; only without `dual`.

        Returns
        -------
        hinge : ndarray of shape (n_blocks,)
            H_i = max_y L_i(y) - <w, psi_i(y)>.
        gap : ndarray of shape (n_blocks,)
            Block gaps c_i (H_i - (loss_i - <w, psi_i> of the mix)); only if `dual` is given.
        """
        n_blocks = self.problem.n_blocks
        hinge, mix = np.empty(n_blocks), np.empty(n_blocks)
        bounds = np.linspace(0, n_blocks, len(self.workers) + 1).astype(np.intp)
        shares = [
            (worker, visit, dual, w, start, stop, loss_weight, hinge, mix)
            for (worker, visit), start, stop in zip(self.workers, bounds, bounds[1:])
        ]
        if len(shares) == 1:
            evaluate_share(*shares[0])
        else:
            Parallel(n_jobs=len(shares), prefer="threads")(
                delayed(evaluate_share)(*share) for share in shares
            )
        self.n_calls += n_blocks
        if dual is None:
            return hinge
        return hinge, np.asarray(self.problem.block_weight) * (hinge - mix)

    def count(self, Py_ssize_t n_calls):
        """Add oracle calls that were made for the same purpose elsewhere."""
        self.n_calls += n_calls

    def mixes(self, const double[::1] w, DualState dual):
        """Evaluate the mixes of a dual point, without the oracle.

        Parameters
        ----------
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.
        dual : DualState
            The dual point.

        Returns
        -------
        mix : ndarray of shape (n_blocks,)
            c_i (loss_i - <w, psi_i>) of each block's mix.
        """
        cdef double[::1] mix = np.empty(self.problem.n_blocks)
        cdef Visit visit = self.workers[0][1]
        with nogil:
            evaluate_mixes(self.problem, visit, dual, &w[0], &mix[0])
        return np.asarray(self.problem.block_weight) * mix


def evaluate_share(Problem problem, Visit visit, DualState dual, const double[::1] w,
                   Py_ssize_t start, Py_ssize_t stop, double loss_weight, double[::1] hinge,
                   double[::1] mix):
    """Fill hinge[start:stop], and mix[start:stop] if there is a dual point."""
    if dual is None:
        with nogil:
            evaluate_hinges(problem, visit, &w[0], start, stop, loss_weight, &hinge[0])
    else:
        with nogil:
            evaluate(problem, visit, dual, &w[0], start, stop, &hinge[0], &mix[0])
