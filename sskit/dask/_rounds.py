"""The convex-concave procedure for data in parts: labels that are not known, completed in place."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sskit.estimators.base.convex_concave import Totals, descend


class Stage(NamedTuple):
    """By what all parts have completed their labels.

    Attributes
    ----------
    number : int
        0: not at all, stretches of known labels alone are learned from; then of the round.
    w : ndarray of shape (n_weights,) or None
        Weights under which labels were completed, in round 1 those of stage 0; None: at random.
    """

    number: int
    w: np.ndarray | None = None


class PartRounds:
    """Rounds over parts, which complete their labels where they lie.

    Parameters
    ----------
    workers : Workers
        Who has the parts.
    plan : Plan
        Of the fit, with the first `Stage`.
    solve : callable
        Takes a plan and options; returns the solution of the parts at its stage.
    """

    truth = None  # the parts have it

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
        """Take the completions for the truth, as the parts have done."""


def solve_in_rounds(workers, plan, solve, on_pass, stop, max_iter, tol):
    """Solve, round after round, beginning with the stretches of known labels.

    Parameters
    ----------
    workers, plan, solve : object
        As of `PartRounds`.
    on_pass : callable
        Called after each pass of a round.
    stop : Stop
        Knows of Ctrl-C and the clock.
    max_iter : int
        Passes that all rounds together may make.
    tol : float
        Relative tolerance.

    Returns
    -------
    solution : Solution
        Of the last round, with the calls and the history of all.
    descent : Descent
        Tells of the rounds.
    """
    w = None
    if plan.summary.n_certain:
        given = {"on_pass": None, "stop": stop, "max_iter": max_iter, "tol": tol}
        w = solve(replace(plan, stage=Stage(0)), **given).w
    rounds = PartRounds(workers, replace(plan, stage=Stage(1, w)), solve)
    total = Totals(on_pass, stop, max_iter)
    descent = descend(rounds, total, {"tol": tol})
    return total.of(descent), descent
