"""Structured support vector machines in the manner of scikit-learn."""

from sskit.estimators import (
    HierarchicalMultilabel,
    MultilabelPairwise,
    RegularizationPath,
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
)
from sskit.models import SlackRescaling, StructuredModel

__version__ = "0.1.0"

__all__ = [
    "HierarchicalMultilabel",
    "MultilabelPairwise",
    "RegularizationPath",
    "SegmentationModel",
    "SequenceTagger",
    "SlackRescaling",
    "StructSVMClassifier",
    "StructuredModel",
    "__version__",
]
