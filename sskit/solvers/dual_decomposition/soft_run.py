"""A run on a softened problem."""

import numpy as np

from sskit.core.stop import CutShort
from sskit.solvers.dual_decomposition.factors.soft_gap import SoftGap
from sskit.solvers.dual_decomposition.run import FactorRun


class SoftRun(FactorRun):
    """State of one run: a `FactorRun` without multipliers.

    Parameters
    ----------
    problem, regularizer, sweep, sampler, exact : object
        As for `FactorRun`; the step of the multipliers is 0, the oracles look at all states.
    scale : float
        Unit of rho.
    growth : float
        By which the weight of the disagreement grows once a softened problem is solved.

    Attributes
    ----------
    gap : float
        The duality gap of the softened problem; nan if nobody looked after the last pass.
    """

    columns = {**FactorRun.columns, "soft_gap": np.float64, "rho": np.float64}

    def __init__(self, problem, regularizer, sweep, sampler, exact, scale, growth):
        super().__init__(problem, regularizer, sweep, sampler, exact)
        self.scale = scale
        self.growth = growth
        self.gap = np.nan
        self.solved = False
        self._soft_gap = SoftGap(self.state, sweep.nodes, sweep.edges)

    @property
    def rho(self):
        """Weight of the disagreement, in the unit of the parameter."""
        return self.state.rho / self.scale

    def row(self):
        """Return the values of `columns` after a pass."""
        return *super().row(), self.gap, self.rho

    def soft_gap(self):
        """Return the duality gap of the softened problem, by a pass that moves nothing."""
        return self._soft_gap.compute(self.stop)

    def run_pass(self):
        """Let every factor step, perhaps with more weight of the disagreement than so far."""
        self.gap = np.nan
        if self.solved:
            self.harden(self.growth)
        return super().run_pass()

    def harden(self, growth):
        """Multiply the weight of the disagreement."""
        self.solved = False
        self.state.rho *= growth
        self.lagrangian = self.state.lagrangian()

    def certify(self, evaluator):
        """Return what `FactorRun` does; compute the gap of the softened problem."""
        certificate = super().certify(evaluator)
        try:
            self.gap = self.soft_gap()
        except CutShort:
            if not self.exact:
                raise
        return certificate

    def converged(self, certificate):
        """Return whether the problem is solved, or the last softened one."""
        if self.tolerance.holds(certificate):
            return True
        # the dual objective of the softened problem is minus its Lagrangian
        self.solved = self.gap <= self.tolerance.gap_above(-self.lagrangian)
        # where there is a gap of the original problem, it decides
        near = np.isnan(certificate.gap) and self.infeasibility <= self.tolerance.share
        return self.solved and (self.growth == 1.0 or near)
