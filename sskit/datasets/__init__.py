"""Data to try the estimators on: made on the spot, or loaded from files."""

from sskit.datasets._home import get_data_home
from sskit.datasets._loaders import (
    load_conll2000,
    load_ocr_letters,
    load_usps,
    load_wsj_pos,
)
from sskit.datasets._makers import make_chains, make_digit_strings, make_multiclass

__all__ = [
    "get_data_home",
    "load_conll2000",
    "load_ocr_letters",
    "load_usps",
    "load_wsj_pos",
    "make_chains",
    "make_digit_strings",
    "make_multiclass",
]
