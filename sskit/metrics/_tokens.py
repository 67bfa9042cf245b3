"""Scores of label sequences by token and by sequence, and scorers that leave out ignored tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sskit._meta_estimators import unwrap
from sskit._types import ArrayLike, Samples, Self
from sskit.inputs.ragged import check_kinds, known_labels, sets_among, stack_entries, stack_labels
from sskit.inputs.ragged_array import make_offsets
from sskit.inputs.weights import check_sample_weight

if TYPE_CHECKING:

    class _Scorer:
        """Scikit-learn's scorers, which have no types."""

        def __init__(
            self, score_func: Callable[..., float], sign: int, kwargs: dict[str, Any]
        ) -> None: ...

        def __call__(
            self, estimator: object, X: Any, y_true: Any, sample_weight: Any = None, **kwargs: Any
        ) -> float: ...

        def set_score_request(self, **requests: bool | str | None) -> Self: ...

        def _score(
            self, method_caller: Any, estimator: object, X: Any, y_true: Any, **kwargs: Any
        ) -> float: ...
else:
    from sklearn.metrics._scorer import _Scorer


class RegionScorer(_Scorer):
    """Scorer of estimators that label nodes, pixels or tokens, with their own `ignore_label`.

    Call it like the scorers of scikit-learn; it requests metadata as they do. Labels that an
    estimator ignores in training, and in its own ``score``, do not count here either.

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

    def __init__(self, metric: Callable[..., float]) -> None:
        super().__init__(metric, 1, {})
        self.metric = metric

    def __repr__(self):
        metric = getattr(self.metric, "func", self.metric)
        return f"{type(self).__name__}({getattr(metric, '__name__', metric)})"

    def _score(self, method_caller, estimator, X, y_true, **kwargs):
        label = ignored_by(estimator)
        kwargs |= {} if label is None else {"ignore_label": label}
        return super()._score(method_caller, estimator, X, y_true, **kwargs)


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


def token_accuracy_score(
    y_true: Samples,
    y_pred: Samples,
    *,
    ignore_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the fraction of tokens that are labelled correctly.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,)
        The true labels; each label of a set or frozenset is right.
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


def sequence_accuracy_score(
    y_true: Samples,
    y_pred: Samples,
    *,
    ignore_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the fraction of sequences whose labels are all right.

    Sequences whose tokens all do not count do not count either.

    Parameters
    ----------
    y_true : sequence of n label sequences (T_i,)
        The true labels; each label of a set or frozenset is right.
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
    """Return the weighted fraction of right entries; ValueError if none counts."""
    if not weights.any():
        raise ValueError("no sequence with a weight has a label in y_true but ignore_label")
    return float(np.average(right, weights=weights))


def stack(y, name):
    """Return the labels of all sequences and where the sequences begin."""
    return stack_labels(y, name=name), offsets_of(y)


def offsets_of(y):
    """Return where sequences begin; they have been checked."""
    return make_offsets([len(item) for item in y])


def stack_pair(y_true, y_pred, ignore_label=None, sets=False):
    """Return true labels, predicted labels, which count, and where the sequences begin.

    Of those that do not count, with `ignore_label`, the true ones are any others. If there may be
    `sets`, each of their labels is right: the predicted one is taken if it is among them, else any.
    """
    flat, name_of = stack_entries(y_true, name="y_true")
    offsets = offsets_of(y_true)
    pred = stack_labels(y_pred, np.diff(offsets), name="y_pred", x_name="y_true")
    for t, right in sets_among(flat, name_of, ignore_label) if sets else ():
        label = pred[[t]].tolist()[0]
        flat[t] = label if label in right else right[0]
    true, ignored = known_labels(flat, name_of, ignore_label)
    if true.size == 0:
        raise ValueError("Found array with 0 sample(s): y_true holds no labels")
    return true, pred, ~ignored, offsets


def compare(y_true, y_pred, ignore_label=None):
    """Return which tokens are right, which count, and where the sequences begin.

    Of a token with a set of labels each of these is right.
    """
    true, pred, counts, offsets = stack_pair(y_true, y_pred, ignore_label, sets=True)
    if counts.any():
        check_kinds(true[counts], pred)
    return true == pred, counts, offsets


def check_weights(sample_weight, n_samples):
    """Return one checked weight per sequence."""
    weights = check_sample_weight(sample_weight, n_samples)
    return np.ones(n_samples) if weights is None else weights
