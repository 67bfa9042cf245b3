"""Exact passes: the hinges of all blocks at one w, and with them primal and gap."""

from sskit.core._dual cimport DualState
from sskit.core._problem cimport Problem
from sskit.solvers._findings cimport Gaps, Hinges, InexactGaps
from sskit.solvers._team cimport Team

from sskit.solvers._team import make_team


cdef class Evaluator:
    """Exact passes over a problem, in parallel if asked.

    Results are summed in one order, so they do not depend on the number of threads.

    Parameters
    ----------
    problem : Problem
        What to evaluate.
    n_jobs : int, default=None
        Number of threads or processes, as in scikit-learn.
    """

    cdef Problem problem
    cdef readonly Team team
    cdef readonly Py_ssize_t n_calls     # oracle calls so far

    def __init__(self, Problem problem, n_jobs=None):
        self.problem = problem
        self.team = make_team(problem, n_jobs)
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
        cdef Hinges findings
        if dual is None:
            findings = Hinges(self.problem, n_blocks)
        elif self.problem.exact:
            findings = Gaps(self.problem, n_blocks, dual)
        else:
            findings = InexactGaps(self.problem, n_blocks, dual)
        findings.ask_all()
        self.team.consult(findings, w)
        self.n_calls += n_blocks
        if dual is None:
            return findings.hinges()
        return findings.hinges(), findings.gaps()
