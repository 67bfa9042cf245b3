"""Cutting planes from samples, which never look at all training pairs."""

from collections import deque
from typing import NamedTuple

import numpy as np

from sskit._numbers import capped
from sskit.core.dual import DualState
from sskit.core.regularizer import Regularizer
from sskit.core.stop import CutShort
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import Certificate
from sskit.solvers.cutting_plane.function_cuts import FunctionCuts
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


class Samples:
    """What oracles say at w, and at the average of all w so far.

    The solution of pass t has a weight in proportion to t in the average.

    Parameters
    ----------
    problem : Problem
        What to solve.
    program : MixProgram
        The program over the cuts.

    Attributes
    ----------
    average : object
        The average; w = 0 to begin with.
    """

    def __init__(self, problem, program, nothing):
        self.problem = problem
        self.program = program
        self.average = nothing
        self.n_averaged = 0

    def record(self):
        """Let w take part in the average."""
        self.n_averaged += 1
        self.average = self.blend(2.0 / (self.n_averaged + 1))


class WeightSamples(Samples):
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
        self.regularizer = program.regularizer
        super().__init__(problem, program, self.regularizer.coef())
        self.vertices = Vertices(problem, problem.n_blocks, DualState(problem), pool)

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far."""
        return self.vertices.n_calls

    def at(self, blocks, share):
        """Ask the oracles of some blocks.

        Parameters
        ----------
        blocks : ndarray of shape (m,)
            Their numbers, which rise.
        share : ndarray of shape (m,)
            Their weights, summing to one.

        Returns
        -------
        finding : Finding
            Mean hinge and cut of the sample at the present w.
        primal : float
            Objective at the average, by its mean hinge on the sample.

        Raises
        ------
        CutShort
            If a stop was due before all oracles had been asked.
        """
        self.vertices.ask(blocks)
        self.vertices.look(self.regularizer.padded(self.average))
        primal = self.regularizer.primal(self.average, mean_of(self.vertices, share)[0])
        padded = self.regularizer.padded(self.regularizer.coef())
        vector = np.zeros_like(padded)
        self.vertices.look(padded)
        self.vertices.add(np.arange(len(blocks)), share, self.problem, blocks, vector)
        loss = float(np.dot(share, self.vertices.losses()))
        hinge, excess = mean_of(self.vertices, share)
        return Finding(hinge, Cut(loss, vector[: self.problem.n_weights]), excess), primal

    def level(self):
        """Return the largest of the cuts at the present w."""
        return self.program.bound(self.regularizer.coef())

    def add(self, cut):
        """Add the cut that was found last."""
        self.program.add(cut)

    def drop_idle(self, life):
        """Remove the cuts that have had no weight for `life` solutions."""
        self.program.drop_idle(life)

    def blend(self, share):
        """Return the average with this share of w."""
        return self.average + share * (self.regularizer.coef() - self.average)

    def last(self):
        """Return the present w, as the average is held."""
        return self.regularizer.coef()

    def weights(self, point):
        """Return a copy of the weights of the average or the present w."""
        return point.copy()


class Mix(NamedTuple):
    """A point of a kernel space.

    Attributes
    ----------
    functions : tuple
        From `FunctionCuts.mix`.
    products : ndarray of shape (n_cuts,)
        Inner products with all cuts that there are at the time.
    square : float
        Squared norm.
    """

    functions: tuple
    products: np.ndarray
    square: float


class FunctionSamples(Samples):
    """Cuts from samples in a kernel space, as functions of the blocks that were drawn.

    A sample asks for its kernels with the support of w and of the averages, and if its cut is
    added, those that were wrong for theirs with the support of all cuts.

    Parameters
    ----------
    problem : Problem
        What to solve.
    program : MixProgram
        The program over the cuts.
    """

    def __init__(self, problem, program):
        self.cuts = FunctionCuts(problem.space.support)  # all but that of the truth
        super().__init__(problem, program, Mix(self.cuts.mix([]), np.zeros(1), 0.0))
        self.n_oracle_calls = 0
        self.found = None  # support, space and view of the average, of the sample of last

    def at(self, blocks, share):
        """Ask the oracles of some blocks; as in `WeightSamples`."""
        lam = self.program.lam
        part = self.problem.restrict(blocks, share)
        space = Regularizer(lam, part.n_weights, part.space.covector)
        support = part.space.support
        view, average = self.cuts.at(support, [self.mix(), self.average.functions])
        vertices = Vertices(part, part.n_blocks, DualState(part))
        vertices.look(space.padded(average))
        primal = 0.5 * lam * self.average.square + mean_of(vertices, share)[0]
        padded = space.padded(view)
        vector = np.zeros_like(padded)
        loss = vertices.find(padded, vector)
        hinge, excess = mean_of(vertices, share)
        self.n_oracle_calls += vertices.n_calls
        self.found = support, space, average
        return Finding(hinge, Cut(loss, vector[: part.n_weights]), excess), primal

    def mix(self):
        """Return the functions of w."""
        return self.cuts.mix(self.program.weight[1:] / self.program.lam)

    def level(self):
        """Return the largest of the cuts at the present w."""
        return float(self.program.values().max())

    def add(self, cut):
        """Add the cut that was found last."""
        support, space, view = self.found
        column = np.array([0.0, *self.cuts.products(support, cut.vector)])
        self.program.border(cut.loss, column, space.inner(cut.vector, cut.vector))
        self.cuts.append(support, cut.vector)
        product = space.inner(cut.vector, view)
        self.average = self.average._replace(products=np.append(self.average.products, product))

    def drop_idle(self, life):
        """Remove the cuts that have had no weight for `life` solutions."""
        n_cuts = self.program.n_cuts
        dropped = self.program.drop_idle(life)
        if len(dropped):
            stay = np.delete(np.arange(n_cuts), dropped)
            self.cuts.keep(stay[1:] - 1)
            self.average = self.average._replace(products=self.average.products[stay])

    def last(self):
        """Return the present w, as the average is held."""
        weight, lam = self.program.weight, self.program.lam
        products = self.program.gram @ weight / lam
        return Mix(self.mix(), products, float(weight @ products) / lam)

    def blend(self, share):
        """Return the average with this share of w."""
        new, old = self.last(), self.average
        between = float(self.program.weight @ old.products) / self.program.lam
        linear, coefficients = (share * part for part in new.functions)
        linear += (1.0 - share) * old.functions[0]
        coefficients[:, : old.functions[1].shape[1]] += (1.0 - share) * old.functions[1]
        square = (1.0 - share) ** 2 * old.square + share**2 * new.square
        return Mix(
            (linear, coefficients),
            (1.0 - share) * old.products + share * new.products,
            square + 2.0 * share * (1.0 - share) * between,
        )

    def weights(self, point):
        """Return the weights of a point, but for the values of its functions."""
        out = np.zeros(self.problem.n_weights)
        self.cuts.expand(point.functions, out)
        return out


class SampleRun(Run):
    """State of a run of the constant-time algorithm (Yu, Joachims 2008, algorithm 2).

    Its weights are the last ones, or the average if that has the lower objective by the samples.

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
        self.patience = capped(patience)
        self.violations = deque(maxlen=self.patience)
        self.excesses = deque(maxlen=self.patience)
        self.primals = deque(maxlen=self.patience)  # of the average
        self.averaged = False
        # w is still zero
        self.finding = self.ask()
        self.unit = self.finding[0].hinge

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far."""
        return self.samples.n_oracle_calls

    @property
    def goal(self):
        """By how much a cut may be violated when the fit ends."""
        return self.tolerance.gap_above(self.bound)

    def ask(self):
        """Draw a sample and ask it."""
        blocks, share = self.draws.next()
        return self.samples.at(blocks, share)

    def run_pass(self):
        """Draw a sample; if its cut is violated, add it and solve the program.

        Returns
        -------
        gap : float
            The violation; inf if the oracles of the sample were not all asked.
        """
        try:
            finding, primal = self.ask() if self.finding is None else self.finding
        except CutShort:
            return np.inf
        self.finding = None
        violation = finding.hinge - self.samples.level()
        self.violations.append(violation)
        self.excesses.append(finding.excess)
        self.primals.append(primal)
        if violation > self.goal:
            self.samples.add(finding.cut)
            tolerance = max(ACCURACY * self.goal, ROUNDING * self.unit)
            self.bound = self.program.solve(tolerance)
            self.samples.drop_idle(self.cut_life)
        self.samples.record()
        return violation

    def lower_bound(self):
        """Return the optimum of the program, which is above that of the problem perhaps."""
        return self.bound

    def weights(self):
        """Return a copy of w."""
        samples = self.samples
        return samples.weights(samples.average if self.averaged else samples.last())

    def certify(self, evaluator):
        """Return what the last samples say of w or of the average; nothing is proved.

        Until none of them was violated the gap of w is the largest violation; then their mean, for
        w has not moved since. What the oracles may have missed is the mean of these samples.
        """
        n_missing = self.patience - len(self.violations)
        gap = max(self.violations, default=self.unit)
        if n_missing:
            # of what was not drawn yet nothing is known
            gap = max(gap, self.unit)
        if gap <= self.goal:
            gap = float(np.sum(self.violations) + n_missing * self.unit) / self.patience
        primal = self.bound + gap
        average = primal if n_missing else float(np.mean(self.primals))
        self.averaged = average < primal
        primal = min(average, primal)
        missed = float(np.mean(self.excesses)) if self.excesses else 0.0
        return Certificate(None, primal, self.bound, primal - self.bound, False, missed)
