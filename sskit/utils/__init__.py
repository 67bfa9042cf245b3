"""Utilities: ragged data."""

from sskit.inputs.ragged_array import RaggedArray

__all__ = ["RaggedArray"]
