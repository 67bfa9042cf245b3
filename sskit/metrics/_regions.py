"""Scores of the labels of nodes and pixels by class."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sskit._numbers import as_array
from sskit._types import ArrayLike, Samples
from sskit.inputs.masks import check_mask
from sskit.inputs.ragged import check_kinds, items_of
from sskit.inputs.rows import check_classes
from sskit.metrics._tokens import RegionScorer, check_weights, stack_pair


def iou_scores(
    y_true: Samples,
    y_pred: Samples,
    *,
    ignore_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the intersection over union of each class: the Jaccard index over all graphs.

    Parameters
    ----------
    y_true : sequence of n arrays (V_i,) or (H_i, W_i)
        True labels of nodes or pixels.
    y_pred : sequence of n arrays of the same shapes
        Predicted labels.
    ignore_label : object, default=None
        True label of nodes or pixels that do not count; None means that all count.
    sample_weight : array-like of shape (n,), default=None
        Weights of the graphs; each counts for all of its nodes or pixels.

    Returns
    -------
    scores : ndarray of shape (n_classes,)
        Number of nodes or pixels that have the class in both, divided by the number that have it
        in either.
    classes : ndarray of shape (n_classes,)
        The labels that occur in either, sorted.

    Raises
    ------
    TypeError, ValueError
        If shapes or kinds of labels differ between the two, or nothing counts.

    Examples
    --------
    >>> from sskit.metrics import iou_scores
    >>> iou_scores([["sky", "sea", "sea"], ["sky"]], [["sky", "sea", "sky"], ["sky"]])
    (array([0.5       , 0.66666667]), array(['sea', 'sky'], dtype='<U3'))
    """
    counts, classes = _confusion(y_true, y_pred, ignore_label, sample_weight)
    right = np.diag(counts)
    return right / (counts.sum(axis=0) + counts.sum(axis=1) - right), classes


def mean_iou_score(
    y_true: Samples,
    y_pred: Samples,
    *,
    labels: Literal["either", "true"] | ArrayLike = "either",
    ignore_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the mean intersection over union of the classes.

    Numbers of all graphs are summed before they are divided, as in Pascal VOC. `labels` decides
    about classes that are only predicted, or only true.

    Parameters
    ----------
    y_true : sequence of n arrays (V_i,) or (H_i, W_i)
        True labels of nodes or pixels.
    y_pred : sequence of n arrays of the same shapes
        Predicted labels.
    labels : {"either", "true"} or array-like of labels, default="either"
        The classes of the mean: those that occur in either of the two, where one that is only
        predicted counts 0 (Pascal VOC, Cityscapes); those that truly occur, so that a class that
        is only predicted lowers only the scores of classes whose nodes it gets; or given ones,
        such as all but the background, without those that occur in neither.
    ignore_label : object, default=None
        True label of nodes or pixels that do not count; None means that all count.
    sample_weight : array-like of shape (n,), default=None
        Weights of the graphs; each counts for all of its nodes or pixels.

    Returns
    -------
    score : float
        Between 0 and 1; the mean of `iou_scores` over these classes.

    Raises
    ------
    TypeError, ValueError
        As `iou_scores`; also if none of `labels` occurs.

    References
    ----------
    Everingham, Eslami et al. (2015). The Pascal visual object
    classes challenge: a retrospective. International Journal of Computer Vision 111.

    Examples
    --------
    >>> from sskit.metrics import mean_iou_score
    >>> round(mean_iou_score([[[0, 1], [1, 1]]], [[[0, 0], [1, 1]]]), 3)
    0.583
    >>> round(mean_iou_score([[0, 0, 1, 1]], [[0, 0, 1, 2]], labels="true"), 3)
    0.75
    """
    counts, classes = _confusion(y_true, y_pred, ignore_label, sample_weight)
    right = np.diag(counts)
    scores = right / (counts.sum(axis=0) + counts.sum(axis=1) - right)
    return float(scores[_chosen(labels, classes, counts)].mean())


def _chosen(labels, classes, counts):
    """Return the requested classes."""
    if isinstance(labels, str):
        if labels not in ("either", "true"):
            raise ValueError(f"labels must be 'either', 'true' or a list, got {labels!r}")
        return (counts.sum(axis=1) > 0) | (labels == "either")
    requested = np.asarray(check_classes(labels, "labels"))
    check_kinds(requested, classes, "labels has labels of dtype {} but y_true of {}")
    chosen = np.isin(classes, requested)
    if not chosen.any():
        raise ValueError("none of labels occurs in y_true or y_pred")
    return chosen


def class_accuracy_score(
    y_true: Samples,
    y_pred: Samples,
    *,
    ignore_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the mean over the true classes of the fraction of their nodes or pixels found.

    Parameters
    ----------
    y_true : sequence of n arrays (V_i,) or (H_i, W_i)
        True labels of nodes or pixels.
    y_pred : sequence of n arrays of the same shapes
        Predicted labels.
    ignore_label : object, default=None
        True label of nodes or pixels that do not count; None means that all count.
    sample_weight : array-like of shape (n,), default=None
        Weights of the graphs; each counts for all of its nodes or pixels.

    Returns
    -------
    score : float
        Between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        As `iou_scores`.

    Examples
    --------
    >>> from sskit.metrics import class_accuracy_score
    >>> class_accuracy_score([["sky", "sea", "sea"], ["sky"]], [["sky", "sea", "sky"], ["sky"]])
    0.75
    """
    counts, _ = _confusion(y_true, y_pred, ignore_label, sample_weight)
    occurs = counts.sum(axis=1)
    return float(np.mean(np.diag(counts)[occurs > 0] / occurs[occurs > 0]))


mean_iou_scorer = RegionScorer(mean_iou_score)
class_accuracy_scorer = RegionScorer(class_accuracy_score)


def _confusion(y_true, y_pred, ignore_label, sample_weight):
    """Return the weighted confusion matrix (true classes are rows), and the classes."""
    true, pred, weight = counted_labels(y_true, y_pred, ignore_label, sample_weight)
    classes, codes = np.unique(np.concatenate([true, pred]), return_inverse=True)
    n = len(classes)
    place = codes[: len(true)] * n + codes[len(true) :]
    return np.bincount(place, weight, n * n).reshape(n, n), classes


def counted_labels(y_true, y_pred, ignore_label=None, sample_weight=None, sets=False):
    """Return those labels of tokens, nodes or pixels that count, and their weights.

    Parameters
    ----------
    y_true, y_pred : sequence of n arrays (V_i,) or (H_i, W_i)
        True and predicted labels.
    ignore_label : object, default=None
        True label of what does not count; None means that all count.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples.
    sets : bool, default=False
        Whether there may be sets of labels, each of which is right.

    Returns
    -------
    true, pred : ndarray of shape (m,)
        The labels.
    weight : ndarray of shape (m,)
        Weights of their samples, positive.

    Raises
    ------
    TypeError, ValueError
        If shapes or kinds of labels differ between the two, or nothing counts.
    """
    flat = _flattened(y_true, "y_true", ignore_label), _flattened(y_pred, "y_pred")
    for i, (a, b) in enumerate(zip(y_true, y_pred, strict=False)):
        if np.shape(a) != np.shape(b):
            raise ValueError(
                f"y_true[{i}] has the shape {np.shape(a)} but y_pred[{i}] has {np.shape(b)}"
            )
    true, pred, counted, offsets = stack_pair(*flat, ignore_label, sets=sets)
    weight = np.repeat(check_weights(sample_weight, len(offsets) - 1), np.diff(offsets))
    counted &= weight > 0
    if not counted.any():
        raise ValueError("y_true has no labels that count: all are ignored or have the weight 0")
    true, pred, weight = (values[counted] for values in (true, pred, weight))
    check_kinds(true, pred)
    return true, pred, weight


def _flattened(y, name, ignore_label=None):
    """Return arrays of labels as sequences."""
    flat = []
    for i, item in enumerate(items_of(y, name, "one array of labels per graph", stacked=(2, 3))):
        n_dimensions = as_array(item, f"{name}[{i}]").ndim
        if n_dimensions == 2:
            item = check_mask(item, f"{name}[{i}]", ignore_label)
        flat.append(np.ravel(item) if n_dimensions > 1 else item)
    return flat
