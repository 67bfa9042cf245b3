"""Scores of labels of sequences, graphs, images and sets, and of poses, with scorers.

Scikit-learn's own scorers do not take ragged labels. For ``scoring=`` of its tools there are
``token_accuracy_scorer``, ``sequence_accuracy_scorer``, ``span_f1_scorer``, ``mean_iou_scorer``,
``class_accuracy_scorer`` and ``pdj_scorer``; others are made with
:func:`sklearn.metrics.make_scorer`.
"""

from sskit._public import export_from
from sskit.metrics._poses import mean_part_error, pdj_curve, pdj_score, pdj_scorer
from sskit.metrics._regions import (
    class_accuracy_score,
    class_accuracy_scorer,
    iou_scores,
    mean_iou_score,
    mean_iou_scorer,
)
from sskit.metrics._spans import (
    convert_tags,
    span_f1_score,
    span_f1_scorer,
    span_precision_recall_fscore,
    span_report,
    spans,
)
from sskit.metrics._tokens import (
    RegionScorer,
    sequence_accuracy_score,
    sequence_accuracy_scorer,
    token_accuracy_score,
    token_accuracy_scorer,
)

__all__ = [
    "RegionScorer",
    "class_accuracy_score",
    "class_accuracy_scorer",
    "convert_tags",
    "iou_scores",
    "mean_iou_score",
    "mean_iou_scorer",
    "mean_part_error",
    "pdj_curve",
    "pdj_score",
    "pdj_scorer",
    "sequence_accuracy_score",
    "sequence_accuracy_scorer",
    "span_f1_score",
    "span_f1_scorer",
    "span_precision_recall_fscore",
    "span_report",
    "spans",
    "token_accuracy_score",
    "token_accuracy_scorer",
]

export_from(__name__)
