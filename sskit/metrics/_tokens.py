"""Scores of label sequences by token and by sequence, and scorers that know what is ignored."""

import numpy as np
from sklearn.metrics import make_scorer

from sskit._inside import unwrap
from sskit.inputs.ragged_array import make_offsets
from sskit.metrics._pairs import check_weights, compare


class RegionScorer:
    """Scorer of estimators that label nodes, pixels or tokens, with their own `ignore_label`.

    It is called as the scorers of scikit-learn are, and asks for metadata as they do. What has no
    label for an estimator in training, and in its own ``score``, does not count here either.

    Parameters
    ----------
    metric : callable
        Takes (y_true, y_pred, ignore_label=, sample_weight=), as `mean_iou_score` and
        `token_accuracy_score` do.

    Examples
    --------
    >>> from functools import partial
    >>> from sskit.metrics import RegionScorer, mean_iou_score
    >>> RegionScorer(partial(mean_iou_score, labels="true"))
    RegionScorer(mean_iou_score)
    """

    def __init__(self, metric):
        self.metric = metric
        self.plain = make_scorer(metric)

    def __repr__(self):
        metric = getattr(self.metric, "func", self.metric)
        return f"{type(self).__name__}({getattr(metric, '__name__', metric)})"

    def __call__(self, estimator, X, y_true, sample_weight=None, **kwargs):
        """Return the score of the predictions of a fitted estimator.

        Parameters
        ----------
        estimator : object
            Fitted.
        X : sequence of n graphs or sequences
            What it predicts for.
        y_true : sequence of n arrays (V_i,), (T_i,) or (H_i, W_i)
            True labels of nodes, tokens or pixels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the graphs or sequences.
        **kwargs : dict
            Further arguments of the metric, where metadata are routed.

        Returns
        -------
        score : float
            The larger the better.
        """
        label = ignored_by(estimator)
        scorer = self.plain if label is None else make_scorer(self.metric, ignore_label=label)
        return scorer(estimator, X, y_true, sample_weight=sample_weight, **kwargs)

    def set_score_request(self, **requests):
        """Return a scorer that asks for metadata.

        Parameters
        ----------
        **requests : dict
            By name, such as ``sample_weight=True``; see the guide of scikit-learn.

        Returns
        -------
        scorer : RegionScorer
            A new one.
        """
        scorer = type(self)(self.metric)
        scorer.plain.set_score_request(**requests)
        return scorer

    def get_metadata_routing(self):
        """Return what metadata is asked for.

        Returns
        -------
        request : MetadataRequest
            Of scikit-learn.
        """
        return self.plain.get_metadata_routing()


def ignored_by(estimator):
    """Return the `ignore_label` of an estimator, a pipeline's last step, or what a search found.

    Parameters
    ----------
    estimator : object
        Fitted.

    Returns
    -------
    label : object
        None if there is none.
    """
    inside = (inner for inner, _ in unwrap(estimator))
    return next((inner.ignore_label for inner in inside if hasattr(inner, "ignore_label")), None)


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
