"""The terms of the objective by the parameters: costs of labels, weights, the default lam."""

from __future__ import annotations

import numbers
from dataclasses import dataclass

import numpy as np

from sskit._labels import plain, warn_of_unmatched
from sskit._warnings import warn
from sskit.estimators.base.task import Options
from sskit.estimators.combinations import check_combinations
from sskit.inputs.labels.partial import mean_weights, set_mask
from sskit.inputs.weights import class_factors, cost_table, factored, labels_with_costs

# Parameters that may be dicts by label.
BY_LABEL = "class_weight", "loss", "max_length", "n_components", "n_states_per_label"
# Weights all below the first, or that have a mean above the second, are no numbers of repetitions.
SMALL_WEIGHT, LARGE_WEIGHT = 0.1, 10.0
# The default lam of the likelihood, as a factor of R^2 / n: with 2,000 sequences of chunks, parts
# of speech and addresses the log-loss is at most 1.2 % above that of the best factor; with 0.1 and
# 0.03 it is up to 7 % and 2.5 % above. For rows it is the one with the least mean ratio to the
# best of 1/4, 1/20, 1/80 and 1/320, in 38 tables.
# That of hinges came closest to the best lam over all tables of rows; see the benchmarks.
HINGES = 0.25
LIKELIHOOD, LIKELIHOOD_RULE = 0.05, "R^2 / (20 n)"
# In a kernel space, where more weights share the work (see the guide for its table).
IN_KERNEL_SPACE, KERNEL_RULE = 0.01, "R^2 / (100 n)"


@dataclass(frozen=True, kw_only=True)
class CostOptions(Options):
    """The options of a fit to labels.

    Attributes
    ----------
    table : ndarray of shape (K, K) or None
        Costs of predicted labels by the true one; None if all wrong labels cost the same, or the
        loss is a function.
    factors : ndarray of shape (K,), default=None
        Weights of the true labels; None without `class_weight`.
    states : LabelStates, default=None
        Which hidden states labels have; None where they have none.
    """

    table: np.ndarray | None
    factors: np.ndarray | None = None
    states: object = None


def decided_costs(estimator, labels):
    """Return the costs of `CostOptions`, or raise ValueError if they do not fit the labels.

    Parameters
    ----------
    estimator : StructuredEstimator
        Has the parameters `loss` and `class_weight`.
    labels : Labels
        Of all data.

    Returns
    -------
    costs : dict
        By name.
    """
    table, factors = cost_table(estimator.loss, labels.values), None
    if estimator.class_weight is not None:
        factors = class_factors(estimator.class_weight, labels.values, labels.counts)
    return {"table": table, "factors": factors}


def training_costs(estimator, options, labels, lengths, partial=None, token_weight=None):
    """Return the loss of a wrong label at each token, and the costs of pairs of labels.

    Parameters
    ----------
    estimator : StructuredEstimator
        With the parameter `loss`.
    options : CostOptions
        Of the fit. Where one of several labels is right, the weight of the class is their mean.
    labels : ndarray of shape (n_tokens,)
        True labels, 0 to K - 1; of those that are not known any that is possible.
    lengths : ndarray of shape (n,)
        Numbers of tokens of the samples.
    partial : PartialLabels or None
        What is known of the labels, if that is not all.
    token_weight : ndarray of shape (n_tokens,) or None
        Weights of the tokens.

    Returns
    -------
    cost : ndarray of shape (n_tokens,)
        Non-negative; zero where nothing is known.
    table : ndarray of shape (K, K) or None
        By which these are to be multiplied, by true and predicted label; None: 1 for all wrong
        labels.

    Raises
    ------
    ValueError
        If the solver takes no costs of pairs.
    """
    cost, table, factors = np.ones(len(labels)), options.table, options.factors
    if isinstance(estimator.loss, str) and estimator.loss == "hamming":
        cost /= np.repeat(lengths, lengths)
    if factors is not None and partial is None:
        cost *= factors[labels]
    if token_weight is not None:
        cost *= token_weight
    # of a set of labels it is the least cost that counts, not that of one of them
    if table is not None and (partial is None or set_mask(partial) is None):
        by_label, table = factored(table)
        cost *= by_label[labels]
    if table is not None:
        words = "loss, whose costs differ beside the same true label,"
        check_combinations(estimator, options.solver, **{"costs of pairs": words})
    if partial is None:
        return cost, table
    if factors is None:
        factors = np.ones(len(partial.classes))
    return cost * mean_weights(partial, factors), table


def check_entries_by_label(estimator):
    """Raise ValueError, naming it, for an entry of a dict by label that is not such a number."""
    for name in BY_LABEL:
        by_label = getattr(estimator, name, None)
        # costs are checked as a table
        numbered = isinstance(by_label, dict) and name != "loss"
        for label, value in by_label.items() if numbered else ():
            good = isinstance(value, numbers.Integral) and not isinstance(value, bool) and value > 0
            expected = "a positive integer"
            if name == "class_weight":
                good = isinstance(value, numbers.Real) and 0 <= value < np.inf
                expected = "a finite number >= 0"
            if not good:
                raise ValueError(f"{name}[{label!r}] is {value!r:.80}, expected {expected}")


def warn_of_labels(estimator, labels):
    """Warn of parameters by label whose keys seem to be written otherwise than labels are."""
    for name in BY_LABEL:
        by_label = getattr(estimator, name, None)
        if isinstance(by_label, dict):
            optional = (plain(getattr(estimator, "outside", None)),)
            by_label = labels_with_costs(by_label) if name == "loss" else by_label
            warn_of_unmatched(by_label, labels.values.tolist(), name, optional)


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
    weight : ndarray of shape (n,)
        Weights of the samples.
    """
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if 0 < weight.max() < SMALL_WEIGHT or total > LARGE_WEIGHT * len(weight):
        warn(
            f"the weights of the {len(weight)} samples add up to {total:.3g}: without lam they "
            "are taken for numbers of repetitions, and lam follows from their sum; divide them by "
            "their mean, or set lam",
        )
