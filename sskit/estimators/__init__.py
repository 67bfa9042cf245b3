"""Estimators: what users fit."""

from sskit._public import export_from
from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.columns import Columns
from sskit.estimators.base.outcome import WarmStart
from sskit.estimators.calibration.tagger import CalibratedTagger
from sskit.estimators.chain.tagger import SequenceTagger
from sskit.estimators.graph.base import GraphWeights
from sskit.estimators.graph.tagger import GraphTagger, SegmentationModel
from sskit.estimators.label_sets.classifiers import HierarchicalMultilabel, MultilabelPairwise
from sskit.estimators.multiclass.classifier import StructSVMClassifier
from sskit.estimators.parts.parts import PartsModel
from sskit.estimators.path.path import RegularizationPath
from sskit.estimators.rankings.ranker import RankingSVM
from sskit.estimators.segments.tagger import SegmentTagger
from sskit.estimators.stopping.early_stopping import EarlyStopping
from sskit.estimators.structured.structured import StructuredSVM
from sskit.estimators.tree.tagger import TreeTagger

__all__ = [
    "CalibratedTagger",
    "EarlyStopping",
    "GraphTagger",
    "HierarchicalMultilabel",
    "MultilabelPairwise",
    "PartsModel",
    "RankingSVM",
    "RegularizationPath",
    "SegmentTagger",
    "SegmentationModel",
    "SequenceTagger",
    "StructSVMClassifier",
    "StructuredSVM",
    "TreeTagger",
]

# of the state of fitted estimators
export_from(__name__, BlockAttributes, Columns, GraphWeights, WarmStart)
