"""Ragged data and helpers that know neither models nor solvers."""

from sskit.utils._ragged_array import RaggedArray

__all__ = ["RaggedArray"]
