"""The convex-concave procedure for data in parts: workers complete the unknown labels."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sskit.solvers.convex_concave import Totals, descend


class Stage(NamedTuple):
    """A stage of the procedure: the weights by which all parts have completed their labels.

    Attributes
    ----------
    number : int
        Number of the round; 0: nothing is completed, and only stretches of known labels are learned
        from.
    w : ndarray of shape (n_weights,) or None
        Weights under which labels were completed, in round 1 those of stage 0; None: at random.
    """

    number: int
    w: np.ndarray | None = None


class PartRounds:
    """Rounds over parts, whose workers complete the labels.

    Parameters
    ----------
    workers : Workers
        The workers that have the parts.
    plan : Plan
        Of the fit, with the first `Stage`.
    solve : callable
        Takes a plan and options; returns the solution of the parts at its stage.
    """

    truth = None  # on the workers

    def __init__(self, workers, plan, solve):
        self.workers, self.plan, self.solve_at = workers, plan, solve

    def solve(self, **options):
        """Return the solution for the present truths."""
        return self.solve_at(self.plan, **options)

    def gain(self, w):
        """Complete under the weights of a solution; return whether truths stay, and the gain."""
        stage, later = self.plan.stage, Stage(self.plan.stage.number + 1, w)
        answers = self.workers.surely("advance", self.plan.summary, stage, later)
        self.plan = replace(self.plan, stage=later)
        same, gains = zip(*sum(answers, []), strict=True)
        return all(same), sum(gains)

    def advance(self, solution):
        """Make the completions the truth, as the parts have done."""


def solve_in_rounds(workers, plan, solve, on_pass, stop, max_iter, tol):
    """Solve, round after round, beginning with the stretches of known labels.

    Parameters
    ----------
    workers, plan, solve : object
        As of `PartRounds`.
    on_pass : callable
        Called after each pass of a round.
    stop : Stop
        Tells of Ctrl-C and of the time limit.
    max_iter : int
        Passes that all rounds together may make.
    tol : float
        Relative tolerance.

    Returns
    -------
    solution : Solution
        Of the last round, with the calls and the history of all.
    descent : Descent
        Has the record of the rounds.
    """
    w = None
    if plan.summary.n_certain:
        options = {"on_pass": None, "stop": stop, "max_iter": max_iter, "tol": tol}
        w = solve(replace(plan, stage=Stage(0)), **options).w
    rounds = PartRounds(workers, replace(plan, stage=Stage(1, w)), solve)
    total = Totals(on_pass, stop, max_iter)
    descent = descend(rounds, total, {"tol": tol})
    return total.of(descent), descent
