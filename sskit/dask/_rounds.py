"""The convex-concave procedure for data in parts, each of which completes its unknown labels."""

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


class CompletionRoundsInParts:
    """Rounds over data in parts, whose labels are completed where they are.

    Parameters
    ----------
    places : Places
        Have the parts.
    plan : Plan
        Of the fit, with the first `Stage`.
    solve : callable
        Takes a plan and options; returns the solution of the parts at its stage.
    """

    truth = None  # each part has its own

    def __init__(self, places, plan, solve):
        self.places, self.plan, self.solve_at = places, plan, solve

    def solve(self, **options):
        """Return the solution for the present truths."""
        return self.solve_at(self.plan, **options)

    def gain(self, w):
        """Complete under the weights of a solution; return whether truths stay, and the gain."""
        stage, later = self.plan.stage, Stage(self.plan.stage.number + 1, w)
        answers = self.places.surely("advance", self.plan.summary, stage, later)
        self.plan = replace(self.plan, stage=later)
        same, gains = zip(*sum(answers, []), strict=True)
        return all(same), sum(gains)

    def advance(self, solution):
        """Make the completions the truth, as the parts have done."""


def solve_in_rounds(places, plan, solve, on_pass, stop, max_iter, tol):
    """Solve, round after round, beginning with the stretches of known labels.

    Parameters
    ----------
    places, plan, solve : object
        As of `CompletionRoundsInParts`.
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
    rounds = CompletionRoundsInParts(places, replace(plan, stage=Stage(1, w)), solve)
    total = Totals(on_pass, stop, max_iter)
    descent = descend(rounds, total, {"tol": tol})
    return total.of(descent), descent
