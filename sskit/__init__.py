"""Structured support vector machines in the manner of scikit-learn."""

from sskit._public import export_from
from sskit.estimators import (
    CalibratedTagger,
    EarlyStopping,
    GraphTagger,
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    RankingSVM,
    RegularizationPath,
    SegmentationModel,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.models import SlackRescaling, StructuredModel

__version__ = "0.1.0"

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
    "SlackRescaling",
    "StructSVMClassifier",
    "StructuredModel",
    "TreeTagger",
    "__version__",
]

export_from(
    __name__,
    CalibratedTagger,
    EarlyStopping,
    GraphTagger,
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    RankingSVM,
    RegularizationPath,
    SegmentTagger,
    SegmentationModel,
    SequenceTagger,
    SlackRescaling,
    StructSVMClassifier,
    StructuredModel,
    TreeTagger,
)
