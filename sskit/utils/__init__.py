"""Utilities: ragged data, and predictions as lists."""

from sskit._public import export_from
from sskit.inputs.ragged_array import RaggedArray
from sskit.utils._lists import to_lists

__all__ = ["RaggedArray", "to_lists"]

export_from(__name__)
