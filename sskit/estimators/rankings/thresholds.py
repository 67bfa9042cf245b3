"""Thresholds for scores that were learnt for a ranking."""

from dataclasses import dataclass

import numpy as np

from sskit.estimators.base.linear import linear_scores


@dataclass(frozen=True)
class ThresholdAttributes:
    """Maps flat weights to fitted attributes, and sets the intercept afterwards.

    It is the threshold above which so many training rows lie, half way to the next one.

    Attributes
    ----------
    to_attributes : BlockAttributes
        That of the weights.
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        Training rows.
    n_above : int
        How many rows are to lie above it, at least 0 and at most n_rows.
    """

    to_attributes: object
    X: object
    n_above: int

    def __call__(self, w):
        """Return fitted attributes by name, of flat weights."""
        fitted = self.to_attributes(w)
        scores = linear_scores(self.X, fitted["coef_"], np.zeros(1)).ravel()
        return fitted | {"intercept_": np.array([-threshold(scores, self.n_above)])}

    def names(self):
        """Return the attributes that say what entries of weights are of."""
        return self.to_attributes.names()

    def weight_shapes(self):
        """Return the shapes of the weights by the names of their attributes."""
        return self.to_attributes.weight_shapes()

    def flat(self, weights):
        """Return the flat weights of arrays of these shapes."""
        return self.to_attributes.flat(weights)


def threshold(scores, n_above):
    """Return a number above which so many of n scores lie, fewer if there are equal ones."""
    if not np.isfinite(scores).all():
        return 0.0  # what overflows is found at the end of the fit
    n = len(scores)
    if n_above in (0, n):
        edge = scores.max() if n_above == 0 else np.nextafter(scores.min(), -np.inf)
        return float(edge)
    ordered = np.partition(scores, [n - n_above - 1, n - n_above])
    below, above = ordered[n - n_above - 1], ordered[n - n_above]
    return float(below + 0.5 * (above - below))
