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
    tolerance : Tolerance
        Says which gap ends the fit.
    primal : float
        What P(w) hardly exceeds from now on.
    """

    def __init__(self, every, tolerance, primal):
        self.every = every
        self.tolerance = tolerance
        self.primal = primal
        self.ratio = 1.0
        self.last = np.inf

    def due(self, n_iter, estimate, lower_bound, last=False):
        """Tell whether the exact pass should come now.

        Parameters
        ----------
        n_iter : int
            Number of passes so far.
        estimate : float
            Sum of the gaps that the last pass has seen.
        lower_bound : callable
            Returns the present dual objective; called only if much speaks for an exact pass.
        last : bool, default=False
            Whether the fit ends in any case.

        Returns
        -------
        due : bool
            False if a prediction has just proved wrong, until the estimate is lower by a tenth.
        """
        if last or n_iter % self.every == 0:
            return True
        return estimate <= 0.9 * self.last and self.enough(estimate * self.ratio, lower_bound)

    def enough(self, gap, lower_bound):
        """Return whether a gap would end the fit."""
        hopeless = not gap < np.inf or gap > self.tolerance.gap_at(self.primal)
        return not hopeless and gap <= self.tolerance.gap_above(lower_bound())

    def believes(self, estimate, lower_bound):
        """Return whether an estimate ends the fit: it never does, which is for exact passes."""
        return False

    def learn(self, estimate, certificate):
        """Compare an estimate with the certificate that was then found."""
        self.last = estimate
        self.primal = min(self.primal, certificate.known_primal)
        if 0.0 < estimate < np.inf:
            self.ratio = min(certificate.known_gap / estimate, 1.0)


class EstimateRule(ExactPassRule):
    """The estimate itself ends the fit; exact passes renew what it is made of, every few passes."""

    def due(self, n_iter, estimate, lower_bound, last=False):
        """Tell whether the exact pass should come now; see `ExactPassRule.due`."""
        return n_iter % self.every == 0

    def believes(self, estimate, lower_bound):
        """Return whether an estimate ends the fit."""
        return self.enough(estimate, lower_bound)
