"""Training labels of which some are not known: validation and costs."""

import numpy as np

from sskit.estimators.combinations import check_combinations
from sskit.estimators.reading.partial_labels import check_partial_labels, label_counts, set_mask
from sskit.inputs.ragged_array import locate, make_offsets
from sskit.inputs.weights import class_factors, cost_table, factored
from sskit.models.chain.model import token_costs


def read_labels(estimator, y, lengths, part=False):
    """Return labels for training, checked.

    Parameters
    ----------
    estimator : StructuredEstimator
        With the parameter `ignore_label`.
    y : sequence of n sequences (T_i,)
        Labels, sets of labels, and `ignore_label`.
    lengths : ndarray of shape (n,)
        How many there must be.
    part : bool, default=False
        Whether these are a part of the data only.

    Returns
    -------
    partial : PartialLabels
        What is known of them.

    Raises
    ------
    TypeError, ValueError
        As `check_partial_labels`; or if nothing is known; or, where something is not, if the
        estimator has a parameter that needs all labels.
    """
    partial = check_partial_labels(y, lengths, estimator.ignore_label)
    if partial.possible is None:
        return partial
    if partial.ignored.all():
        raise ValueError(f"y has no labels but ignore_label={estimator.ignore_label!r}")
    if partial.possible.all() and not part:
        raise ValueError("y determines nothing: every label is possible at every token")
    t = np.flatnonzero(partial.n_possible > 1)[:1]
    if len(t):
        place = "y[{}][{}]".format(*locate(make_offsets(lengths), t[0]))
        given = {"unknown": f"{place}, which has no known label,"}
        some = (partial.n_possible < len(partial.classes)) & (partial.n_possible > 1)
        if some.any():
            given["sets"] = "a set of labels of which one is right"
        check_combinations(estimator, **given)
    return partial


def training_costs(estimator, labels, lengths, known, partial=None, token_weight=None):
    """Return the loss of a wrong label at each token, and the costs of pairs of labels.

    Parameters
    ----------
    estimator : StructuredEstimator
        With the parameters `loss` and `class_weight`. Where one of several labels is right, the
        weight of the class is their mean.
    labels : ndarray of shape (n_tokens,)
        True labels, 0 to K - 1; of those that are not known any that is possible.
    lengths : ndarray of shape (n,)
        Numbers of tokens of the samples.
    known : Labels
        All labels, and how often each of them occurs in all training data.
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
        If a weight of a class or a cost is wrong, a label that is to be balanced is nowhere more
        likely than others, or the solver takes no costs of pairs.
    """
    class_weight = estimator.class_weight
    factors = class_weight if partial is None else None
    table, loss = cost_table(estimator.loss, known.values), estimator.loss
    if table is not None:
        loss = "hamming_sum"
    cost = token_costs(loss, factors, known.values, labels, lengths, known.counts)
    if token_weight is not None:
        cost *= token_weight
    # of a set of labels it is the least cost that counts, not that of one of them
    if table is not None and (partial is None or set_mask(partial) is None):
        by_label, table = factored(table)
        cost *= by_label[labels]
    if table is not None:
        words = "loss, whose costs differ beside the same true label,"
        check_combinations(estimator, **{"costs of pairs": words})
    if partial is None:
        return cost, table
    factors = np.ones(len(partial.classes))
    if class_weight is not None:
        factors = class_factors(class_weight, partial.classes, known.counts)
    return cost * label_counts(partial, factors), table
