"""What solvers that work factor by factor share, and their runs."""

import numpy as np

from sskit.core.sampler import PermutationSampler
from sskit.solvers.common.certificate import certify_weights
from sskit.solvers.common.checks import COUNT, FINITE
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import UNKNOWN
from sskit.solvers.common.solver import Solver


class FactorSolver(Solver):
    """Base of the solvers that visit nodes and edges: whom they refuse.

    A subclass has a `name`, by which estimators know it, says in `_sweep` how blocks are visited,
    and may have a `_run` of its own.
    """

    keeps_dual_point = keeps_bounds = looks_at_all = False
    name = ""
    _parameter_constraints = {
        **Solver._parameter_constraints,
        "rho": [FINITE],
        "gap_every": [COUNT, None],
    }

    def start(self, problem, regularizer, random_state, gaps=None, pool=None):
        """Return the state of a new run.

        Parameters
        ----------
        problem : Problem
            What to solve; has factors.
        regularizer : Regularizer
            Holds lam and w = 0; must have no bounds.
        random_state : RandomState
            Source of randomness.
        gaps : ndarray of shape (n_blocks,), default=None
            Not used.
        pool : Pool, default=None
            Not used.

        Returns
        -------
        run : FactorRun
            The state.
        """
        factors = problem.decomposition()
        if factors is None:
            raise ValueError(
                f"the solver {self.name!r} needs a model that is a sum over nodes and edges with "
                f"scores of their own, which {problem.name} has not; use the solver "
                "'bcfw'"
            )
        self.resolved(problem, regularizer.bounded)
        sampler = PermutationSampler(problem.n_blocks, random_state)
        sweep = self._sweep(factors, regularizer.lam, regularizer.v, random_state)
        return self._run(problem, regularizer, sweep, sampler, self.gap_every is not None)


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
    exact : bool
        Whether exact passes ask the oracle of whole structures; else nobody does.

    Attributes
    ----------
    unit : float
        P(0) where every labelling is allowed, else a bound of it.
    change : float
        By how much the last pass moved the augmented Lagrangian.
    """

    columns = {"n_scores": np.int64, "lagrangian": np.float64, "infeasibility": np.float64}
    change = 0.0

    def __init__(self, problem, regularizer, sweep, sampler, exact):
        super().__init__()
        self.problem = problem
        self.regularizer = regularizer
        self.sweep = sweep
        self.sampler = sampler
        self.exact = exact
        self.unit = sweep.largest_loss()

    def row(self):
        """Return the values of `columns` after a pass."""
        return self.sweep.n_looks, self.sweep.lagrangian, self.sweep.infeasibility

    def run_pass(self):
        """Let every factor step; there is no estimate of the gap."""
        n_steps, before = self.sampler.begin_pass(self.problem.n_blocks), self.sweep.lagrangian
        self.sweep.run_pass(self.sampler, n_steps, stop=self.stop)
        if self.sweep.stores and not self.stop.ends:
            self.sweep.run_pass(stop=self.stop)
        self.change = abs(self.sweep.lagrangian - before)
        return np.inf

    def certify(self, evaluator):
        """Return P at the weights, with what is known of a lower bound."""
        if not self.exact:
            return UNKNOWN
        weights = self.last_weights()
        return certify_weights(
            self.problem, self.regularizer, weights, self.lower_bound(), evaluator
        )

    def lower_bound(self):
        """Return one of the optimum if consistent marginals are a dual point, else nan."""
        if not self.sweep.certifies:
            return np.nan
        return self.regularizer.dual(*self.sweep.consistent())

    def converged(self, certificate):
        """Return whether the gap says that the fit may end, or, where there is none, all else."""
        if np.isnan(certificate.gap):
            stationary = self.change <= self.tolerance.share * abs(self.sweep.lagrangian)
            return self.sweep.infeasibility <= self.tolerance.share and stationary
        return super().converged(certificate)

    def last_weights(self):
        """Return the weights without the rounding of many moves."""
        self.sweep.rebuild()
        return self.weights()
