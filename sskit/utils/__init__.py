"""Ragged data and helpers that know neither models nor solvers."""

from sskit.utils._ragged_array import RaggedArray, locate, make_offsets, split

__all__ = ["RaggedArray", "locate", "make_offsets", "split"]
