"""Structured support vector machines in the manner of scikit-learn."""

from sskit.estimators import (
    PartsModel,
    RegularizationPath,
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.models import StructuredModel

__version__ = "0.1.0"

__all__ = [
    "PartsModel",
    "RegularizationPath",
    "SegmentationModel",
    "SequenceTagger",
    "StructSVMClassifier",
    "StructuredModel",
    "TreeTagger",
    "__version__",
]
