"""States of runs of the cutting-plane method that look at all training pairs."""

import numpy as np

from sskit.core.stop import CutShort
from sskit.solvers.common.certificate import certify_weights
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import Certificate
from sskit.solvers.cutting_plane.master_program import CutProgram
from sskit.solvers.cutting_plane.separation import exact_cut, linear_cut
from sskit.solvers.oracle_calls.vertices import Vertices

# The program over the cuts is solved to this share of the gap, but not beyond what rounding
# leaves of the objective.
ACCURACY = 1e-3
ROUNDING = 1e-15


class CuttingPlaneRun(Run):
    """State of one run of the cutting-plane method.

    Parameters
    ----------
    problem : Problem
        What to solve.
    regularizer : Regularizer
        Holds lam, v and w; w is the solution of the program.
    pool : Pool or None
        Asks the oracles; None asks one after the other.
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

    def __init__(self, problem, regularizer, pool, damping, cut_life):
        super().__init__()
        self.problem = problem
        self.regularizer = regularizer
        self.vertices = Vertices(problem, problem.n_blocks, None, pool)
        self.program = CutProgram(regularizer)
        self.damping = damping
        self.cut_life = cut_life
        self.best = regularizer.coef()
        self.hinge = self.primal = self.most = np.inf
        self.bound = self.program.value()

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far."""
        return self.vertices.n_calls

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
        finding = exact_cut(self.vertices, self.regularizer.padded(w), self.problem.block_weight)
        self.program.add(finding.cut)
        # an inexact oracle may have found before, or find now, what it misses elsewhere
        self.hinge = max(self.hinge, finding.cut.bound(self.regularizer.covector(self.best)))
        hinge = float(self.program.bounds(w).max())
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
            return certify_weights(self.problem, self.regularizer, self.best, self.bound, evaluator)
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

    Parameters
    ----------
    *args : object
        As for exact cuts.
    cut_size : int
        Number r of draws.
    random_state : RandomState
        Source of randomness.
    """

    proves = False

    def __init__(self, *args, cut_size, random_state):
        super().__init__(*args)
        self.draws = cut_size, random_state

    def ask(self, w):
        """Add a sampled cut of these weights; return the mean hinge, and what it is at most."""
        level = float(self.program.bounds(w).max()) + self.tolerance.gap_above(self.bound)
        padded, weight = self.regularizer.padded(w), np.asarray(self.problem.block_weight)
        hinge, cut, excess = linear_cut(self.vertices, padded, weight, level, *self.draws)
        self.program.add(cut)
        return hinge, hinge + excess
