"""Structured support vector machines in the manner of scikit-learn."""

from sskit.estimators import (
    HierarchicalMultilabel,
    MultilabelPairwise,
    RegularizationPath,
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
)
from sskit.models import StructuredModel

__version__ = "0.1.0"

__all__ = [
    "HierarchicalMultilabel",
    "MultilabelPairwise",
    "RegularizationPath",
    "SegmentationModel",
    "SequenceTagger",
    "StructSVMClassifier",
    "StructuredModel",
    "__version__",
]
