"""Data to try the estimators on, made on the spot."""

from sskit.datasets._makers import make_chains, make_digit_strings, make_multiclass
from sskit.datasets._poses import make_poses, make_score_maps
from sskit.datasets._snakes import make_snakes
from sskit.datasets._views import make_segmentation_images

__all__ = [
    "make_chains",
    "make_digit_strings",
    "make_multiclass",
    "make_poses",
    "make_score_maps",
    "make_segmentation_images",
    "make_snakes",
]
