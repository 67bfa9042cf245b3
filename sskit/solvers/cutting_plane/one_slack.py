"""Cutting planes in the one-slack formulation, whose cuts are sums over all pairs."""

from typing import NamedTuple

import numpy as np

from sskit.core.stop import CutShort
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import Certificate, certify_weights
from sskit.solvers.cutting_plane.cuts import HingeCut
from sskit.solvers.cutting_plane.master_program import CutProgram
from sskit.solvers.oracle_calls.pool import Answers, Pool

# The program over the cuts is solved to this fraction of the gap, but not beyond the rounding of
# the objective.
ACCURACY = 1e-3
ROUNDING = 1e-15
# A sampled cut is drawn at most so often: every second draw suffices on average.
DRAWS = 100


class Finding(NamedTuple):
    """The result of one round of oracle calls at one w.

    Attributes
    ----------
    hinge : float
        Mean hinge there, of all blocks that were evaluated.
    cut : HingeCut
        Made of them, or of some of them.
    excess : float
        Upper bound of what the oracle has missed of it, if it has one.
    """

    hinge: float
    cut: HingeCut
    excess: float = 0.0


def mean_of(vertices, weight):
    """Return the mean hinge of the answers, and their excess, with these weights."""
    return float(np.dot(weight, vertices.hinges())), float(np.dot(weight, vertices.excesses()))


def draw(weight, size, random_state):
    """Draw with replacement, in proportion to weights.

    Parameters
    ----------
    weight : ndarray of shape (n,)
        Not negative, some positive.
    size : int
        Number r of draws.
    random_state : RandomState
        Source of randomness.

    Returns
    -------
    places : ndarray
        Places that were drawn, ascending.
    fraction : ndarray
        How often each, as a fraction of all draws.
    """
    drawn = random_state.choice(len(weight), size, p=weight / weight.sum())
    places, counts = np.unique(drawn, return_counts=True)
    return places, counts / size


def exact_cut(vertices, padded, weight):
    """Call oracles at w and return the cut of all of them.

    Parameters
    ----------
    vertices : Answers
        Calls them.
    padded : ndarray of shape (n_weights + LANES,)
        Padded weights.
    weight : ndarray of shape (n,)
        Of those that are evaluated.

    Returns
    -------
    finding : Finding
        The value of the cut at w is the mean hinge there, as far as the oracle is exact.

    Raises
    ------
    CutShort
        If the fit is to stop before all oracles were called.
    """
    vertices.evaluate(padded)
    loss = float(np.dot(weight, vertices.losses()))
    hinge, excess = mean_of(vertices, weight)
    vector = vertices.sum(np.arange(len(weight)), weight)
    return Finding(hinge, HingeCut(loss, vector), excess)


def linear_cut(vertices, padded, weight, level, size, random_state):
    """Call all oracles at w; a sample makes the gradient (Yu, Joachims 2008, algorithm 3).

    Parameters
    ----------
    vertices, padded, weight : object
        As for exact cuts.
    level : float
        Value that the cut should exceed at w, if the mean hinge does; if 100 samples do not, the
        best of them is taken.
    size : int
        Number r of draws.
    random_state : RandomState
        Source of randomness.

    Returns
    -------
    finding : Finding
        The mean hinge is that of all pairs, as far as the oracle is exact. The cut has the
        loss of the exact one and the mean gradient of r draws from the pairs that have a
        loss or a hinge, with their weights.
    """
    vertices.evaluate(padded)
    losses, hinges = vertices.losses(), vertices.hinges()
    (hinge, excess), loss = mean_of(vertices, weight), float(np.dot(weight, losses))
    # an answer may be wrong without a loss, if the mistake has no cost
    wrong = np.flatnonzero(((losses > 0.0) | (hinges > 0.0)) & (weight > 0.0))
    if not len(wrong):
        return Finding(hinge, HingeCut(0.0, vertices.sum(wrong, weight[wrong])), excess)
    mass = weight[wrong].sum()
    scores = mass * (losses[wrong] - hinges[wrong])  # <w, B psi>
    best = -np.inf
    for _ in range(DRAWS):
        places, fraction = draw(weight[wrong], size, random_state)
        value = loss - float(fraction @ scores[places])
        if value > best:
            best, drawn = value, (wrong[places], mass * fraction)
        if value > level or hinge <= level:
            break
    return Finding(hinge, HingeCut(loss, vertices.sum(*drawn)), excess)


class CuttingPlaneRun(Run):
    """State of one run of the cutting-plane method.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        Holds lam, v and w; w is the solution of the program.
    pool : Pool or None
        Calls the oracles; None calls them one after the other.
    damping : float
        Fraction of the best w in the next one.
    cut_life : int
        Number of passes after which a cut without weight is dropped.

    Attributes
    ----------
    best : ndarray of shape (n_weights,)
        The best w so far.
    hinge, primal : float
        Mean hinge and objective there, by the best known planes.
    most : float
        Upper bound of the mean hinge there, if the oracle is exact or has upper bounds.
    bound : float
        Lower bound of the optimum.
    """

    proves = True

    def __init__(self, problem, regularizer, pool, damping, cut_life):
        super().__init__(problem, regularizer)
        self.vertices = Answers(pool or Pool(problem), planes=True)
        self.program = CutProgram(regularizer)
        self.damping = float(damping)
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
        """Return the weights at which the next pass calls the oracles."""
        return self.damping * self.best + (1.0 - self.damping) * self.regularizer.coef()

    def run_pass(self):
        """Add one cut and solve the program; return the gap. A pass cut short does neither."""
        w = self.next_weights()
        try:
            hinge, most = self.find_cut(w)
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

    def find_cut(self, w):
        """Add the cut of these weights; return the mean hinge there, and its upper bound."""
        finding = exact_cut(self.vertices, self.regularizer.padded(w), self.problem.block_weight)
        self.program.add(finding.cut)
        # an inexact oracle may have found a better plane before, or find one now
        self.hinge = max(self.hinge, finding.cut.bound(self.regularizer.covector(self.best)))
        hinge = float(self.program.bounds(w).max())
        # if the answers are proved best, the two are equal to the last bit
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
            self.best.copy(), self.primal, self.bound, self.primal - self.bound, self.proves, missed
        )


class LinearCutRun(CuttingPlaneRun):
    """The linear-time algorithm, with sampled cuts (Yu, Joachims 2008, algorithm 3).

    The objective is exact, the bound holds with high probability.

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

    def find_cut(self, w):
        """Add a sampled cut of these weights; return the mean hinge, and its upper bound."""
        level = float(self.program.bounds(w).max()) + self.tolerance.gap_above(self.bound)
        padded, weight = self.regularizer.padded(w), np.asarray(self.problem.block_weight)
        hinge, cut, excess = linear_cut(self.vertices, padded, weight, level, *self.draws)
        self.program.add(cut)
        return hinge, hinge + excess
