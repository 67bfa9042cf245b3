"""Estimators: what users fit."""

from sskit.estimators.classifier import StructSVMClassifier
from sskit.estimators.hierarchical import HierarchicalMultilabel
from sskit.estimators.multilabel import MultilabelPairwise
from sskit.estimators.path import RegularizationPath
from sskit.estimators.segmentation import SegmentationModel
from sskit.estimators.tagger import SequenceTagger

__all__ = [
    "HierarchicalMultilabel",
    "MultilabelPairwise",
    "RegularizationPath",
    "SegmentationModel",
    "SequenceTagger",
    "StructSVMClassifier",
]
