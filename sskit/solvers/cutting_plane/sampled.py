"""Cutting planes from samples of the training pairs (Yu & Joachims 2008)."""

from collections import deque

import numpy as np

from sskit._numbers import capped
from sskit.core.regularizer import Regularizer
from sskit.core.stop import CutShort
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import Certificate
from sskit.solvers.cutting_plane.cuts import CutVectors
from sskit.solvers.cutting_plane.master_program import CutProgram, MixProgram
from sskit.solvers.cutting_plane.one_slack import ACCURACY, ROUNDING, draw, exact_cut, mean_of
from sskit.solvers.oracle_calls.pool import Answers, Pool


class SampleRun(Run):
    """State of a run of the constant-time algorithm (Yu, Joachims 2008, algorithm 2).

    Its weights are the average of the solutions of all programs so far.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        Holds lam, v and w; w is the solution of the program.
    pool : Pool or None
        Calls the oracles; None calls them one after the other.
    size : int
        Number r of draws.
    patience : int
        Number of samples that the objective is estimated on.
    random_state : RandomState
        Source of randomness.

    Attributes
    ----------
    unit : float
        Mean largest loss of the first sample.
    """

    def __init__(self, problem, regularizer, pool, size, patience, random_state):
        super().__init__(problem, regularizer)
        self.size, self.random_state = size, random_state
        self.begin(pool)
        self.bound = self.program.value()
        # w is still zero
        self.first_sample = self.draw_sample()
        self.unit = self.first_sample[0].hinge
        # objective and excess of the average
        self.primals = deque(maxlen=capped(patience))

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far."""
        return self.vertices.n_calls

    def begin(self, pool):
        """Make the program of the cuts, here vectors of all weights."""
        self.program = CutProgram(self.regularizer)
        self.vertices = Answers(pool or Pool(self.problem), planes=True)

    def at(self, blocks, weight):
        """Call the oracle of some blocks.

        Parameters
        ----------
        blocks : ndarray of shape (m,)
            Their numbers, which rise.
        weight : ndarray of shape (m,)
            Their weights, summing to one.

        Returns
        -------
        finding : Finding
            Mean hinge and cut of the sample at the present w.
        primal, excess : float
            Objective at the average, by its mean hinge on the sample, and its excess.

        Raises
        ------
        CutShort
            If the fit is to stop before all oracles were called.
        """
        average = self.weights()
        self.vertices.choose(blocks)
        self.vertices.evaluate(self.regularizer.padded(average))
        hinge, excess = mean_of(self.vertices, weight)
        finding = exact_cut(self.vertices, self.regularizer.padded(self.regularizer.coef()), weight)
        return finding, self.regularizer.primal(average, hinge), excess

    def add(self, cut):
        """Add the last cut found."""
        self.program.add(cut)

    def weights(self):
        """Return a copy of the average."""
        return self.regularizer.image(self.program.dual_sum(self.program.average))

    def draw_sample(self):
        """Draw a sample and call its oracles."""
        weight = np.asarray(self.problem.block_weight)
        return self.at(*draw(weight, self.size, self.random_state))

    def run_pass(self):
        """Draw a sample; if its cut is violated, add it and solve the program.

        Returns
        -------
        gap : float
            The violation; inf if not all oracles of the sample were called.
        """
        try:
            finding, primal, excess = (
                self.draw_sample() if self.first_sample is None else self.first_sample
            )
        except CutShort:
            return np.inf
        self.first_sample = None
        self.primals.append((primal, excess))
        violation, goal = finding.hinge - self.program.values().max(), self.goal
        if violation > goal:
            self.add(finding.cut)
            self.bound = self.program.solve(max(ACCURACY * goal, ROUNDING * self.unit))
        self.program.record()
        return violation

    @property
    def goal(self):
        """Violation up to which a cut is not added."""
        return self.tolerance.gap_above(self.bound)

    def lower_bound(self):
        """Return the optimum of the program, which may be above that of the problem."""
        return self.bound

    def certify(self, evaluator):
        """Return the estimate for the average by the last samples; nothing is proved."""
        patience = self.primals.maxlen
        # samples that are not drawn yet count with the largest loss of the first
        unknown = (patience - len(self.primals)) * np.array([self.unit, 0.0])
        primal, missed = ((np.sum(self.primals, axis=0) + unknown) / patience).tolist()
        return Certificate(None, primal, self.bound, primal - self.bound, False, missed)


class KernelSampleRun(SampleRun):
    """The same in a kernel space, with cuts as functions of the rows that were drawn.

    A sample needs its kernels with the support of w and of the average, and if its cut is
    added, those that were wrong for theirs with the support of all cuts. Cuts are vectors of the
    weights that belong to no function and of coefficients, row by row as they came: rows that
    several cuts have in common are held once.

    Attributes
    ----------
    numbers : ndarray of shape (m,)
        Numbers of the rows that have coefficients.
    """

    n_oracle_calls = 0

    def begin(self, pool):
        """Make the program of the cuts."""
        self.whole = self.problem.space.support
        self.program = MixProgram(self.regularizer.lam)
        self.vectors = CutVectors(dense=False)
        self.vectors.append(np.zeros(self.whole.n_linear))
        self.numbers = np.empty(0, dtype=np.intp)
        self._place = np.full(self.whole.n_rows, -1, dtype=np.intp)
        self.last = None  # support and space of the sample of last

    def at(self, blocks, weight):
        """Call the oracle of some blocks; see `SampleRun`."""
        program = self.program
        part = self.problem.restrict(blocks, weight)
        support = part.space.support
        space = Regularizer(program.lam, part.n_weights, part.space.covector)
        self.last = support, space
        mixes = [self.split(weight) for weight in (program.weight, program.average)]
        # kernels of rows that both have are computed once
        stacked = np.concatenate([coefficients for _, coefficients in mixes])
        used = np.flatnonzero(stacked.any(axis=0))
        values = support.gather(self.numbers[used], stacked[:, used]).reshape(2, -1)
        view, average = (
            np.concatenate([linear, own, np.zeros_like(own)]) / program.lam
            for (linear, _), own in zip(mixes, values, strict=True)
        )
        vertices = Answers(Pool(part), planes=True)
        vertices.evaluate(space.padded(average))
        hinge, excess = mean_of(vertices, weight)
        primal = 0.5 * program.lam * program.sqnorm(program.average) + hinge
        finding = exact_cut(vertices, space.padded(view), weight)
        self.n_oracle_calls += vertices.n_calls
        return finding, primal, excess

    def add(self, cut):
        """Add the last cut found."""
        (support, space), n_states = self.last, self.whole.n_states
        linear, coefficients = cut.vector[: self.whole.n_linear], support.coefficients(cut.vector)
        values = support.spread(coefficients, self.numbers)
        products = self.vectors.dot(np.concatenate([linear, values.T.ravel()]))
        self.program.border(cut.loss, products, space.inner(cut.vector, cut.vector))
        used = np.flatnonzero(coefficients.any(axis=0))
        rows = support.numbers[used]
        new = rows[self._place[rows] < 0]
        self._place[new] = len(self.numbers) + np.arange(len(new))
        self.numbers = np.concatenate([self.numbers, new])
        expanded = np.zeros((len(self.numbers), n_states))
        expanded[self._place[rows]] = coefficients[:, used].T
        self.vectors.append(np.concatenate([linear, expanded.ravel()]))

    def split(self, weight):
        """Return a mix of the cuts: weights that belong to no function, and coefficients (K, m)."""
        linear, coefficients = np.split(self.vectors.combine(weight), [self.whole.n_linear])
        return linear, coefficients.reshape(-1, self.whole.n_states).T

    def expand(self, weight):
        """Return a mix of the cuts as weights of the whole problem, but for their values."""
        out = np.zeros(self.problem.n_weights)
        out[: self.whole.n_linear], coefficients = self.split(weight)
        self.whole.coefficients(out)[:, self.numbers] = coefficients
        return out

    def weights(self):
        """Return those of the average, but for the values of its functions."""
        return self.expand(self.program.average) / self.program.lam
