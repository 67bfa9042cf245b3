"""Exponentiated gradient steps on the dual of a likelihood (Collins et al. 2008)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sskit._parameters import COUNT, POSITIVE_OR_INFINITE, parameter, parameters
from sskit.core.sampler import GapSampler, PermutationSampler
from sskit.core.stop import Stop
from sskit.solvers.common.run import Run, take_turns
from sskit.solvers.common.solution import Certificate
from sskit.solvers.common.solver import Solver
from sskit.solvers.quasi_newton.lbfgs import PrimalPoint

if TYPE_CHECKING:
    from sskit.core.problem import Problem

MEGABYTE = 2.0**20
# Fraction of the visits that are uniform: known gaps are those before the last step of a block.
UNIFORM = 0.2


@parameters
class ExponentiatedGradient(Solver):
    r"""Dual coordinate ascent for the likelihood by exponentiated gradient steps.

    Only with ``surrogate="log"``. A step sums over the labellings of one training pair and changes
    the weights at once, so that at the default ``lam`` a fit takes about a tenth of the passes of
    :class:`LBFGS`. At a far smaller one it takes many more, and may not reach its tolerance. It
    works in one thread.

    Parameters
    ----------
    gap_every : int, default=3
        Number of passes between exact passes.
    max_memory : float, default=2000.0
        Megabytes that the dual point may take: eight bytes for each label of each token, and for
        each entry of the table of transitions of each sequence. If it takes more, a fit raises an
        error before it is made; of data in parts each has a dual point of its own.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if necessary; an exact pass follows. None
        means no limit.

    Notes
    -----
    The dual variables of a training pair are the probabilities of its labellings by potentials
    :math:`u_i` of its own. A step goes from these towards the potentials under w,

    .. math:: u_i \leftarrow u_i + \gamma_i \, (B_i^T w - u_i),

    and w follows by the change of the expected statistics; within bounds it is the nearest point of
    the box, which leaves the lower bound of a step's gain what it is. The step size of a pair is
    the one that would have maximised the dual objective at its last visit, by the curvature along
    the step; a step that lowers the objective is made again with a smaller one. In the first pass a
    pair goes from the truth to the probabilities under w with a bonus for its own labels. From then
    on pairs are drawn in proportion to their gaps, which are divergences between their dual
    variables and the probabilities under w, and every fifth one uniformly (Le Priol et al. 2018).

    References
    ----------
    Collins, Globerson, Koo, Carreras, Bartlett (2008). Exponentiated gradient algorithms for
    conditional random fields and max-margin Markov networks. Journal of Machine Learning
    Research 9.

    Le Priol, Piché, Lacoste-Julien (2018). Adaptive stochastic dual coordinate ascent for
    conditional random fields. Uncertainty in Artificial Intelligence 34.

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.datasets import make_digit_strings
    >>> X, y = make_digit_strings(60, random_state=0)
    >>> tagger = SequenceTagger(surrogate="log", solver="exponentiated_gradient", random_state=0)
    >>> tagger.fit(X, y).certified_
    True
    """

    gap_every: int = parameter(COUNT, default=3)
    max_memory: float = parameter(POSITIVE_OR_INFINITE, default=2000.0)
    evaluates_all = False
    takes_likelihood = True

    def _fits(self, problem: Problem, share: float = 1.0) -> bool:
        """Return whether data have a dual point, which takes no more than `max_memory`.

        The problem is one of this share of them.
        """
        n_bytes = problem.dual_bytes()
        return n_bytes is not None and n_bytes <= share * self.max_memory * MEGABYTE

    def make_pool(self, problem: Problem, n_jobs: int | None, stop: Stop) -> object:
        """Return the dual point of a problem, at the truths.

        Parameters
        ----------
        problem : Problem
            The problem.
        n_jobs : int or None
            Has no effect.
        stop : Stop
            Tells when to end a pass early.

        Returns
        -------
        pool : LogDual
            It evaluates all blocks, too.

        Raises
        ------
        ValueError
            If the problem has no such dual point, or it takes too much memory.
        """
        n_bytes = problem.dual_bytes()
        name = f"{type(self).__name__} needs"
        if n_bytes is None:
            raise ValueError(
                f"{name} a likelihood of labels that are all known, of order 1, which "
                f"{problem.name} does not have; use LBFGS()"
            )
        if n_bytes > self.max_memory * MEGABYTE:
            raise ValueError(
                f"{name} {n_bytes / MEGABYTE:,.0f} MB for its dual point, more than "
                f"max_memory={self.max_memory:g}; raise that or use LBFGS()"
            )
        return problem.log_dual(stop)

    def _start(self, problem, regularizer, random_state, gaps, pool):
        """Return the state of a new run, as `start`, of a solver that is resolved."""
        if pool is None:
            pool = self.make_pool(problem, 1, Stop())
        return ExponentiatedGradientRun(problem, regularizer, pool, random_state)


class ExponentiatedGradientRun(Run):
    """State of one run of exponentiated gradient steps.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        Holds lam, a prior and w, which is that of the dual point.
    pool : LogDual
        The dual point.
    random_state : RandomState
        Source of randomness.

    Attributes
    ----------
    unit : float
        P(0), the mean logarithm of the number of labellings.
    """

    def __init__(self, problem, regularizer, pool, random_state):
        super().__init__(problem, regularizer)
        self.pool, n = pool, problem.n_blocks
        # each block is visited before any is visited twice
        self.first_pass = PermutationSampler(n, random_state)
        self.sampler = GapSampler(n, random_state, uniform_fraction=UNIFORM)
        self.unit = pool.evaluate(regularizer.padded(np.zeros(problem.n_weights)))
        self.n_passes = 0

    def run_pass(self):
        """Visit n_blocks blocks; return the sum of the gaps that were last known."""
        self.visit(self.begin_pass())
        return self.end_pass()

    def begin_pass(self):
        """Begin a pass; return the number of its visits."""
        self.drawing = self.sampler if self.n_passes else self.first_pass
        self.n_passes += 1
        return self.drawing.begin_pass(self.problem.n_blocks)

    def visit(self, n_steps):
        """Make some of the visits of the pass that has begun."""
        if n_steps and not self.stop.ends:
            self.pool.run_pass(self.drawing, n_steps, self.regularizer)

    def end_pass(self):
        """Return the sum of the gaps that were last known."""
        return float(self.gaps.sum())

    @property
    def gaps(self):
        """The last known gaps of all blocks, with their weights."""
        weight = np.asarray(self.problem.block_weight)
        return np.where(weight > 0.0, weight * np.maximum(self.pool.gap, 0.0), 0.0)

    def learn_gaps(self, gaps):
        """Set the gaps of all blocks, from an exact pass."""
        weight = np.asarray(self.problem.block_weight)
        np.divide(gaps, weight, out=np.asarray(self.pool.gap), where=weight > 0.0)
        self.sampler.set_gaps(gaps)

    def loss(self):
        """Return the mean entropy of all blocks, the dual counterpart of the loss."""
        return float(np.dot(self.problem.block_weight, self.pool.entropy))

    def lower_bound(self):
        """Return the dual objective of the present dual point."""
        v = np.asarray(self.regularizer.v)[: self.problem.n_weights]
        return self.regularizer.dual(v, self.loss())

    def certify(self, evaluator):
        """Return the certificate of the present weights."""
        loss, _ = self.measure(evaluator)
        w = np.asarray(self.regularizer.w)[: self.problem.n_weights]
        primal = self.regularizer.primal(w, loss)
        return Certificate(w, primal, self.lower_bound(), float(self.gaps.sum()))

    def measure(self, evaluator):
        """Learn the gaps at the present weights; see `DualRun.measure`."""
        loss = self.pool.evaluate(self.regularizer.w)
        self.sampler.set_gaps(self.gaps)
        return loss, 0.0

    def add_sum(self, lam, v):
        """Add the dual sum of all blocks to v; see `DualState.add_sum`."""
        self.pool.add_sum(lam, v)

    def rebuild(self):
        """Let v be the dual sum of all blocks."""
        regularizer, n = self.regularizer, self.problem.n_weights
        v = np.zeros(len(regularizer.v))
        self.add_sum(regularizer.lam, v)
        regularizer.set_v(regularizer.from_prior(v[:n]))

    def change_lam(self, lam):
        """Change to another lam while the dual variables stay, so that w changes."""
        self.regularizer.rescale(lam)

    def begin_at(self, w):
        """Begin at the probabilities under weights, instead of at the truths."""
        self.place_at(w)
        self.rebuild()

    def place_at(self, w):
        """Take the probabilities under weights as dual variables; v does not follow."""
        regularizer = self.regularizer
        self.pool.begin_at(regularizer.padded(regularizer.image(w)))
        self.n_passes = 1

    def save(self, largest_loss):
        """Return the present `LogPoint`."""
        return replace(self.save_part(largest_loss, self.regularizer.lam), w=self.weights())

    def save_part(self, largest_loss, lam):
        """Return the present `LogPoint` without weights; see `DualRun.save_part`."""
        pool = self.pool
        return LogPoint(None, *(np.array(x) for x in (pool.first, pool.u, pool.visited)))

    def make_joint_pass(self, runs, n_turns):
        """Let several runs make a pass in turns; see `DualRun.make_joint_pass`."""
        take_turns(runs, [run.begin_pass() for run in runs], n_turns)


@dataclass(frozen=True)
class LogPoint(PrimalPoint):
    """A saved dual point of a likelihood, and its weights.

    Attributes
    ----------
    w : ndarray of shape (n_weights,)
        The weights; None while they are those of other parts, too.
    first : ndarray of shape (n_blocks + 1,)
        Where the potentials of a block begin.
    u : ndarray of float32
        Potentials of all blocks.
    visited : ndarray of shape (n_blocks,)
        Whether a block has potentials; else it is certain of its truth.
    """

    first: np.ndarray
    u: np.ndarray
    visited: np.ndarray

    def restore(self, run):
        """Let a new run continue from here.

        Parameters
        ----------
        run : Run
            Of a problem that begins with the same blocks; one that has no dual variables continues
            from the weights.

        Raises
        ------
        ValueError
            If it is of another problem.
        """
        if not isinstance(run, ExponentiatedGradientRun):
            return super().restore(run)
        self.check(run)
        self.place(run, run.regularizer.lam)
        run.rebuild()
        return None

    def place(self, run, lam):
        """Put the dual variables of a run here, whatever lam; its v does not follow."""
        pool, n = run.pool, len(self.first)
        if not np.array_equal(pool.first[:n], self.first):
            raise ValueError("the saved dual point is none of this problem")
        pool.load(self.u[: self.first[-1]], self.visited)
        run.n_passes = int(len(self.visited) == run.problem.n_blocks and self.visited.all())
