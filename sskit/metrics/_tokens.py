"""Scores of label sequences by token and by sequence."""

import numpy as np

from sskit.inputs.ragged_array import make_offsets
from sskit.metrics._pairs import check_weights, compare
from sskit.metrics._scorers import RegionScorer


def token_accuracy_score(y_true, y_pred, *, ignore_label=None, sample_weight=None):
    """Compute the share of tokens that are labelled correctly.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,)
        The true labels; of a token with a set or frozenset of labels each of these is right.
    y_pred : sequence of n label sequences (T_i,)
        The predicted labels.
    ignore_label : object, default=None
        True label of tokens that do not count; None means that all count.
    sample_weight : array-like of shape (n,) or None, default=None
        Weights of the sequences; every token has the weight of its sequence.

    Returns
    -------
    score : float
        Between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        If lengths or kinds of labels differ between the two, or no token counts.

    Examples
    --------
    >>> from sskit.metrics import token_accuracy_score
    >>> token_accuracy_score([["a", "b", "b"], ["a"]], [["a", "b", "a"], ["a"]])
    0.75
    >>> token_accuracy_score([["a", {"a", "b"}, "?"]], [["b", "b", "b"]], ignore_label="?")
    0.5
    """
    right, counts, offsets = compare(y_true, y_pred, ignore_label)
    weights = np.repeat(check_weights(sample_weight, len(offsets) - 1), np.diff(offsets))
    return mean_of(right, weights * counts)


def sequence_accuracy_score(y_true, y_pred, *, ignore_label=None, sample_weight=None):
    """Compute the share of sequences that are labelled correctly throughout.

    Sequences with tokens of which none counts do not count.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,)
        The true labels; of a token with a set or frozenset of labels each of these is right.
    y_pred : sequence of n label sequences (T_i,)
        The predicted labels.
    ignore_label : object, default=None
        True label of tokens that do not count; None means that all count.
    sample_weight : array-like of shape (n,) or None, default=None
        Weights of the sequences.

    Returns
    -------
    score : float
        Between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        As `token_accuracy_score`.

    Examples
    --------
    >>> from sskit.metrics import sequence_accuracy_score
    >>> sequence_accuracy_score([["a", "b", "b"], ["a"]], [["a", "b", "a"], ["a"]])
    0.5
    """
    right, counts, offsets = compare(y_true, y_pred, ignore_label)
    n_wrong, n_labels = (np.diff(make_offsets(some)[offsets]) for some in (counts & ~right, counts))
    weights = check_weights(sample_weight, len(offsets) - 1)
    return mean_of(n_wrong == 0, weights * ((n_labels > 0) | (np.diff(offsets) == 0)))


token_accuracy_scorer = RegionScorer(token_accuracy_score)
sequence_accuracy_scorer = RegionScorer(sequence_accuracy_score)


def mean_of(right, weights):
    """Return the weighted share of what is right; ValueError if nothing counts."""
    if not weights.any():
        raise ValueError("no sequence with a weight has a label in y_true but ignore_label")
    return float(np.average(right, weights=weights))
