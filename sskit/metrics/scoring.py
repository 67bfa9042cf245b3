"""What the parameter `scoring` of meta-estimators stands for: a scorer of labels of any form."""

from functools import partial
from inspect import signature
from numbers import Real

import sklearn
from sklearn.metrics import check_scoring, get_scorer
from sklearn.utils import get_tags

from sskit import metrics
from sskit.metrics.by_label import LabelScorer

# Types of estimators whose samples have many labels each, or may have, and our scorers of them.
_MANY_LABELS = {
    "sequence_tagger": ("token_accuracy_scorer", "span_f1_scorer"),
    "segment_tagger": ("token_accuracy_scorer", "span_f1_scorer"),
    "tree_tagger": ("token_accuracy_scorer", "sequence_accuracy_scorer"),
    "graph_labeller": ("mean_iou_scorer", "class_accuracy_scorer"),
    "structured_classifier": ("token_accuracy_scorer", "sequence_accuracy_scorer"),
}


def find_scorer(estimator, scoring):
    """Return a scorer of an estimator.

    Parameters
    ----------
    estimator : StructuredEstimator
        Not fitted.
    scoring : str, callable or None
        The name of one of scikit-learn, a scorer, or None for the score of the estimator.
        Those of scikit-learn take flat labels: where samples have many labels each, these are
        compared one by one, those of all samples together.

    Returns
    -------
    scorer : callable
        Maps (fitted estimator, X, y) to a number, the higher the better.

    Raises
    ------
    ValueError
        If it is a metric, no scorer; or one of scikit-learn that needs more than ``predict`` where
        samples have many labels, or that has no meaning for positions.
    """
    kind, shown = get_tags(estimator).estimator_type, repr(scoring)
    if callable(scoring) and not hasattr(scoring, "_score_func"):
        _check_no_metric(scoring)
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    metric = getattr(scorer, "_score_func", None)
    if not (getattr(metric, "__module__", None) or "").startswith(f"{sklearn.__name__}."):
        return check_scoring(estimator, scoring)
    if kind == "pose_estimator":
        raise ValueError(
            f"scoring={shown} compares labels, but poses are positions; give "
            "sskit.metrics.pdj_scorer, or None for the score of the estimator"
        )
    if kind not in _MANY_LABELS:
        return check_scoring(estimator, scoring)
    if scorer._response_method != "predict":
        ours = " or ".join(f"sskit.metrics.{name}" for name in _MANY_LABELS[kind])
        raise ValueError(
            f"scoring={shown} needs scores or probabilities of flat labels, which "
            f"{type(estimator).__name__} has not; give {ours}, or a name such as 'accuracy', "
            "'balanced_accuracy' or 'f1_macro', which compares labels one by one"
        )
    return LabelScorer(scorer)


def _check_no_metric(scoring):
    """Raise ValueError if a callable takes true labels first, not an estimator."""
    try:
        first = next(iter(signature(scoring).parameters), "")
    except (TypeError, ValueError):  # of some compiled callables nothing is known
        return
    if first not in ("y_true", "labels_true"):
        return
    inner = scoring.func if isinstance(scoring, partial) else scoring
    name = getattr(inner, "__name__", repr(inner))
    ready = name + "r" if inner is scoring and name + "r" in metrics.__all__ else None
    better = f"sskit.metrics.{ready}" if ready else f"sklearn.metrics.make_scorer({name})"
    if ready is None and inner is not scoring:
        better = f"sklearn.metrics.make_scorer({name}, ...) with its options"
    raise ValueError(
        f"scoring={name} is a metric, of (y_true, y_pred), but a scorer takes (estimator, X, y); "
        f"give {better}"
    )


def checked_score(score):
    """Return what a scorer of the user returned as a float.

    Parameters
    ----------
    score : object
        A number.

    Returns
    -------
    score : float
        May be NaN.

    Raises
    ------
    ValueError
        If it is no number.
    """
    if not isinstance(score, Real):
        raise ValueError(f"scoring must return a number, got {score!r:.80}")
    return float(score)
