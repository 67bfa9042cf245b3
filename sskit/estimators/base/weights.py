"""Weights of samples and classes, and what follows from them."""

import numbers

import numpy as np


def check_entries_by_label(estimator):
    """Raise ValueError, naming it, for an entry of a dict by label that is not such a number."""
    for name in ("class_weight", "max_length", "n_components", "n_states_per_label"):
        given = getattr(estimator, name, None)
        for label, value in given.items() if isinstance(given, dict) else ():
            good = isinstance(value, numbers.Integral) and not isinstance(value, bool) and value > 0
            expected = "a positive integer"
            if name == "class_weight":
                good = isinstance(value, numbers.Real) and 0 <= value < np.inf
                expected = "a finite number >= 0"
            if not good:
                raise ValueError(f"{name}[{label!r}] is {value!r:.80}, expected {expected}")


def default_lam(summary):
    """Return 1 / sum of the sample weights, 1 / n without."""
    return 1.0 / summary.weights.total


def scaled_lam(summary, factor=0.25):
    """Return factor R^2 / n, with R^2 the mean squared norm of a row, so that its scale cancels.

    Parameters
    ----------
    summary : RowSummary
        Of all data, with the scale of the rows; the sum of the weights takes the place of n.
    factor : float, default=0.25
        That which came closest to the best lam over all tables of rows; see the guide.

    Returns
    -------
    lam : float
        As if factor R^2 were one if all features are zero.
    """
    return summary.scale.times(factor) / summary.weights.total


def resolved_lam(estimator, default):
    """Return the lam of an estimator as a float, a default one if it names none."""
    return default if estimator.lam is None else float(estimator.lam)


def weight_argument(sample_weight):
    """Return sample weights as a keyword of methods that need not take any."""
    return {} if sample_weight is None else {"sample_weight": sample_weight}
