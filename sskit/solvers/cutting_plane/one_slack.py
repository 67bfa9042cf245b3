"""States of runs of the cutting-plane method that look at all training pairs."""

import numpy as np

from sskit.core.stop import CutShort
from sskit.solvers.common.certificate import certify_weights
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import Certificate

# The program over the cuts is solved to this share of the gap, but not beyond what rounding
# leaves of the objective.
ACCURACY = 1e-3
ROUNDING = 1e-15


class CuttingPlaneRun(Run):
    """State of one run of the cutting-plane method.

    Parameters
    ----------
    regularizer : Regularizer
        Holds lam, v and w; w is the solution of the program.
    source : ExactCuts
        Where cuts come from.
    program : CutProgram
        The program over the cuts.
    damping : float
        Share of the best w in the next one.
    cut_life : int
        Number of passes after which a cut without weight is dropped.

    Attributes
    ----------
    best : ndarray of shape (n_weights,)
        The best w so far.
    hinge, primal : float
        Mean hinge and objective there, by the best known planes.
    most : float
        What the mean hinge is at most there, if the oracle is exact or bounds what it misses.
    bound : float
        Lower bound of the optimum.
    """

    proves = True

    def __init__(self, regularizer, source, program, damping, cut_life):
        super().__init__()
        self.regularizer = regularizer
        self.source = source
        self.program = program
        self.damping = damping
        self.cut_life = cut_life
        self.best = regularizer.coef()
        self.hinge = self.primal = self.most = np.inf
        self.bound = program.value()

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far."""
        return self.source.n_oracle_calls

    def weights(self):
        """Return a copy of the best weights so far."""
        return self.best.copy()

    def next_weights(self):
        """Return the weights that the next pass asks about."""
        return self.damping * self.best + (1.0 - self.damping) * self.regularizer.coef()

    def run_pass(self):
        """Add one cut and solve the program; return the gap. A pass cut short does neither."""
        w = self.next_weights()
        try:
            hinge, most = self.ask(w)
        except CutShort:
            return np.inf
        self.primal = self.regularizer.primal(self.best, self.hinge)
        primal = self.regularizer.primal(w, hinge)
        if primal < self.primal:
            self.best, self.hinge, self.primal, self.most = w, hinge, primal, most
        gap = max(self.primal - self.bound, self.tolerance.gap_at(self.primal))
        tolerance = max(ACCURACY * gap, ROUNDING * self.primal)
        self.bound = max(self.bound, self.program.solve(tolerance))
        self.program.drop_idle(self.cut_life)
        return self.primal - self.bound

    def ask(self, w):
        """Add the cut of these weights; return the mean hinge there, and what it is at most."""
        finding = self.source.at(self.regularizer.padded(w))
        self.program.add(finding.cut)
        # an inexact oracle may have found before, or find now, what it misses elsewhere
        self.hinge = max(self.hinge, finding.cut.bound(self.regularizer.covector(self.best)))
        hinge = self.program.bound(w)
        # no rounding stands between the two where the answers are proven best
        most = max(hinge, finding.hinge + finding.excess) if finding.excess else hinge
        return hinge, most

    def lower_bound(self):
        """Return the objective of the program over the cuts."""
        return self.bound

    def certify(self, evaluator):
        """Return the certificate of the best weights; their pass was exact already."""
        if np.isinf(self.primal):
            # there has been none
            return certify_weights(
                self.source.problem, self.regularizer, self.best, self.bound, evaluator
            )
        missed = max(self.most - self.hinge, 0.0)
        return Certificate(
            self.best.copy(),
            self.primal,
            self.bound,
            self.primal - self.bound,
            self.proves,
            missed,
        )


class LinearCutRun(CuttingPlaneRun):
    """The same with sampled cuts: the objective is exact, the bound holds with high probability.

    Its source is of `LinearCuts`.
    """

    proves = False

    def ask(self, w):
        """Add a sampled cut of these weights; return the mean hinge, and what it is at most."""
        level = self.program.bound(w) + self.tolerance.gap_above(self.bound)
        hinge, cut, excess = self.source.at(self.regularizer.padded(w), level)
        self.program.add(cut)
        return hinge, hinge + excess
