"""What solvers that work factor by factor share, and their runs."""

import numpy as np

from sskit.solvers.common.certificate import certify_weights
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import UNKNOWN
from sskit.solvers.common.solver import Solver


class FactorSolver(Solver):
    """Base of the solvers that visit nodes and edges: whom they refuse.

    A subclass has a `name`, by which estimators know it, and starts a `FactorRun`.
    """

    keeps_dual_point = False
    keeps_bounds = False
    looks_at_all = False
    name = ""

    def _factors(self, problem):
        """Return the factors of a problem that can be solved; else raise ValueError."""
        factors = problem.decomposition()
        if factors is None:
            raise ValueError(
                f"the solver {self.name!r} needs a model that is a sum over nodes and edges with "
                f"scores of their own, which {problem.name} has not; use the solver "
                "'bcfw'"
            )
        return factors


class FactorRun(Run):
    """State of one run: passes over all factors, and certificates.

    Parameters
    ----------
    problem : Problem
        What to solve.
    regularizer : Regularizer
        Holds lam and w.
    sweep : Sweep
        Visits the blocks.
    sampler : Sampler
        Order of the blocks.
    exact : bool, default=True
        Whether exact passes ask the oracle of whole structures; else nobody does.

    Attributes
    ----------
    unit : float
        P(0) where every labelling is allowed, else a bound of it.
    decrease : float
        Of the augmented Lagrangian by the steps of the last pass.
    infeasibility : float
        After the last pass, between 0 and 1; nan if it was cut short.
    lagrangian : float
        The augmented Lagrangian, summed from its changes: one look at all weights costs more than
        a pass where there are more weights than features of factors.
    change : float
        By how much the last pass moved it.
    """

    columns = {"n_scores": np.int64, "lagrangian": np.float64, "infeasibility": np.float64}

    def __init__(self, problem, regularizer, sweep, sampler, exact=True):
        super().__init__()
        self.problem = problem
        self.regularizer = regularizer
        self.sweep = sweep
        self.sampler = sampler
        self.exact = exact
        self.unit = sweep.largest_loss()
        self.decrease = self.infeasibility = self.lagrangian = self.change = 0.0

    @property
    def n_scores(self):
        """States that the oracles of the factors looked at so far."""
        return self.sweep.n_looks

    def row(self):
        """Return the values of `columns` after a pass."""
        return self.n_scores, self.lagrangian, self.infeasibility

    def run_pass(self):
        """Let every factor step; there is no estimate of the gap."""
        n_steps = self.sampler.begin_pass(self.problem.n_blocks)
        before, ascent = self.lagrangian, self.sweep.ascent
        self.sweep_blocks(n_steps)
        if self.stop.ends:
            self.infeasibility = np.nan
        self.lagrangian += self.sweep.ascent - ascent - self.decrease
        self.change = abs(self.lagrangian - before)
        return np.inf

    def sweep_blocks(self, n_steps, full=True):
        """Visit blocks; know what the steps gained and how far factors are from agreeing."""
        self.decrease, self.infeasibility = self.sweep.run_pass(
            self.sampler, n_steps, full, self.stop
        )

    def certify(self, evaluator):
        """Return P at the weights, with what is known of a lower bound."""
        if not self.exact:
            return UNKNOWN
        self.sweep.rebuild()
        return certify_weights(
            self.problem, self.regularizer, self.weights(), self.lower_bound(), evaluator
        )

    def lower_bound(self):
        """Return one of the optimum if consistent marginals are a dual point, else nan."""
        if not self.sweep.certifies:
            return np.nan
        return self.regularizer.dual(*self.sweep.consistent())

    def converged(self, certificate):
        """Return whether the gap says that the fit may end, or, where there is none, all else."""
        if np.isnan(certificate.gap):
            stationary = self.change <= self.tolerance.share * abs(self.lagrangian)
            return self.infeasibility <= self.tolerance.share and stationary
        return super().converged(certificate)

    def last_weights(self):
        """Return the weights without the rounding of many moves."""
        self.sweep.rebuild()
        return self.weights()
