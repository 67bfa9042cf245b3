"""The convex-concave procedure: labels that are not known are completed, round after round."""

from dataclasses import dataclass, replace

import numpy as np

from sskit.estimators.completion.partial_labels import set_mask
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
        Maps flat weights to the best labels (N,) that agree with what is known.
    known_part : callable
        Returns the problem of the known tokens alone, or None if there are none, and a function
        that maps its weights to those that the first completion takes.
    drawn : callable
        Returns labels (N,) to begin with where there is no known part.

    Attributes
    ----------
    objectives : list of float
        P(w) at the end of each round.
    stationary : bool
        Whether the last round would be repeated: it converged, and its weights complete the labels
        as before.

    References
    ----------
    Yuille, Rangarajan (2003). The concave-convex procedure. Neural Computation 15.

    Yu, Joachims (2009). Learning structural SVMs with latent variables. ICML (algorithm 1).
    """

    complete: object
    known_part: object
    drawn: object

    def __post_init__(self):
        self.objectives = []
        self.stationary = False

    def solve(self, solver, problem, make_regularizer, *, on_pass, stop, max_iter, **options):
        """Solve the problem, round after round.

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
            rounds, without those over the known part.
        **options : dict
            As for the same.

        Returns
        -------
        solution : Solution
            Of the last round, with the calls and the history of all.
        """
        part, adapted = self.known_part()
        if part is None:
            labels = self.drawn()
        else:
            start = solver.solve(part, make_regularizer(), stop=stop, max_iter=max_iter, **options)
            labels = self.complete(adapted(start.w))
        total, point, best = Totals(), None, None
        for _ in range(MAX_ROUNDS):
            earlier, problem = problem, problem.with_truth(labels)
            if point is not None:
                blocks = move_truths(point.blocks, problem, earlier)
                point = replace(point, blocks=blocks, average=None)
            regularizer = make_regularizer()
            solution = solver.solve(
                problem,
                regularizer,
                on_pass=total.counting(on_pass),
                stop=stop,
                max_iter=max_iter - total.n_iter,
                start=point,
                **options,
            )
            total.add(solution)
            completed = self.complete(solution.w)
            same = np.array_equal(completed, labels)
            value = solution.primal
            if not same:
                w = regularizer.padded(solution.w)
                gains = truth_gains(problem.with_truth(completed), problem, w)
                value -= float(np.dot(problem.block_weight, gains))
            if best is not None and value > self.objectives[-1]:
                # by less than the gap: the round before is as good, and P must not rise
                break
            fallen = np.inf if best is None else self.objectives[-1] - value
            converged = solution.status is Status.CONVERGED
            # of weights that are not those of the round the next ones may complete otherwise
            best, self.stationary = solution, same and converged
            self.objectives.append(value)
            tolerance = Tolerance(options["tol"], solution.unit)
            if (
                same
                or not converged
                or total.n_iter >= max_iter
                or fallen <= tolerance.gap_at(solution.primal)
            ):
                break
            labels = completed
            point = solution.continuation.save() if solver.keeps_dual_point else None
        return replace(total.of(best), status=solution.status)

    def attributes(self):
        """Return the fitted attributes that tell of the rounds, by name."""
        return {
            "n_rounds_": len(self.objectives),
            "round_objectives_": np.array(self.objectives),
            "stationary_": self.stationary,
        }


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
    return ConvexConcave(hidden.complete, hidden.known_part, lambda: hidden.drawn(random_state))


class Totals:
    """What the solutions of all rounds took together."""

    def __init__(self):
        self.n_iter = self.n_oracle_calls = 0
        self.histories = []
        self.seconds = 0.0

    def counting(self, on_pass):
        """Return a callback of passes that counts those of earlier rounds too."""
        before = self.n_iter
        return lambda n_iter, weights: on_pass(before + n_iter, weights)

    def add(self, solution):
        """Add the solution of a round."""
        history = dict(solution.history)
        history["n_passes"] = history["n_passes"] + self.n_iter
        history["n_oracle_calls"] = history["n_oracle_calls"] + self.n_oracle_calls
        history["time"] = history["time"] + self.seconds
        n = len(history["time"])
        history["round"] = np.full(n, len(self.histories) + 1)
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


__all__ = ["ConvexConcave", "complete"]
