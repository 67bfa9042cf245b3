"""Estimators: what users fit."""

from sskit.estimators._kernel_tagging import ChainFunctions
from sskit.estimators._label_sets import LabelSetWeights
from sskit.estimators._multiclass import RowFunctions, RowWeights
from sskit.estimators._posing import PartsWeights
from sskit.estimators._segmenting import GraphWeights
from sskit.estimators._structured import StructureWeights
from sskit.estimators._tagging import ChainWeights, TreeWeights
from sskit.estimators._warm_start import WarmStart
from sskit.estimators.classifier import StructSVMClassifier
from sskit.estimators.hierarchical import HierarchicalMultilabel
from sskit.estimators.multilabel import MultilabelPairwise
from sskit.estimators.parts import PartsModel
from sskit.estimators.path import RegularizationPath
from sskit.estimators.segmentation import SegmentationModel
from sskit.estimators.stopping import EarlyStopping
from sskit.estimators.tagger import SequenceTagger
from sskit.estimators.trees import TreeTagger
from sskit.utils._saved_names import export_from

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

# of the state of fitted estimators
export_from(
    __name__,
    ChainFunctions,
    ChainWeights,
    GraphWeights,
    LabelSetWeights,
    PartsWeights,
    RowFunctions,
    RowWeights,
    StructureWeights,
    TreeWeights,
    WarmStart,
)
