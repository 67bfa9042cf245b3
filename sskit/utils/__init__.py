"""Ragged data."""

from sskit.inputs.chains.pairs import RaggedPairs
from sskit.inputs.ragged_array import RaggedArray

__all__ = ["RaggedArray", "RaggedPairs"]
