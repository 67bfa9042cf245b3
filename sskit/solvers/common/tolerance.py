"""How far from the optimum a fit may end."""

import numpy as np

# What is negligible beside P(0): a fit need not tell apart models that have next to nothing left to
# gain. Larger, and labels that are rarer than one in a thousand would not count.
NEGLIGIBLE = 1e-3


class Tolerance:
    """A duality gap that is at most a share of the objective: gap <= share * (P(w) + offset).

    As P(w) - P* is at most the gap, P(w) exceeds the optimum P* by at most that share of itself,
    but for the offset. Unlike a gap relative to P(0), the loss of who knows nothing, it means the
    same where most labels are known without learning.

    Where the oracle may miss the maximum and bounds it, gap and P(w) are those of the best known
    labellings: passes can close no more of the gap than that.

    Parameters
    ----------
    share : float
        At least 0. From 1 on any dual point will do, for dual objectives are not negative.
    unit : float, default=0.0
        P(0), the mean largest loss; the offset is `NEGLIGIBLE` times that.
    """

    def __init__(self, share, unit=0.0):
        self.share = share
        self.offset = NEGLIGIBLE * unit

    def gap_at(self, primal):
        """Return the largest gap that is small enough where P(w) is `primal`."""
        return self.share * (primal + self.offset)

    def gap_above(self, dual):
        """Return the largest gap that is small enough where D is `dual`, and P(w) is D + gap."""
        return self.gap_at(max(dual, 0.0)) / (1.0 - self.share) if self.share < 1.0 else np.inf

    def holds(self, certificate):
        """Return whether the numbers of a `Certificate` are finite and the gap is small enough."""
        primal = certificate.known_primal
        return bool(np.isfinite(primal) and certificate.known_gap <= self.gap_at(primal))


def relative(gap, primal, unit):
    """Return the share of the objective that a gap is, see `Tolerance`; 0 where there is none."""
    return gap / (primal + NEGLIGIBLE * unit) if gap else 0.0
