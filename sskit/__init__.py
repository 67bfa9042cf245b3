"""Structured support vector machines in the manner of scikit-learn."""

from sskit.estimators import SequenceTagger, StructSVMClassifier

__version__ = "0.1.0"

__all__ = ["SequenceTagger", "StructSVMClassifier", "__version__"]
