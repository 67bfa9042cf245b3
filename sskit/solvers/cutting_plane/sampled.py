"""Cutting planes from samples, which never look at all training pairs."""

from collections import deque

import numpy as np

from sskit._numbers import capped
from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.core.stop import CutShort
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import Certificate
from sskit.solvers.cutting_plane.master_program import Cut
from sskit.solvers.cutting_plane.one_slack import ACCURACY, ROUNDING
from sskit.solvers.cutting_plane.separation import Finding, mean_of
from sskit.solvers.oracle_calls.vertices import Vertices


class Draws:
    """Samples of training pairs, with replacement and in proportion to their weights.

    Parameters
    ----------
    block_weight : ndarray of shape (n_blocks,)
        Their weights, summing to one.
    size : int
        Number r of draws.
    random_state : RandomState
        Source of randomness.
    """

    def __init__(self, block_weight, size, random_state):
        self.size = size
        self.random_state = random_state
        self.mass = np.cumsum(block_weight)

    def next(self):
        """Return a sample.

        Returns
        -------
        blocks : ndarray
            Who was drawn, in rising order.
        share : ndarray
            How often, in parts of all draws.
        """
        points = self.random_state.uniform(0.0, self.mass[-1], size=self.size)
        # a point may be rounded up to the end; of what weighs nothing there is no part to hit
        blocks = np.searchsorted(self.mass, points, side="right")
        blocks = np.minimum(blocks, np.searchsorted(self.mass, self.mass[-1]))
        blocks, counts = np.unique(blocks, return_counts=True)
        return blocks, counts / self.size


class WeightSamples:
    """Cuts from samples, as vectors of all weights.

    Parameters
    ----------
    problem : Problem
        What to solve.
    program : CutProgram
        The program over the cuts, which moves w.
    pool : Pool, default=None
        Asks the oracles; None asks one after the other.
    """

    def __init__(self, problem, program, pool=None):
        self.problem = problem
        self.program = program
        self.regularizer = program.regularizer
        self.vertices = Vertices(problem, problem.n_blocks, DualState(problem), pool)

    def at(self, blocks, share):
        """Ask the oracles of some blocks at the present w.

        Parameters
        ----------
        blocks : ndarray of shape (m,)
            Their numbers, which rise.
        share : ndarray of shape (m,)
            Their weights, summing to one.

        Returns
        -------
        finding : Finding
            Mean hinge and cut of the sample.

        Raises
        ------
        CutShort
            If a stop was due before all oracles had been asked.
        """
        padded = self.regularizer.padded(self.regularizer.coef())
        vector = np.zeros_like(padded)
        self.vertices.ask(blocks)
        self.vertices.look(padded)
        self.vertices.add(np.arange(len(blocks)), share, self.problem, blocks, vector)
        loss = float(np.dot(share, self.vertices.losses()))
        hinge, excess = mean_of(self.vertices, share)
        return Finding(hinge, Cut(loss, vector[: self.problem.n_weights]), excess)

    def level(self):
        """Return the largest of the cuts at the present w."""
        return self.program.bound(self.regularizer.coef())

    def add(self, cut):
        """Add the cut that was found last."""
        self.program.add(cut)

    def drop_idle(self, life):
        """Remove the cuts that have had no weight for `life` solutions."""
        self.program.drop_idle(life)

    def weights(self):
        """Return a copy of w."""
        return self.regularizer.coef()


class FunctionSamples:
    """Cuts from samples in a kernel space, as functions of the blocks that were drawn.

    A sample asks for its kernels with the support of all cuts, once: they say what each cut is
    there, hence what w is, and what inner products a new cut has with the others.

    Parameters
    ----------
    problem : Problem
        What to solve.
    program : MixProgram
        The program over the cuts.
    """

    def __init__(self, problem, program):
        self.problem = problem
        self.program = program
        self.cuts = []  # where every cut lives, but that of the truth, and its weights there
        self.products = None  # inner products of the cut that was found last

    def at(self, blocks, share):
        """Ask the oracles of some blocks at the present w; as in `WeightSamples`."""
        part = self.problem.restrict(blocks, share)
        space = Regularizer(self.program.lam, part.n_weights, part.space.covector)
        support = part.space.support
        views = support.evaluate(*(zip(*self.cuts, strict=True) if self.cuts else ([], [])))
        padded = space.padded(self.program.weight[1:] @ views / self.program.lam)
        vertices = Vertices(part, part.n_blocks, DualState(part))
        vector = np.zeros_like(padded)
        loss = vertices.find(padded, vector)
        vector = vector[: part.n_weights]
        column = np.array([0.0, *(space.inner(vector, view) for view in views)])
        self.products = column, space.inner(vector, vector)
        hinge, excess = mean_of(vertices, share)
        return Finding(hinge, Cut(loss, (support, vector)), excess)

    def level(self):
        """Return the largest of the cuts at the present w."""
        return float(self.program.values().max())

    def add(self, cut):
        """Add the cut that was found last."""
        self.program.border(cut.loss, *self.products)
        self.cuts.append(cut.vector)

    def drop_idle(self, life):
        """Remove the cuts that have had no weight for `life` solutions."""
        for place in reversed(self.program.drop_idle(life)):
            del self.cuts[place - 1]

    def weights(self):
        """Return a copy of w, but for the values of its functions."""
        out, whole = np.zeros(self.problem.n_weights), self.problem.space.support
        for weight, (support, vector) in zip(self.program.weight[1:], self.cuts, strict=True):
            if weight > 0.0:
                whole.add_expansion(support, weight / self.program.lam, vector, out)
        return out


class SampleRun(Run):
    """State of a run of the constant-time algorithm (Yu, Joachims 2008, algorithm 2).

    Parameters
    ----------
    draws : Draws
        Samples of blocks.
    samples : WeightSamples or FunctionSamples
        What the oracles find there.
    program : MixProgram
        The program over the cuts.
    patience : int
        Number of samples in a row that must not be violated.
    cut_life : int
        Number of new cuts after which one without weight is dropped.

    Attributes
    ----------
    unit : float
        Mean largest loss of the first sample.
    """

    def __init__(self, draws, samples, program, patience, cut_life):
        super().__init__()
        self.draws = draws
        self.samples = samples
        self.program = program
        self.cut_life = cut_life
        self.bound = program.value()
        # w is still zero
        self.finding = self.ask()
        self.unit = self.finding.hinge
        self.patience = capped(patience)
        self.violations = deque(maxlen=self.patience)
        self.excesses = deque(maxlen=self.patience)

    @property
    def goal(self):
        """By how much a cut may be violated when the fit ends."""
        return self.tolerance.gap_above(self.bound)

    def ask(self):
        """Draw a sample and ask it at the present w."""
        blocks, share = self.draws.next()
        finding = self.samples.at(blocks, share)
        self.n_oracle_calls += len(blocks)
        return finding

    def run_pass(self):
        """Draw a sample; if its cut is violated, add it and solve the program.

        Returns
        -------
        gap : float
            The violation; inf if the oracles of the sample were not all asked.
        """
        try:
            finding = self.ask() if self.finding is None else self.finding
        except CutShort as cut:
            self.n_oracle_calls += cut.n_answered
            return np.inf
        self.finding = None
        violation = finding.hinge - self.samples.level()
        self.violations.append(violation)
        self.excesses.append(finding.excess)
        if violation > self.goal:
            self.samples.add(finding.cut)
            tolerance = max(ACCURACY * self.goal, ROUNDING * self.unit)
            self.bound = self.program.solve(tolerance)
            self.samples.drop_idle(self.cut_life)
        return violation

    def lower_bound(self):
        """Return the optimum of the program, which is above that of the problem perhaps."""
        return self.bound

    def weights(self):
        """Return a copy of w."""
        return self.samples.weights()

    def certify(self, evaluator):
        """Return what the last samples say of w; nothing is proved.

        Until none of them was violated the gap is the largest violation; then their mean, for
        w has not moved since. What the oracles may have missed is the mean of these samples.
        """
        n_missing = self.patience - len(self.violations)
        gap = max(self.violations, default=self.unit)
        if n_missing:
            # of what was not drawn yet nothing is known
            gap = max(gap, self.unit)
        if gap <= self.goal:
            gap = float(np.sum(self.violations) + n_missing * self.unit) / self.patience
        missed = float(np.mean(self.excesses)) if self.excesses else 0.0
        return Certificate(None, self.bound + gap, self.bound, gap, False, missed)
