"""Ragged data, saved models, and helpers that know neither models nor solvers."""

from sskit.inputs.ragged_array import RaggedArray
from sskit.utils._trusted_types import trusted_types

__all__ = ["RaggedArray", "trusted_types"]
