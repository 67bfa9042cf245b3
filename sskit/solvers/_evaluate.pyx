"""Exact passes: the hinges of all blocks at one w, and with them primal and gap."""

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from sskit.core._dual cimport DualState
from sskit.core._problem cimport Problem
from sskit.solvers._visit cimport Visit


cdef class Question:
    """What an exact pass wants to know of a block: its hinge.

    Parameters
    ----------
    problem : Problem
        The problem, or a fork of it for a thread of its own.
    visit : Visit
        Scratch memory.
    dual : DualState or None
        The dual point that is meant, where one is.
    """

    cdef Problem problem
    cdef Visit visit
    cdef DualState dual

    def __init__(self, Problem problem, Visit visit, DualState dual):
        self.problem = problem
        self.visit = visit
        self.dual = dual

    cdef int ask(
        self, Py_ssize_t i, const double* w, double* hinge, double* mix
    ) except -1 nogil:
        self.visit.consult(self.problem, i, w, 1.0)
        hinge[0] = self.visit.hinge
        return 0


cdef class GapQuestion(Question):
    """The hinge, and the linear bound of the block's mix below it."""

    cdef int ask(
        self, Py_ssize_t i, const double* w, double* hinge, double* mix
    ) except -1 nogil:
        self.visit.consult(self.problem, i, w, 1.0)
        hinge[0] = self.visit.hinge
        mix[0] = self.dual.blocks[i].loss - self.dual.dot(i, &self.visit.theta[0])
        return 0


cdef class InexactGapQuestion(GapQuestion):
    """The same where the oracle may miss the maximum.

    The hinge is then the best of what it found, the truth, the stored planes and the mix, which
    is no better than the best of all planes that it was mixed from, stored or not.
    """

    cdef int ask(
        self, Py_ssize_t i, const double* w, double* hinge, double* mix
    ) except -1 nogil:
        cdef Py_ssize_t p, n_words = self.dual.n_words[i]
        self.visit.consult(self.problem, i, w, 1.0)
        mix[0] = self.dual.blocks[i].loss - self.dual.dot(i, &self.visit.theta[0])
        hinge[0] = max(self.visit.hinge, mix[0])
        for p in range(self.dual.blocks[i].n_planes):
            self.visit.recall(
                self.problem, i, self.dual.blocks[i].words + p * n_words,
                self.dual.blocks[i].plane_loss[p]
            )
            hinge[0] = max(hinge[0], self.visit.bound())
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

    def hinges(self, const double[::1] w, DualState dual=None):
        """Ask the oracle of every block at w.

        Parameters
        ----------
        w : ndarray of shape (n_weights + LANES,)
            Padded weights.
        dual : DualState, default=None
            The dual point whose gaps are wanted. Where the oracle is not exact its stored planes
            and mixes are compared with the answers.

        Returns
        -------
        hinge : ndarray of shape (n_blocks,)
            H_i = max_y L_i(y) - <w, psi_i(y)>; the best value known if the oracle is not exact.
        gap : ndarray of shape (n_blocks,)
            Block gaps c_i (H_i - (loss_i - <w, psi_i> of the mix)); only if `dual` is given.
        """
        n_blocks = self.problem.n_blocks
        hinge, mix = np.empty(n_blocks), np.empty(n_blocks)
        bounds = np.linspace(0, n_blocks, len(self.workers) + 1).astype(np.intp)
        kind = Question
        if dual is not None:
            kind = GapQuestion if self.problem.exact else InexactGapQuestion
        shares = [
            (kind(worker, visit, dual), w, start, stop, hinge, mix)
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


def evaluate_share(Question question, const double[::1] w, Py_ssize_t start, Py_ssize_t stop,
                   double[::1] hinge, double[::1] mix):
    """Fill hinge[start:stop], and mix[start:stop] if the question is about a dual point."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            question.ask(i, &w[0], &hinge[i], &mix[i])
