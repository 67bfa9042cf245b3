"""Displays: what a fit or a prediction looks like, computed once and drawn with matplotlib.

`top_features` is of text.
"""

from sskit.display._convergence import ConvergenceDisplay
from sskit.display._pose import PoseDisplay
from sskit.display._regularization_path import RegularizationPathDisplay
from sskit.display._segmentation import SegmentationDisplay
from sskit.display._top_features import top_features
from sskit.display._transitions import TransitionDisplay

__all__ = [
    "ConvergenceDisplay",
    "PoseDisplay",
    "RegularizationPathDisplay",
    "SegmentationDisplay",
    "TransitionDisplay",
    "top_features",
]
