"""A run on a softened problem, and the watch over it."""

import numpy as np

from sskit.core.stop import CutShort
from sskit.solvers.dual_decomposition.factors.soft_gap import SoftGap
from sskit.solvers.dual_decomposition.run import FactorRun, Watch


class SoftRun(FactorRun):
    """State of one run: a `FactorRun` without multipliers.

    Parameters
    ----------
    problem, regularizer, sweep, sampler : object
        As for `FactorRun`; the step of the multipliers is 0, the oracles look at all states.
    scale : float
        Unit of rho.
    """

    def __init__(self, problem, regularizer, sweep, sampler, scale):
        super().__init__(problem, regularizer, sweep, sampler, stored_passes=0)
        self.scale = scale
        self._gap = SoftGap(self.state, sweep.nodes, sweep.edges)

    @property
    def rho(self):
        """Weight of the disagreement, in the unit of the parameter."""
        return self.state.rho / self.scale

    def soft_gap(self):
        """Return the duality gap of the softened problem, by a pass that moves nothing."""
        return self._gap.compute(self.stop)

    def harden(self, growth):
        """Multiply the weight of the disagreement."""
        self.state.rho *= growth
        self.lagrangian = self.state.lagrangian()


class SoftWatch(Watch):
    """Goes on with a run until the softened problem is solved, at the last weight of all.

    Parameters
    ----------
    run : SoftRun
        The run.
    evaluator : Evaluator or None
        Makes the exact passes; None for none.
    gap_every : int
        Number of passes between looks at the gaps.
    tol : float
        Relative tolerance.
    verbose : int
        Above 0, log at level INFO, else at level DEBUG.
    growth : float
        By which the weight of the disagreement grows once a softened problem is solved.
    """

    name = "Soft-BCFW"

    def __init__(self, run, evaluator, gap_every, tol, verbose, growth):
        super().__init__(run, evaluator, gap_every, tol, verbose)
        self.growth = growth
        self.soft_gap = np.nan
        self.soft_rows = []
        self.hardens = False

    def may_stop(self, change, last):
        """Return whether the tolerance is reached; see whether disagreement is to weigh more."""
        self.soft_gap, self.hardens = np.nan, False
        super().may_stop(change, last)  # makes the exact pass if it is time for one
        done = self.known is not None and self.known.gap <= self.tol * self.run.unit
        if last or self.n_iter % self.gap_every == 0:
            try:
                self.soft_gap = self.run.soft_gap()
            except CutShort:
                if self.known is None:
                    raise
                return done
            if not done and self.soft_gap <= self.tol * self.run.unit:
                done = self.hard_enough()
                self.hardens = not done and not last
        return done

    def record(self):
        """Add what is known after a pass to the history; then the disagreement may weigh more."""
        super().record()
        self.soft_rows.append((self.soft_gap, self.run.rho))
        if self.hardens:
            self.run.harden(self.growth)

    def hard_enough(self):
        """Return whether a softened problem that is solved was the last one."""
        if self.growth == 1.0:
            return True
        # where there is a gap of the original problem, it decides
        bounded = self.known is not None and not np.isnan(self.known.gap)
        return not bounded and self.run.infeasibility <= self.tol

    def solution(self, status):
        """Return the weights and what is known of them.

        Parameters
        ----------
        status : Status
            What `reach` returned.

        Returns
        -------
        solution : Solution
            Its history has the columns soft_gap and rho too.
        """
        solution = super().solution(status)
        soft_gap, rho = np.array(self.soft_rows).T.copy()
        solution.history.update(soft_gap=soft_gap, rho=rho)
        return solution
