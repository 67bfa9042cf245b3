"""Scorers of scikit-learn for tokens, nodes and pixels: each counts as a row."""

from functools import partial

import numpy as np

from sskit._meta_estimators import unwrap
from sskit.metrics._regions import counted_labels
from sskit.metrics._tokens import RegionScorer


class LabelScorer(RegionScorer):
    """Scorer of the labels of all samples together, without those that are ignored.

    For samples with one label each it is the given scorer.

    Parameters
    ----------
    scorer : object
        One of scikit-learn, that takes what ``predict`` returns.
    """

    def __init__(self, scorer):
        parts = scorer._score_func, scorer._sign, scorer._kwargs
        super().__init__(partial(score_labels, *parts))

    def __repr__(self):
        return f"{type(self).__name__}({self.metric.args[0].__name__})"

    def _score(self, method_caller, estimator, X, y_true, **kwargs):
        if any(getattr(inner, "form_", None) == "segments" for inner, _ in unwrap(estimator)):
            raise ValueError(
                f"{self.metric.args[0].__name__} compares the labels of tokens, but y has "
                "segments; scoring=None is their F1 score"
            )
        return super()._score(method_caller, estimator, X, y_true, **kwargs)


def score_labels(metric, sign, options, y_true, y_pred, *, ignore_label=None, sample_weight=None):
    """Return a metric of flat labels for ragged ones, the higher the better."""
    if len(y_true) and np.ndim(next(iter(y_true))) == 0:
        true, pred, weight = y_true, y_pred, sample_weight
    else:
        true, pred, weight = counted_labels(y_true, y_pred, ignore_label, sample_weight, sets=True)
    weights = {} if sample_weight is None else {"sample_weight": weight}
    return sign * metric(true, pred, **options, **weights)
