"""The convex-concave procedure (Yuille, Rangarajan 2003) for labels that are not known."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sskit.core.regularizer import Regularizer
from sskit.solvers.common.fit import solve
from sskit.solvers.common.snapshot import change_truths, hinge_gains, truth_gains
from sskit.solvers.common.solution import Status, Tolerance

MAX_ROUNDS = 50


class Completion:
    """Completion of unknown training labels, and where it begins.

    A subclass has ``complete(w)``, which returns the best truths under flat weights that agree with
    what is known: an array (N,) of labels, hidden states or codes of labellings, which the method
    ``with_truth`` of the problem takes. Its ``starts(solved)`` is given a function that solves a
    convex problem and returns its flat weights, and returns an iterable of the truths (N,) to begin
    with. There are local optima, so of several starts the one that ends with the lowest objective
    is kept.

    Attributes
    ----------
    offsets : ndarray of shape (n_blocks + 1,) or None
        Where blocks begin, if a completion may be worse than the present truth of its block, which
        then stays. None: completions are exact, or see to that themselves.
    """

    offsets = None

    def fingerprint(self, of_problem):
        """Return the fingerprint of the data, given that of their problem."""
        return replace(of_problem, whole=of_problem.whole | {"whether all labels are known": False})


@dataclass(frozen=True)
class DrawnCompletion(Completion):
    """Completes by a function, and begins with truths that were drawn before.

    Attributes
    ----------
    complete : callable
        Maps flat weights to truths.
    drawn : tuple of ndarray
        Truths to begin with; those that came before are left out.
    """

    complete: object
    drawn: tuple

    def starts(self, solved):
        """Yield truths to begin with."""
        yield from {truth.tobytes(): truth for truth in self.drawn}.values()


def solve_in_rounds(
    completion,
    solver,
    problem,
    make_regularizer,
    *,
    on_pass,
    stop,
    max_iter,
    start=None,
    begin_at=None,
    **options,
):
    r"""Train on labels of which only a part is known, round after round, from each start.

    The objective is the difference of two convex functions,

    .. math:: P(w) = \tfrac{\lambda}{2} \|w\|^2 + \sum_i c_i \Bigl( \max_y
              \bigl[ L_i(y) + F(x_i, y) \bigr] - \max_{y \in Y_i} F(x_i, y) \Bigr) ,

    where Y_i are the labellings that agree with what is known, and L_i counts errors at tokens
    of which something is known. A round takes the best labelling of Y_i under the present w
    for the truth and solves the convex problem that remains; P never rises from round to round.
    Under slack rescaling P has

    .. math:: \max_y L_i(y) \Bigl( 1 + F(x_i, y) - \max_{y' \in Y_i} F(x_i, y') \Bigr)

    instead, which is no such difference. But a round is the same: as losses are not negative, any
    truth of Y_i makes it a convex function that is nowhere smaller, and the best one that which
    equals it at the present w.

    The dual point changes with the truths, so that a round begins where the last one ended.

    Rounds end where completions stay as they are, where a round lowers P(w) by less than the
    gap that the tolerance leaves, and where a pass of the solver is the last one it may make.

    Parameters
    ----------
    completion : Completion
        Of the labels.
    solver : Solver
        Solves each round; resolved.
    problem : Problem
        Of all data, with the method ``with_truth``.
    make_regularizer : callable
        Returns a new regularizer.
    on_pass, stop, max_iter : object
        As for :meth:`sskit.solvers.common.solver.Solver.solve`; passes are those of all
        rounds of all starts, without those over known parts.
    start : Completed, default=None
        Where an earlier fit ended, perhaps to the first of the samples: the only start.
    begin_at : ndarray of shape (n_weights,), default=None
        Weights, under which the completion is the only start.
    **options : dict
        As for the same.

    Returns
    -------
    solution : Solution
        Of the last round of the best start, with the calls and the history of all.
    best : Descent
        The rounds of that start.

    References
    ----------
    Yuille, Rangarajan (2003). The concave-convex procedure. Neural Computation 15.

    Yu, Joachims (2009). Learning structural SVMs with latent variables. ICML (algorithm 1).
    """

    def solved(part):
        limits = {"on_pass": None, "stop": stop, "max_iter": max_iter}
        return solve(solver, part, make_regularizer(), **limits, **options).w

    if start is not None:
        starts = [start.continued(completion.complete)]
    elif begin_at is not None:
        starts = [completion.complete(begin_at)]
    else:
        starts = completion.starts(solved)
    total, best, point = Totals(on_pass, stop, max_iter), None, start and start.point
    for truth in starts:
        rounds = CompletionRounds(completion, problem, truth, solver, make_regularizer, point)
        descent = descend(rounds, total, options)
        if best is None or descent.objectives[-1] < best.objectives[-1]:
            best = descent
        total.n_starts += 1
        if descent.ended or total.n_left <= 0:
            break
    if descent.ended:
        # the status is that of a start that was cut short, whichever start is kept
        best = best._replace(status=descent.status)
    return total.of(best), best


@dataclass(frozen=True)
class Completed:
    """Where rounds ended, from which later ones go on.

    Attributes
    ----------
    point : DualPoint
        Of the last round.
    truth : ndarray of shape (N,)
        The completed labels that were its truth.
    w : ndarray of shape (n_weights,)
        Its weights.
    """

    point: object
    truth: np.ndarray
    w: np.ndarray

    def without_average(self):
        """Return the same without averages, which are of weights."""
        return replace(self, point=self.point.without_average())

    def continued(self, complete):
        """Return the same truths, and the best under the weights for what has come since."""
        truth = complete(self.w)
        truth[: len(self.truth)] = self.truth
        return truth


class CompletionRounds:
    """Rounds over data in one piece.

    Parameters
    ----------
    completion : Completion
        Of the labels.
    problem : Problem
        Of all data.
    truth : ndarray of shape (N,)
        To begin with.
    solver : Solver, default=None
        Solves each round; None only completes.
    make_regularizer : callable, default=None
        Returns a new regularizer, for the solver.
    point : DualPoint, default=None
        Where the first round begins.
    """

    def __init__(self, completion, problem, truth, solver=None, make_regularizer=None, point=None):
        self.completion, self.solver, self.make_regularizer = completion, solver, make_regularizer
        self.problem, self.truth, self.point = problem.with_truth(truth), truth, point

    def solve(self, **options):
        """Return the solution for the present truths."""
        regularizer = self.make_regularizer()
        return solve(self.solver, self.problem, regularizer, start=self.point, **options)

    def gain(self, w):
        """Complete under flat weights.

        Returns
        -------
        same : bool
            Whether the truths stay.
        gain : float
            By how much their hinges would be smaller, in the weighted mean.
        """
        self.completed = self.completion.complete(w)
        if np.array_equal(self.completed, self.truth):
            return True, 0.0
        w, margin = Regularizer(1.0, len(w)).padded(w), self.problem.margin()
        gains = truth_gains(self.problem.with_truth(self.completed).margin(), margin, w)
        if self.completion.offsets is not None:
            better = np.repeat(gains > 0, np.diff(self.completion.offsets))
            self.completed = np.where(better, self.completed, self.truth)
            gains = np.maximum(gains, 0.0)
        same = np.array_equal(self.completed, self.truth)
        if margin is not self.problem:  # scores of truths are multiplied by losses
            gains = hinge_gains(self.problem.with_truth(self.completed), self.problem, w)
        return same, float(np.dot(self.problem.block_weight, gains))

    def advance(self, solution):
        """Take the completions for the truth; the dual point follows."""
        keeps = self.solver.keeps_dual_point
        self.point = self.take(solution.fit.save() if keeps else None)

    def take(self, point):
        """Take the completions for the truth; return the `DualPoint` that follows, or None."""
        earlier, self.problem = self.problem, self.problem.with_truth(self.completed)
        self.truth = self.completed
        if point is None:
            return None
        blocks = change_truths(point.blocks, self.problem, earlier)
        return replace(point, blocks=blocks, average=None)


class Descent(NamedTuple):
    """The result of the rounds from one start.

    Attributes
    ----------
    status : Status
        Of the last solution.
    solution : Solution
        Of the last round.
    truth : ndarray of shape (N,)
        The completed labels that were its truth.
    objectives : list of float
        P(w) at the end of each round.
    stationary : bool
        Whether the last round would be repeated.
    """

    status: Status
    solution: object
    truth: np.ndarray
    objectives: list
    stationary: bool

    @property
    def ended(self):
        """Whether a user, a callback or the clock ended the last round."""
        return self.status not in (Status.CONVERGED, Status.MAX_ITER)

    def attributes(self):
        """Return the fitted attributes of the rounds, by name."""
        return {
            "n_rounds_": len(self.objectives),
            "round_objectives_": np.array(self.objectives),
            "stationary_": self.stationary,
        }


def descend(rounds, total, options):
    """Make rounds from one start until one lowers the objective too little; return the `Descent`.

    Parameters
    ----------
    rounds : CompletionRounds
        Solve, and complete.
    total : Totals
        Passes and calls so far, and how many passes are left.
    options : dict
        Further ones of the solver.
    """
    descent, objectives = None, []
    for n in range(1, MAX_ROUNDS + 1):
        solution = rounds.solve(
            on_pass=total.on_pass, stop=total.stop, max_iter=total.n_left, **options
        )
        total.add(solution, n)
        status, truth = solution.status, rounds.truth
        same, gain = rounds.gain(solution.w)
        value = solution.primal - gain
        fallen = objectives[-1] - value if objectives else np.inf
        if fallen < 0:
            # by less than the gap: the round before is as good, and P must not rise
            return descent._replace(status=status)
        objectives.append(value)
        converged = status is Status.CONVERGED
        # if the round has not converged, later weights may complete otherwise
        descent = Descent(status, solution, truth, objectives, same and converged)
        least = Tolerance(options["tol"], solution.unit).gap_at(solution.primal)
        if same or not converged or total.n_left <= 0 or fallen <= least:
            break
        rounds.advance(solution)
    return descent


class Totals:
    """Passes, calls and time of the solutions of all rounds, and their limits.

    Parameters
    ----------
    on_pass : callable or None
        Called after each pass with its number among all.
    stop : Stop
        Of Ctrl-C and the time limit.
    max_iter : int
        Passes that they may make.
    """

    def __init__(self, on_pass, stop, max_iter):
        self.report, self.stop, self.max_iter = on_pass, stop, max_iter
        self.n_starts = self.n_iter = self.n_oracle_calls = 0
        self.histories, self.seconds = [], 0.0

    @property
    def n_left(self):
        """Passes that may still be made."""
        return self.max_iter - self.n_iter

    def on_pass(self, n_iter, weights):
        """Report a pass of the present round."""
        return self.report is not None and self.report(self.n_iter + n_iter, weights)

    def add(self, solution, n_round):
        """Add the solution of a round, counted from one within its start."""
        history, n = dict(solution.history), len(solution.history["time"])
        so_far = self.n_iter, self.n_oracle_calls, self.seconds
        for name, before in zip(("n_passes", "n_oracle_calls", "time"), so_far, strict=True):
            history[name] = history[name] + before
        history |= {"start": np.full(n, self.n_starts + 1), "round": np.full(n, n_round)}
        self.seconds = float(history["time"][-1]) if n else self.seconds
        self.histories.append(history)
        self.n_iter += solution.n_iter
        self.n_oracle_calls += solution.n_oracle_calls

    def of(self, descent):
        """Return the solution of rounds with the passes, calls and history of all."""
        parts, names = self.histories, self.histories[0]
        history = {name: np.concatenate([part[name] for part in parts]) for name in names}
        spent = {"n_iter": self.n_iter, "n_oracle_calls": self.n_oracle_calls}
        return replace(descent.solution, status=descent.status, **spent, history=history)
