"""Displays: plots of a fit or a prediction, computed once and drawn with matplotlib."""

from sskit.display._confusion import ConfusionDisplay
from sskit.display._convergence import ConvergenceDisplay
from sskit.display._feature_weights import FeatureWeightsDisplay
from sskit.display._pose import PoseDisplay
from sskit.display._regularization_path import RegularizationPathDisplay
from sskit.display._segmentation import SegmentationDisplay
from sskit.display._sequence import SequenceText, show_sequence
from sskit.display._transitions import TransitionDisplay

__all__ = [
    "ConfusionDisplay",
    "ConvergenceDisplay",
    "FeatureWeightsDisplay",
    "PoseDisplay",
    "RegularizationPathDisplay",
    "SegmentationDisplay",
    "SequenceText",
    "TransitionDisplay",
    "show_sequence",
]
