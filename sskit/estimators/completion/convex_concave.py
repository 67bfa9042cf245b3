"""The convex-concave procedure: labels that are not known are completed, round after round."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.estimators.completion.partial_labels import set_mask
from sskit.models.features import value_digests
from sskit.solvers.common.snapshot import move_truths, truth_gains
from sskit.solvers.common.solution import Status
from sskit.solvers.common.tolerance import Tolerance

MAX_ROUNDS = 50


@dataclass
class ConvexConcave:
    r"""Trains on labels of which only a part is known.

    The objective is the difference of two convex functions,

    .. math:: P(w) = \tfrac{\lambda}{2} \|w\|^2 + \sum_i c_i \Bigl( \max_y
              \bigl[ L_i(y) + F(x_i, y) \bigr] - \max_{y \in Y_i} F(x_i, y) \Bigr) ,

    where Y_i are the labellings that agree with what is known, and L_i counts errors at tokens
    of which something is known. A round takes the best labelling of Y_i under the present w
    for the truth and solves the convex problem that remains; P never rises from round to round.
    The dual point moves with the truths, so that a round begins where the last one ended.

    Parameters
    ----------
    complete : callable
        Maps flat weights to the best truths that agree with what is known: an array (N,) of
        labels, hidden states or codes of labellings, which the problem's ``with_truth`` takes.
    starts : callable
        Called once, with a function that solves a convex problem and returns its flat weights.
        Returns an iterable of the truths (N,) to begin with. There are local optima, so of several
        starts the one that ends with the lowest objective is kept.
    known : tuple, default=None
        Tables (N, K) of the labels that are possible, and where samples begin in it (n + 1,);
        None: what the problem's truths say is all that is known.

    Attributes
    ----------
    objectives : list of float
        P(w) at the end of each round, of the start that was kept.
    truth : ndarray of shape (N,)
        What was taken for the truth in its last round.
    stationary : bool
        Whether its last round would be repeated: it converged, and its weights complete the labels
        as before.

    References
    ----------
    Yuille, Rangarajan (2003). The concave-convex procedure. Neural Computation 15.

    Yu, Joachims (2009). Learning structural SVMs with latent variables. ICML (algorithm 1).
    """

    complete: object
    starts: object
    known: tuple | None = None

    def __post_init__(self):
        self.objectives = []
        self.truth = None
        self.stationary = False

    def begin_at(self, w):
        """Begin with the completion under flat weights alone."""
        self.starts = lambda solved: [self.complete(w)]

    def solve(
        self, solver, problem, make_regularizer, *, on_pass, stop, max_iter, start=None, **options
    ):
        """Solve the problem, round after round, from each start.

        Rounds end where completions stay as they are, where a round lowers P(w) by less than the
        gap that the tolerance leaves, and where a pass of the solver is the last one it may make.

        Parameters
        ----------
        solver : Solver
            Solves each round.
        problem : Problem
            Of all data, with the method ``with_truth``.
        make_regularizer : callable
            Returns a new regularizer.
        on_pass, stop, max_iter : object
            As for :meth:`sskit.solvers.common.solver.Solver.solve`; passes are those of all
            rounds of all starts, without those over known parts.
        start : Completed, default=None
            Where an earlier fit ended, perhaps to the first of the samples: the only start.
        **options : dict
            As for the same.

        Returns
        -------
        solution : Solution
            Of the last round of the best start, with the calls and the history of all.
        """

        def solved(part):
            known = solver.solve(part, make_regularizer(), stop=stop, max_iter=max_iter, **options)
            return known.w

        total, best = Totals(on_pass, stop, max_iter), None
        point, starts = None, self.starts
        if start is not None:
            point, starts = start.point, lambda solved: [start.continued(self.complete)]
        for labels in starts(solved):
            descent = Descent(self.complete, solver, make_regularizer, total, options)
            descent.run(problem, labels, point)
            if best is None or descent.objectives[-1] < best.objectives[-1]:
                best = descent
            total.n_starts += 1
            if descent.ended or total.n_left <= 0:
                break
        self.objectives, self.stationary = best.objectives, best.stationary
        self.truth = best.truth
        # of a start that was cut short it is said, whichever is kept
        status = descent.status if descent.ended else best.status
        return replace(total.of(best.solution), status=status)

    def completed(self, point, w):
        """Return the `Completed` of the dual point and the weights of the last round."""
        return Completed(point, self.truth, w)

    def fingerprint(self, found):
        """Return by what data are known again, given the fingerprint of their problem."""
        blocks = found.blocks
        if self.known is not None:
            possible, offsets = self.known
            flat = possible.ravel().astype(np.int32)
            marks = value_digests(flat, np.asarray(offsets, dtype=np.int64) * possible.shape[1])
            blocks = blocks | {"what is known of y": marks}
        return Fingerprint(found.whole | {"whether all labels are known": False}, blocks)

    def attributes(self):
        """Return the fitted attributes that tell of the rounds, by name."""
        return {
            "n_rounds_": len(self.objectives),
            "round_objectives_": np.array(self.objectives),
            "stationary_": self.stationary,
        }


@dataclass(frozen=True)
class Completed:
    """Where rounds ended, from which later ones go on.

    Attributes
    ----------
    point : DualPoint
        Of the last round.
    truth : ndarray of shape (N,)
        What was taken for the truth in it.
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


def complete(hidden, problem, random_state):
    """Return the `ConvexConcave` of data whose labels are to be completed.

    Parameters
    ----------
    hidden : HiddenChains or HiddenTrees
        Completes them.
    problem : Problem
        Of the data; where a token may have several right labels it is told of them.
    random_state : int, RandomState or None
        Seed of the first labels, where no token has a known one.

    Returns
    -------
    procedure : ConvexConcave
        Solves the problem.
    """
    accepted = set_mask(hidden.partial)
    if accepted is not None:
        problem.accept(accepted)

    starts = partial(hidden.starts, random_state=random_state)
    return ConvexConcave(hidden.complete, starts, (hidden.partial.possible, hidden.offsets))


class Descent:
    """The rounds from one start.

    Parameters
    ----------
    complete : callable
        As of `ConvexConcave`.
    solver : Solver
        Solves each round.
    make_regularizer : callable
        Returns a new regularizer.
    total : Totals
        Passes and calls so far, and how many passes are left.
    options : dict
        Further ones of the solver.

    Attributes
    ----------
    objectives : list of float
        P(w) at the end of each round.
    stationary : bool
        Whether the last round would be repeated.
    truth : ndarray of shape (N,)
        What was taken for the truth in the last round.
    solution : Solution
        Of the last round.
    status : Status
        Of the last solution.
    """

    def __init__(self, complete, solver, make_regularizer, total, options):
        self.complete = complete
        self.solver = solver
        self.make_regularizer = make_regularizer
        self.total = total
        self.options = options
        self.objectives = []
        self.stationary = False
        self.solution = self.status = self.truth = None

    @property
    def ended(self):
        """Whether a user, a callback or the clock ended the last round."""
        return self.status not in (Status.CONVERGED, Status.MAX_ITER)

    def run(self, problem, labels, point=None):
        """Make rounds until they do not pay, beginning with given truths and a dual point."""
        total = self.total
        for n in range(1, MAX_ROUNDS + 1):
            earlier, problem = problem, problem.with_truth(labels)
            if point is not None and n > 1:
                blocks = move_truths(point.blocks, problem, earlier)
                point = replace(point, blocks=blocks, average=None)
            regularizer = self.make_regularizer()
            solution = self.solver.solve(
                problem,
                regularizer,
                on_pass=total.on_pass,
                stop=total.stop,
                max_iter=total.n_left,
                start=point,
                **self.options,
            )
            total.add(solution, n)
            self.status = solution.status
            completed = self.complete(solution.w)
            same = np.array_equal(completed, labels)
            value = solution.primal
            if not same:
                w = regularizer.padded(solution.w)
                gains = truth_gains(problem.with_truth(completed), problem, w)
                value -= float(np.dot(problem.block_weight, gains))
            fallen = np.inf if not self.objectives else self.objectives[-1] - value
            if fallen < 0:
                # by less than the gap: the round before is as good, and P must not rise
                return
            converged = self.status is Status.CONVERGED
            # of weights that are not those of the round the next ones may complete otherwise
            self.solution, self.stationary = solution, same and converged
            self.truth = labels
            self.objectives.append(value)
            tolerance = Tolerance(self.options["tol"], solution.unit)
            if (
                same
                or not converged
                or total.n_left <= 0
                or fallen <= tolerance.gap_at(solution.primal)
            ):
                return
            labels = completed
            if self.solver.keeps_dual_point:
                point = solution.continuation.save()


class Totals:
    """What the solutions of all rounds took together, and what they may.

    Parameters
    ----------
    on_pass : callable or None
        Called after each pass with its number among all.
    stop : Stop
        Knows of Ctrl-C and the clock.
    max_iter : int
        Passes that they may make.
    """

    def __init__(self, on_pass, stop, max_iter):
        self.given, self.stop, self.max_iter = on_pass, stop, max_iter
        self.n_starts = self.n_iter = self.n_oracle_calls = 0
        self.histories = []
        self.seconds = 0.0

    @property
    def n_left(self):
        """Passes that may still be made."""
        return self.max_iter - self.n_iter

    def on_pass(self, n_iter, weights):
        """Tell of a pass of the round that runs."""
        return self.given(self.n_iter + n_iter, weights)

    def add(self, solution, n_round):
        """Add the solution of a round, counted from one within its start."""
        history = dict(solution.history)
        history["n_passes"] = history["n_passes"] + self.n_iter
        history["n_oracle_calls"] = history["n_oracle_calls"] + self.n_oracle_calls
        history["time"] = history["time"] + self.seconds
        n = len(history["time"])
        history["start"] = np.full(n, self.n_starts + 1)
        history["round"] = np.full(n, n_round)
        if n:
            self.seconds = float(history["time"][-1])
        self.histories.append(history)
        self.n_iter += solution.n_iter
        self.n_oracle_calls += solution.n_oracle_calls

    def of(self, solution):
        """Return the solution of a round with the passes, calls and history of all."""
        history = {
            name: np.concatenate([part[name] for part in self.histories])
            for name in self.histories[0]
        }
        return replace(
            solution, n_iter=self.n_iter, n_oracle_calls=self.n_oracle_calls, history=history
        )


__all__ = ["Completed", "ConvexConcave", "complete"]
