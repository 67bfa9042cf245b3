"""The costs of labels, as parameters ask for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sskit.estimators.base.options import Options
from sskit.estimators.combinations import check_combinations
from sskit.inputs.labels.partial import label_counts, set_mask
from sskit.inputs.weights import class_factors, cost_table, factored


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
    return cost * label_counts(partial, factors), table
