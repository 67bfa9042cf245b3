"""A run of dual-decomposed training."""

import numpy as np

from sskit.solvers.common.certificate import certify_weights
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import UNKNOWN
from sskit.solvers.dual_decomposition.factors.consistent import ConsistentPoint
from sskit.solvers.dual_decomposition.factors.momentum import Momentum

# Passes after which infeasibility must have fallen, or momentum is halved.
PATIENCE = 20
# Share of it below which halving ends it: a look at all mixes costs more than it brings.
LEAST_SHARE = 0.05


class Share:
    """A share of momentum, halved when factors come no nearer to agreeing: with too much of it
    they never do. None is left where a twentieth would not be.

    Parameters
    ----------
    value : float
        At first.

    Attributes
    ----------
    value : float
        Now.
    """

    def __init__(self, value):
        self.value = value
        self.least = self.least_before = np.inf
        self.n_passes = 0

    def notice(self, infeasibility):
        """Learn the infeasibility after a pass."""
        self.least = min(self.least, infeasibility)
        self.n_passes += 1
        if self.n_passes == PATIENCE:
            if 0.0 < self.least >= self.least_before:
                self.value = self.value / 2 if self.value >= 2 * LEAST_SHARE else 0.0
            self.least, self.least_before, self.n_passes = np.inf, self.least, 0


class FactorRun(Run):
    """State of one run: passes over all factors, and certificates.

    Parameters
    ----------
    problem : Problem
        What to solve.
    regularizer : Regularizer
        Holds lam and w.
    sweep : Sweep or SharedSweep
        Visits the blocks.
    sampler : Sampler
        Order of the blocks.
    exact : bool, default=True
        Whether exact passes ask the oracle of whole structures; else nobody does.
    stored_passes : int, default=0
        Passes among the states of the mixes after each pass with the oracles.
    momentum : float, default=0.0
        Share of what the last pass has moved by which the mixes move on before the next, at first;
        see `Share`.

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

    def __init__(
        self, problem, regularizer, sweep, sampler, exact=True, stored_passes=0, momentum=0.0
    ):
        super().__init__()
        self.problem = problem
        self.regularizer = regularizer
        self.sweep = sweep
        self.sampler = sampler
        self.exact = exact
        self.stored_passes = stored_passes
        self.momentum = Share(momentum)
        self.state = sweep.state
        self.unit = self.state.largest_loss()
        self.leaps = Momentum(self.state) if momentum > 0.0 else None
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
        before = self.lagrangian
        self.leap()
        ascent = self.state.ascent
        self.sweep_blocks(n_steps)
        if self.stop.ends:
            self.infeasibility = np.nan
        self.lagrangian += self.state.ascent - ascent - self.decrease
        self.change = abs(self.lagrangian - before)
        self.momentum.notice(self.infeasibility)
        return np.inf

    def leap(self):
        """Let the mixes move on in the direction of the last pass."""
        if self.momentum.value == 0.0:
            self.leaps = None  # with what it remembers
        if self.leaps is not None:
            self.leaps.leap(self.momentum.value)
            self.sweep.notice()
            self.lagrangian = self.state.lagrangian()

    def sweep_blocks(self, n_steps):
        """Visit blocks; know what the steps gained and how far factors are from agreeing."""
        self.decrease, self.infeasibility = self.sweep.run_pass(self.sampler, n_steps, self.stop)
        for _ in range(self.stored_passes):
            if self.stop.ends:
                break
            # multipliers rest: of factors that lack a state they would run away
            decrease, self.infeasibility = self.sweep.run_stored_pass(0.0, self.stop)
            self.decrease += decrease

    def certify(self, evaluator):
        """Return P at the weights, with what is known of a lower bound."""
        if not self.exact:
            return UNKNOWN
        self.sweep.rebuild()
        return certify_weights(
            self.problem, self.regularizer, self.weights(), self.lower_bound(), evaluator
        )

    def lower_bound(self):
        """Return one of the optimum if the graphs are forests, else nan."""
        if not self.state.factors.forest:
            return np.nan
        return self.regularizer.dual(*ConsistentPoint(self.state).compute())

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
