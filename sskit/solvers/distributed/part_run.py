"""A run of a solver on one part of the data."""

import numpy as np

from sskit.core.stop import CutShort
from sskit.solvers.block_coordinate.eviction import retire_all
from sskit.solvers.common.dual_point import DualPoint
from sskit.solvers.common.snapshot import restore, save
from sskit.solvers.oracle_calls.exact_pass import Evaluator

# The clock of no run comes to that.
FOREVER = 2**31 - 1


class PartRun:
    """The blocks of one part and their dual variables, at weights that other parts move too.

    Parameters
    ----------
    load : callable
        Returns the problem of the part, whose block weights c_i are those in all data.
    solver : Solver
        Starts the run.
    random_state : RandomState
        Source of randomness of this part.
    n_jobs : int or None
        Threads.
    keeps : bool
        Whether the problem stays in memory; else it is loaded for each visit, and what stays is
        the dual point, without planes that have no weight.
    point : DualPoint, default=None
        Where to start.

    Attributes
    ----------
    loss : float
        Sum of c_i times the loss of the mix, as of the last visit.
    largest : float
        Sum of c_i times the largest loss: what the part adds to P(0); nan before the first visit.
    estimate : float
        Sum of the block gaps that were last seen.
    n_oracle_calls : int
        Calls of the oracle so far.
    """

    def __init__(self, load, solver, random_state, n_jobs, keeps, point=None):
        self.load = load
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keeps = keeps
        self.point = point
        self.problem = self.run = self.evaluator = self.gaps = self.largest_loss = None
        self.loss = 0.0
        self.largest = self.estimate = np.nan
        self.n_calls_before = 0

    def open(self, regularizer, stop):
        """Load the problem if need be, and go on where the part was left.

        Parameters
        ----------
        regularizer : Regularizer
            Holds the weights that visits move.
        stop : Stop
            Says when to end early.
        """
        if self.run is None:
            problem = self.load()
            self.evaluator = Evaluator(problem, self.n_jobs, stop)
            self.n_queries_before = problem.n_queries(0)
            weight = np.asarray(problem.block_weight)
            if self.largest_loss is None:
                zero = regularizer.padded(np.zeros(problem.n_weights))
                self.largest_loss = self.evaluator.hinges(zero)
                self.largest = float(weight @ self.largest_loss)
            gaps = weight * self.largest_loss if self.gaps is None else self.gaps
            self.run = self.solver.start(
                problem, regularizer, self.random_state, gaps, self.evaluator.pool
            )
            self.problem = problem
            if self.point is not None:
                restore(self.run.dual, self.point.blocks)
                lam = regularizer.lam * self.scale
                self.run.dual.keep_shares(problem, self.point.shares(weight, lam))
        self.run.stop = stop

    def close(self):
        """Leave the part; what need not stay in memory goes."""
        weight = np.asarray(self.problem.block_weight)
        self.loss = float(weight @ self.run.dual.losses())
        self.estimate = float(self.run.gaps.sum())
