"""Data to try the estimators on: made on the spot, or loaded from files.

What ``make_...`` returns needs no file. What ``load_...`` returns is read from files that must be
there, in the folder of `get_data_home`: nothing is downloaded. An error names the file that is
missing and the source of the data.
"""

from sskit.datasets._glyphs import make_glyph_sentences
from sskit.datasets._home import get_data_home
from sskit.datasets._loaders import (
    load_conll2000,
    load_ocr_letters,
    load_usps,
    load_wsj_pos,
)
from sskit.datasets._makers import make_chains, make_digit_strings, make_multiclass
from sskit.datasets._multilabel import (
    load_bibtex,
    load_eisen_fun,
    load_enron,
    load_imclef07a,
    load_rcv1_topics,
    load_yeast,
)
from sskit.datasets._photos import load_msrc, load_weizmann_horses
from sskit.datasets._poses import load_lsp, make_poses, make_score_maps
from sskit.datasets._snakes import make_snakes
from sskit.datasets._tags import load_delicious
from sskit.datasets._views import make_segmentation_images

__all__ = [
    "get_data_home",
    "load_bibtex",
    "load_conll2000",
    "load_delicious",
    "load_eisen_fun",
    "load_enron",
    "load_imclef07a",
    "load_lsp",
    "load_msrc",
    "load_ocr_letters",
    "load_rcv1_topics",
    "load_usps",
    "load_weizmann_horses",
    "load_wsj_pos",
    "load_yeast",
    "make_chains",
    "make_digit_strings",
    "make_glyph_sentences",
    "make_multiclass",
    "make_poses",
    "make_score_maps",
    "make_segmentation_images",
    "make_snakes",
]
