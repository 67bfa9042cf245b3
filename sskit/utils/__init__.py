"""Utilities: ragged data, predictions as lists, smaller models."""

from sskit._public import export_from
from sskit.inputs.ragged_array import RaggedArray
from sskit.utils._lists import to_lists
from sskit.utils._shrink import shrink

__all__ = ["RaggedArray", "shrink", "to_lists"]

export_from(__name__)
