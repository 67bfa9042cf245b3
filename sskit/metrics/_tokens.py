"""Scores of label sequences by token and by sequence."""

import numpy as np
from sklearn.metrics import make_scorer

from sskit.inputs.ragged_array import make_offsets
from sskit.metrics._pairs import check_weights, compare


def token_accuracy_score(y_true, y_pred, *, sample_weight=None):
    """Compute the share of tokens that are labelled correctly.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,)
        The true labels.
    y_pred : sequence of n label sequences (T_i,)
        The predicted labels.
    sample_weight : array-like of shape (n,) or None, default=None
        Weights of the sequences; every token has the weight of its sequence.

    Returns
    -------
    score : float
        Between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        If lengths or kinds of labels differ between the two, or there are no labels.

    Examples
    --------
    >>> from sskit.metrics import token_accuracy_score
    >>> token_accuracy_score([["a", "b", "b"], ["a"]], [["a", "b", "a"], ["a"]])
    0.75
    """
    right, offsets = compare(y_true, y_pred)
    weights = np.repeat(check_weights(sample_weight, len(offsets) - 1), np.diff(offsets))
    return float(np.average(right, weights=weights))


def sequence_accuracy_score(y_true, y_pred, *, sample_weight=None):
    """Compute the share of sequences that are labelled correctly throughout.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,)
        The true labels.
    y_pred : sequence of n label sequences (T_i,)
        The predicted labels.
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
    right, offsets = compare(y_true, y_pred)
    n_right = np.diff(make_offsets(right)[offsets])
    weights = check_weights(sample_weight, len(offsets) - 1)
    return float(np.average(n_right == np.diff(offsets), weights=weights))


token_accuracy_scorer = make_scorer(token_accuracy_score)
sequence_accuracy_scorer = make_scorer(sequence_accuracy_score)
