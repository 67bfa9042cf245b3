"""Estimators: what users fit."""

from sskit.estimators.classifier import StructSVMClassifier
from sskit.estimators.hierarchical import HierarchicalMultilabel
from sskit.estimators.multilabel import MultilabelPairwise
from sskit.estimators.parts import PartsModel
from sskit.estimators.path import RegularizationPath
from sskit.estimators.segmentation import SegmentationModel
from sskit.estimators.stopping import EarlyStopping
from sskit.estimators.tagger import SequenceTagger
from sskit.estimators.trees import TreeTagger

__all__ = [
    "EarlyStopping",
    "HierarchicalMultilabel",
    "MultilabelPairwise",
    "PartsModel",
    "RegularizationPath",
    "SegmentationModel",
    "SequenceTagger",
    "StructSVMClassifier",
    "TreeTagger",
]
