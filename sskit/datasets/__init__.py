"""Data sets: sequences from files, and artificial data to try the estimators on."""

from sskit.datasets._conll import load_conll
from sskit.datasets._conll_file import read_text as read_text
from sskit.datasets._conll_saving import save_conll
from sskit.datasets._fetching import fetch_conll2000
from sskit.datasets._makers import make_chains, make_digit_strings
from sskit.datasets._poses import make_poses, make_score_maps
from sskit.datasets._snakes import make_snakes
from sskit.datasets._views import make_segmentation_images

__all__ = [
    "fetch_conll2000",
    "load_conll",
    "make_chains",
    "make_digit_strings",
    "make_poses",
    "make_score_maps",
    "make_segmentation_images",
    "make_snakes",
    "save_conll",
]
