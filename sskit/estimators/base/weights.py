"""Weights of samples and classes, and the default lam that follows from them."""

import numbers

import numpy as np

from sskit._warnings import warn

# Weights all below the first, or that have a mean above the second, are no numbers of repetitions.
SMALL_WEIGHT, LARGE_WEIGHT = 0.1, 10.0


def check_entries_by_label(estimator):
    """Raise ValueError, naming it, for an entry of a dict by label that is not such a number."""
    for name in ("class_weight", "max_length", "n_components", "n_states_per_label"):
        by_label = getattr(estimator, name, None)
        for label, value in by_label.items() if isinstance(by_label, dict) else ():
            good = isinstance(value, numbers.Integral) and not isinstance(value, bool) and value > 0
            expected = "a positive integer"
            if name == "class_weight":
                good = isinstance(value, numbers.Real) and 0 <= value < np.inf
                expected = "a finite number >= 0"
            if not good:
                raise ValueError(f"{name}[{label!r}] is {value!r:.80}, expected {expected}")


# The default lam of the likelihood, as a factor of R^2 / n: with 2,000 sequences of chunks, parts
# of speech and addresses the log-loss is at most 1.2 % above that of the best factor; with 0.1 and
# 0.03 it is up to 7 % and 2.5 % above. For rows it is the one with the least mean ratio to the
# best of 1/4, 1/20, 1/80 and 1/320, in 38 tables.
# That of hinges came closest to the best lam over all tables of rows; see the benchmarks.
HINGES = 0.25
LIKELIHOOD, LIKELIHOOD_RULE = 0.05, "R^2 / (20 n)"
# In a kernel space, where more weights share the work (see the guide for its table).
IN_KERNEL_SPACE, KERNEL_RULE = 0.01, "R^2 / (100 n)"


def default_lam(summary):
    """Return 1 / sum of the sample weights, 1 / n without."""
    return 1.0 / summary.weights.total


def surrogate_lam(summary, in_kernel_space=False):
    """Return factor R^2 / n, with R^2 the mean squared norm of a row, so that its scale cancels.

    Parameters
    ----------
    summary : RowSummary
        Of all data, with the scale of the rows; the sum of the weights takes the place of n.
    in_kernel_space : bool, default=False
        Whether the weights are functions.

    Returns
    -------
    lam : float
        As if factor R^2 were one if all features are zero.
    rule : str
        That of the likelihood; "" of hinges, see `StructuredEstimator`.
    """
    if not summary.options.likelihood:
        factor, rule = HINGES, ""
    elif in_kernel_space:
        factor, rule = IN_KERNEL_SPACE, KERNEL_RULE
    else:
        factor, rule = LIKELIHOOD, LIKELIHOOD_RULE
    return summary.scale.times(factor) / summary.weights.total, rule


def warn_of_weights(weight):
    """Warn of sample weights of another size than one, where lam follows from their sum.

    Parameters
    ----------
    weight : ndarray of shape (n,) or None
        Weights of the samples.
    """
    if weight is None:
        return
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if 0 < weight.max() < SMALL_WEIGHT or total > LARGE_WEIGHT * len(weight):
        warn(
            f"the weights of the {len(weight)} samples add up to {total:.3g}: without lam they "
            "are taken for numbers of repetitions, and lam follows from their sum; divide them by "
            "their mean, or set lam",
        )


def resolved_lam(estimator, default):
    """Return the lam of an estimator as a float, a default one if it names none."""
    return default if estimator.lam is None else float(estimator.lam)


def weight_argument(sample_weight):
    """Return sample weights as a keyword of methods that need not take any."""
    return {} if sample_weight is None else {"sample_weight": sample_weight}
