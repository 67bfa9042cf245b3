"""Estimators with the interface of scikit-learn: parameters, fit, predict."""

from sskit._public import export_from
from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.outcome import WarmStart
from sskit.estimators.base.scaling import Columns
from sskit.estimators.chain.tagger import SequenceTagger
from sskit.estimators.graph.base import GraphWeights
from sskit.estimators.graph.tagger import GraphTagger, SegmentationModel
from sskit.estimators.label_sets import HierarchicalMultilabel, MultilabelPairwise
from sskit.estimators.multiclass import StructSVMClassifier
from sskit.estimators.parts import PartsModel
from sskit.estimators.path.path import RegularizationPath
from sskit.estimators.rankings import RankingSVM
from sskit.estimators.segments import SegmentTagger
from sskit.estimators.structured import StructuredSVM
from sskit.estimators.tree import TreeTagger

__all__ = [
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
