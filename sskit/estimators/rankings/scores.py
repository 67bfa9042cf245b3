"""The measures that the estimators were trained for, of predictions."""

import numpy as np
from sklearn.metrics import average_precision_score, fbeta_score, roc_auc_score

from sskit.oracles.rankings.losses import worst_ranking


def of_sets(measure, offsets, weight):
    """Return the weighted mean of a measure over sets of rows.

    Parameters
    ----------
    measure : callable
        Takes a slice of rows; returns a number, or None if the set says nothing.
    offsets : ndarray of shape (n_sets + 1,)
        The rows of each set.
    weight : ndarray of shape (n_sets,) or None
        Weights of the sets.

    Returns
    -------
    mean : float
        Over the sets that say something; 0 if none does, or they weigh nothing.
    """
    total = mass = 0.0
    for i, (start, stop) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
        value = measure(slice(int(start), int(stop)))
        if value is not None:
            c = 1.0 if weight is None else float(weight[i])
            total, mass = total + c * value, mass + c
    return total / mass if mass else 0.0


def measured(loss, beta, k, relevance, scores):
    """Return the measure of one set whose rows have these scores.

    Parameters
    ----------
    loss : str
        Which measure.
    beta, k : object
        Its options.
    relevance : ndarray of shape (n,)
        0 or 1.
    scores : ndarray of shape (n,)
        Rows above 0 are labelled 1.

    Returns
    -------
    value : float or None
        None where it is not defined.
    """
    n_high = int(relevance.sum())
    if not n_high:
        return None
    if loss in ("f1", "f_beta"):
        return fbeta_score(relevance, 1 * (scores > 0), beta=beta, zero_division=0.0)
    if n_high == len(relevance):
        return None
    if loss == "roc_area":
        return roc_auc_score(relevance, scores)
    if loss == "average_precision":
        return average_precision_score(relevance, scores)
    top = np.argsort(-scores, kind="stable")[: n_places(k, len(relevance), n_high)]
    return relevance[top].mean()


def n_places(k, n_rows, n_high):
    """Return the number of places at the top of a set of rows."""
    if k is None:
        return n_high
    return min(k, n_rows) if k >= 1 else min(n_rows, max(1, int(np.ceil(k * n_rows))))


def ordered_share(relevance, scores):
    """Return which share of pairs of rows is in order, equal scores half; None without pairs."""
    if relevance.min() == relevance.max():
        return None
    ranks = np.unique(scores, return_inverse=True)[1].astype(np.float64)
    # a pair counts as wrong where the lower row plus this is above the higher one
    wrong, not_right = (
        worst_ranking(ranks, relevance, "roc_area", loss_weight=weight)[1] for weight in (0.0, 0.5)
    )
    return 1.0 - 0.5 * (wrong + not_right)
