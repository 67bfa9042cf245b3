"""When exact passes come."""

import numpy as np


class ExactPassRule:
    """When to make an exact pass: every few passes, and when it may well be the last.

    The gaps that a pass has seen, each before the step that it led to, sum to more than the
    gap after the pass, by a factor that changes slowly: the last exact pass has shown it.

    Parameters
    ----------
    every : int
        Number of passes between regular exact passes.
    target : float
        Gap at which the fit ends.
    """

    def __init__(self, every, target):
        self.every = every
        self.target = target
        self.ratio = 1.0
        self.last = np.inf

    def due(self, n_iter, estimate, last=False):
        """Tell whether the exact pass should come now.

        Parameters
        ----------
        n_iter : int
            Number of passes so far.
        estimate : float
            Sum of the gaps that the last pass has seen.
        last : bool, default=False
            Whether the fit ends in any case.

        Returns
        -------
        due : bool
            False if a prediction has just proved wrong, until the estimate is lower by a tenth.
        """
        if last or n_iter % self.every == 0:
            return True
        return estimate * self.ratio <= self.target and estimate <= 0.9 * self.last

    def believes(self, estimate):
        """Return whether an estimate ends the fit: it never does, which is for exact passes."""
        return False

    def learn(self, estimate, gap):
        """Compare an estimate with the gap that was then found."""
        self.last = estimate
        if 0.0 < estimate < np.inf:
            self.ratio = min(gap / estimate, 1.0)


class EstimateRule(ExactPassRule):
    """The estimate itself ends the fit; exact passes renew what it is made of, every few passes."""

    def due(self, n_iter, estimate, last=False):
        """Tell whether the exact pass should come now; see `ExactPassRule.due`."""
        return n_iter % self.every == 0

    def believes(self, estimate):
        """Return whether an estimate ends the fit."""
        return estimate <= self.target
