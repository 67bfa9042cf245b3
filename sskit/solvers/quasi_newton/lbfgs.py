"""Limited-memory BFGS (Liu, Nocedal 1989) on the regularised likelihood, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from sskit._parameters import COUNT, parameter, parameters
from sskit.core.stop import CutShort, Stop
from sskit.solvers.common.run import Run
from sskit.solvers.common.solution import Certificate
from sskit.solvers.common.solver import Solver
from sskit.solvers.quasi_newton.box import BoxHistory
from sskit.solvers.quasi_newton.sums import best_mix, inner, mix, record, regularize, take_step
from sskit.solvers.quasi_newton.two_loops import two_loops

if TYPE_CHECKING:
    from sskit.core.problem import Problem
    from sskit.core.regularizer import Regularizer

# From so many weights on the last steps are kept in single precision: they take most of the memory
# and much of the time, and the direction need not be exact.
MANY_WEIGHTS = 2**20
# Armijo's condition: a step must lower the objective by this fraction of step * slope.
DECREASE = 1e-4
# Differences of values below this fraction of the objective are rounding.
ROUNDING = 1e-14
# After so many steps in a row that were too long, each at most half as long, the direction is
# useless.
MOST_REJECTED = 20


class LossSum(Protocol):
    """The mean loss of all blocks and its gradient, as ``log_loss`` of a problem returns it."""

    convex: bool  # else a small gradient proves nothing

    def evaluate(self, w: np.ndarray, gradient: np.ndarray) -> float:
        """Return the mean loss at padded weights, and add its gradient."""
        ...

    def losses(self) -> np.ndarray:
        """Return the losses of the blocks in the last evaluation."""
        ...

    def n_queries(self, n_calls: int) -> int:
        """Return how often the model's own oracle was called."""
        ...


@parameters
class LBFGS(Solver):
    r"""Limited-memory BFGS, for the likelihood: only with ``surrogate="log"``.

    A pass is one sum over the labellings of all training pairs, which gives objective and gradient
    at once.

    Parameters
    ----------
    memory : int or "auto", default="auto"
        Number of last steps that directions are made of. Each takes two numbers for every weight,
        and time in each pass. "auto" is 12, or 6 from a million weights on.
    max_time : float, default=None
        Seconds after which the fit ends, within a pass if necessary. None means no limit.

    Notes
    -----
    The objective is strongly convex with modulus lam, so that

    .. math:: P(w) - P^* \le \tfrac{1}{2 \lambda} \| \nabla P(w) \|^2

    at every w. It is also the duality gap of w and the dual point that has the probabilities of the
    labellings under w as dual variables. The lower bounds of the last points, one for each step
    that is kept, come from quadratic functions of curvature lam that are nowhere above P, and so
    does a mix of them: the gap of a pass is that by the best mix, or by the best bound of the
    passes before. Where labels are unknown the loss is not convex, and the gap is that of the
    quadratic function at the present w, not a certificate.

    With bounds on the weights w is clipped to them. A weight that a step along the gradient would
    take to a bound or beyond is held there, and the others take a quasi-Newton step (Bertsekas
    1982). The least value of a quadratic function within the bounds is

    .. math:: P(w) + \min_u \langle \nabla P(w), u - w \rangle + \tfrac{\lambda}{2} \| u - w \|^2,

    a sum over the weights, and the gap of a pass is by the best mix of that of the present w and
    the best mix of the passes before.

    References
    ----------
    Liu, Nocedal (1989). On the limited memory BFGS method for large scale optimization.
    Mathematical Programming 45.

    Drusvyatskiy, Fazel, Roy (2018). An optimal first order method based on optimal quadratic
    averaging. SIAM Journal on Optimization 28.

    Bertsekas (1982). Projected Newton methods for optimization problems with simple constraints.
    SIAM Journal on Control and Optimization 20.

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.datasets import make_digit_strings
    >>> from sskit.solvers import LBFGS
    >>> X, y = make_digit_strings(60, random_state=0)
    >>> tagger = SequenceTagger(surrogate="log", solver=LBFGS(max_time=60)).fit(X, y)
    >>> tagger.certified_
    True
    """

    memory: int | Literal["auto"] = parameter(COUNT, default="auto")
    evaluates_all = False
    takes_likelihood = by_gradients = True
    gap_every = 1  # every pass has a certificate

    def _auto(self, problem, bounded):
        """Return the values of "auto" by parameter; see `resolved`."""
        if problem is None:
            return {}
        return {"memory": 6 if problem.n_weights >= MANY_WEIGHTS else 12}

    def make_pool(self, problem: Problem, n_jobs: int | None, stop: Stop) -> LossSum:
        """Return the object that evaluates all blocks at one w.

        Parameters
        ----------
        problem : Problem
            The problem.
        n_jobs : int or None
            Number of workers.
        stop : Stop
            Tells when to end a pass early.

        Returns
        -------
        pool : LogLoss
            Of the problem.

        Raises
        ------
        ValueError
            If the problem cannot sum over labellings.
        """
        pool = problem.log_loss(n_jobs, stop)
        if pool is None:
            raise ValueError(f"LBFGS needs a likelihood, which {problem.name} does not have")
        return pool

    def _start(self, problem, regularizer, random_state, gaps, pool):
        """Return the state of a new run, as `start`, of a solver that is resolved."""
        if pool is None:
            pool = self.make_pool(problem, 1, Stop())
        return LBFGSRun(problem, regularizer, pool, self.memory)


class LBFGSRun(Run):
    """State of one run of limited-memory BFGS.

    Parameters
    ----------
    problem : Problem
        The problem.
    regularizer : Regularizer
        Holds lam, bounds, a prior and w.
    pool : LogLoss
        Evaluates all blocks.
    memory : int
        Number of steps that directions are made of.

    Attributes
    ----------
    unit : float
        P(0), the mean logarithm of the number of labellings.
    loss : float
        The mean loss at the last weights that were evaluated.
    keeps_best : bool
        Whether the lower bound is the best of all passes, or that of the present weights: where
        the loss is not convex it is none, and the fit stops by the present gradient.
    """

    def __init__(self, problem: Problem, regularizer: Regularizer, pool: LossSum, memory: int):
        super().__init__(problem, regularizer)
        self.pool, self.memory, self.keeps_best = pool, memory, pool.convex
        n = problem.n_weights
        dtype = np.float32 if n >= MANY_WEIGHTS else np.float64
        self.history: History | BoxHistory
        if regularizer.bounded:
            self.history = BoxHistory(n, memory, dtype, regularizer)
        else:
            self.history = History(n, memory, dtype)
        # gradients at the present point, and at the next one that is tried
        self.w, self.trial = (regularizer.padded(regularizer.coef()) for _ in range(2))
        self.gradient, self.trial_gradient = np.zeros((2, len(self.w)))
        self.forget()
        primal = self.evaluate(np.zeros(len(self.w)), self.trial_gradient)
        self.unit = self.loss
        if self.w.any() or regularizer.prior is not None:
            self.restart()
        else:
            self.trial_gradient, self.gradient = self.gradient, self.trial_gradient
            self.accept(primal)

    def evaluate(self, w: np.ndarray, gradient: np.ndarray) -> float:
        """Return the objective at padded weights, and write its gradient."""
        gradient[:] = 0.0
        self.loss = self.pool.evaluate(w, gradient)
        self.n_oracle_calls += self.problem.n_blocks
        gradient[self.problem.n_weights :] = 0.0
        # P(w) = lam / 2 ||w - prior||^2 + loss;  its gradient has lam (w - prior) besides
        lam = self.regularizer.lam
        squares, self.sqnorm = regularize(gradient, w, self.regularizer.prior, lam)
        return 0.5 * lam * squares + self.loss

    def restart(self) -> None:
        """Evaluate the present weights, and forget all steps."""
        self.forget()
        self.accept(self.evaluate(self.w, self.gradient))

    def begin_at(self, w: np.ndarray) -> None:
        """Begin at weights, or at the nearest ones within the bounds."""
        self.w[: len(w)] = self.regularizer.image(w)
        self.restart()

    def forget(self) -> None:
        """Forget the last steps, and the lower bound."""
        self.history.clear()
        self.forget_bound()

    def forget_bound(self) -> None:
        """Forget the lower bound."""
        self.dual, self.dual_primal, self.dual_gap = -np.inf, np.inf, np.inf

    def accept(self, primal: float) -> None:
        """Make the evaluated weights the present point, and choose a step."""
        self.primal, lam = primal, self.regularizer.lam
        # lower bounds of all passes hold, the best one is kept
        gap = self.history.gap(self.w, self.gradient, self.sqnorm, lam)
        self.history.bound = primal - gap
        if self.keeps_best:
            gap = primal - self.history.best_bound(lam)
        if primal - gap > self.dual or not (self.keeps_best and self.dual > -np.inf):
            self.dual, self.dual_primal, self.dual_gap = primal - gap, primal, gap
        self.find_direction()

    def find_direction(self) -> None:
        """Make a direction from the present point, and a first step along it."""
        self.slope = self.history.find_direction(self.gradient, self.sqnorm, self.w, self.trial)
        self.step, self.n_rejected = 1.0, 0

    def run_pass(self) -> float:
        """Evaluate one point: accept it, or try a shorter step in the next pass."""
        if self.n_rejected:
            self.history.take_step(self.w, self.step, self.trial)
        square = self.sqnorm
        try:
            primal = self.evaluate(self.trial, self.trial_gradient)
        except CutShort:
            return np.inf
        if self.falls(primal):
            self.history.add(self.step, self.trial_gradient, self.gradient)
            self.w, self.trial = self.trial, self.w
            self.gradient, self.trial_gradient = self.trial_gradient, self.gradient
            self.accept(primal)
            return np.inf
        self.sqnorm = square
        self.n_rejected += 1
        if self.n_rejected == MOST_REJECTED:
            self.history.clear()
            self.find_direction()
            return np.inf
        # the minimum of the parabola through f(0), f'(0) and f(step), within limits
        # step' = -slope step^2 / (2 (f(step) - f(0) - slope step))
        excess = primal - self.primal - self.step * self.slope
        shorter = -0.5 * self.slope * self.step / excess if 0.0 < excess < np.inf else 0.0
        self.step *= min(max(shorter, 0.1), 0.5)
        return np.inf

    def falls(self, primal: float) -> bool:
        """Return whether the objective falls enough (Armijo), up to rounding."""
        if not (np.isfinite(primal) and np.isfinite(self.sqnorm)):
            return False
        if primal <= self.primal + DECREASE * self.step * self.slope:
            return True
        if primal > self.primal + ROUNDING * abs(self.primal):
            return False
        # near the optimum values differ by rounding only, slopes still decide (Hager, Zhang 2005)
        slope = inner(self.history.direction, self.trial_gradient)
        return slope <= (2.0 * DECREASE - 1.0) * self.slope

    def certify(self, evaluator: object) -> Certificate:
        """Return the certificate of the present weights, computed by the last pass."""
        gap = max(self.dual_gap + (self.primal - self.dual_primal), 0.0)
        return Certificate(None, self.primal, self.dual, gap)

    def lower_bound(self) -> float:
        """Return the best lower bound of the optimum so far."""
        return self.dual

    def weights(self) -> np.ndarray:
        """Return a copy of the current weights."""
        return self.w[: self.problem.n_weights].copy()

    def change_lam(self, lam: float) -> None:
        """Change to another lam while w stays; nothing has to be evaluated anew."""
        n, more = self.problem.n_weights, lam - self.regularizer.lam
        u = self.regularizer.offset(self.w[:n])
        self.gradient[:n] += more * u
        self.sqnorm = inner(self.gradient, self.gradient)
        self.regularizer.change_lam(lam)
        self.forget_bound()
        self.history.change_curvature(more, self.gradient)
        self.accept(self.primal + 0.5 * more * float(np.dot(u, u)))

    def save(self, largest_loss: object) -> PrimalPoint:
        """Return the present `PrimalPoint`."""
        return PrimalPoint(self.weights())


class History:
    """The last steps of a run, the changes of the gradient along them, and the next direction.

    Inner products of all these vectors are kept, so that the two loops of Liu and Nocedal are over
    factors of the vectors, and each of these is read twice for a step.

    Parameters
    ----------
    n : int
        Number of weights.
    memory : int
        Number of steps.
    dtype : dtype
        In which they are kept.

    Attributes
    ----------
    past : list of ndarray
        The first step, the change of the gradient along it, the second step, and so on.
    gram : ndarray of shape (len(past), len(past))
        Their inner products.
    slopes : ndarray of shape (len(past),)
        Their inner products with the present gradient.
    bound : float
        P(w) - ||g||^2 / (2 lam) at the present point w, where the gradient is g.
    bounds : list of float
        The same of the points where the steps begin; -inf where it is not known.
    """

    def __init__(self, n: int, memory: int, dtype: type[np.floating]):
        self.direction = np.zeros(n, dtype=dtype)
        self.memory, self.bound = memory, -np.inf
        self.clear()

    def clear(self) -> None:
        """Forget all steps."""
        self.past: list[np.ndarray] = []
        self.bounds: list[float] = []
        self.gram, self.slopes = np.zeros((0, 0)), np.zeros(0)

    def drop(self, k: int) -> list[np.ndarray]:
        """Forget a step; return its two vectors."""
        two = [2 * k, 2 * k + 1]
        self.gram = np.delete(np.delete(self.gram, two, axis=0), two, axis=1)
        self.slopes = np.delete(self.slopes, two)
        # points that no steps connect with the present one are of no use
        self.bounds = [-np.inf] * k + self.bounds[k + 1 :]
        return [self.past.pop(2 * k) for _ in two]

    def add(self, step: float, gradient: np.ndarray, before: np.ndarray) -> None:
        """Add a step along the direction, unless by rounding the gradient does not grow there."""
        if len(self.bounds) == self.memory:  # their memory is used again
            new = self.drop(0)
        else:
            new = [np.empty_like(self.direction) for _ in range(2)]
        self.past += new
        products = record(self.direction, step, gradient, before, *new, self.past)
        self.gram = np.pad(self.gram, (0, 2))
        self.gram[:, -2:], self.slopes = products[:, :2], products[:, 2]
        self.gram[-2:] = self.gram[:, -2:].T
        self.bounds.append(self.bound)
        self.check(len(self.bounds) - 1)

    def change_curvature(self, more: float, gradient: np.ndarray) -> None:
        """Let the gradient grow by so much more along each step; forget those where it does not.

        Parameters
        ----------
        more : float
            What is added to lam.
        gradient : ndarray
            The present gradient at the new lam.
        """
        change = np.eye(len(self.past))
        for k in range(0, len(self.past), 2):
            self.past[k + 1] += self.direction.dtype.type(more) * self.past[k]
            change[k + 1, k] = more
        self.gram = change @ self.gram @ change.T
        self.slopes = np.array([inner(vector, gradient) for vector in self.past])
        self.bounds = [-np.inf] * len(self.bounds)
        for k in reversed(range(len(self.bounds))):
            self.check(k)

    def check(self, k: int) -> None:
        """Forget a step if by rounding the gradient does not grow along it."""
        if not 0.0 < self.gram[2 * k, 2 * k + 1] < np.inf:
            self.drop(k)

    def take_step(self, w: np.ndarray, step: float, trial: np.ndarray) -> None:
        """Write the weights at the end of a step along the direction."""
        take_step(w, self.direction, step, trial)

    def gap(self, w: np.ndarray, gradient: np.ndarray, square: float, lam: float) -> float:
        """Return how far P(w) is above the optimum at most: ||g||^2 / (2 lam)."""
        return square / (2.0 * lam)

    def find_direction(
        self, gradient: np.ndarray, square: float, w: np.ndarray, trial: np.ndarray
    ) -> float:
        """Make the quasi-Newton direction, see Liu and Nocedal.

        Parameters
        ----------
        gradient : ndarray
            The present gradient g.
        square : float
            Its squared norm.
        w : ndarray
            The present weights.
        trial : ndarray
            Gets the weights at the end of the direction.

        Returns
        -------
        slope : float
            That along the direction.
        """
        factor, weights = two_loops(self.gram, self.slopes)
        if not len(weights):
            factor = -1.0 / max(np.sqrt(square), 1e-300)
        slope = factor * square + float(self.slopes @ weights)
        if len(weights) and not slope < 0.0:
            self.clear()
            return self.find_direction(gradient, square, w, trial)
        mix(gradient, factor, self.past, weights, w, self.direction, trial)
        return slope

    def best_bound(self, lam: float) -> float:
        r"""Return the best lower bound of the optimum that follows from the last points.

        Each point has a quadratic function of curvature lam that is nowhere above P, with its bound
        as the least value. A mix of several is one too; its least value is

        .. math:: \sum_k a_k b_k + \tfrac{1}{2 \lambda}
            \Bigl( \sum_k a_k \| e_k \|^2 - \Bigl\| \sum_k a_k e_k \Bigr\|^2 \Bigr)

        with bounds b_k and the differences e_k of the gradients of the mean loss from the present
        one, which are sums of y - lam s over the steps between (Drusvyatskiy, Fazel, Roy 2018).
        """
        bounds = np.array([*self.bounds, self.bound]) - self.bound
        finite = np.flatnonzero(bounds > -np.inf)
        # e_k of the present point is zero
        step = np.kron(np.triu(np.ones((len(bounds), len(self.bounds)))), [-lam, 1.0])[finite]
        gram = np.ascontiguousarray(step @ self.gram @ step.T)
        return self.bound + best_mix(bounds[finite], gram, 1.0 / lam)


@dataclass(frozen=True)
class PrimalPoint:
    """Saved weights, to continue from in another process, at another lam, with more data.

    Attributes
    ----------
    w : ndarray of shape (n_weights,)
        The weights.
    """

    w: np.ndarray

    def without_average(self) -> PrimalPoint:
        """Return the same: there is none."""
        return self

    def restore(self, run: Run) -> None:
        """Let a new run continue from here.

        Parameters
        ----------
        run : Run
            Of the likelihood, of a problem with as many weights.

        Raises
        ------
        ValueError
            If it has another number of weights.
        """
        self.check(run)
        run.begin_at(self.w)

    def place(self, run, lam: float) -> None:
        """Let a run with dual variables take those of these weights; its v does not follow."""
        self.check(run)
        run.place_at(self.w)

    def check(self, run: Run) -> None:
        """Raise ValueError if a run is of a problem with another number of weights."""
        if len(self.w) != run.problem.n_weights:
            raise ValueError("the saved weights are none of this problem")
