"""Tokens of any kind (rows, data frames, dicts, strings) of many sequences, stacked."""

from collections.abc import Mapping
from itertools import chain

import numpy as np

from sskit._numbers import shortened
from sskit.inputs.ragged import stack_sequences
from sskit.inputs.ragged_array import RaggedArray, locate, make_offsets


def stack_tokens(X, allow_nan, allow_empty=False):
    """Return tokens (a matrix, a data frame or an iterator over objects) and offsets."""
    values = X.values if isinstance(X, RaggedArray) else X
    if (isinstance(X, (list, tuple)) or _is_object_array(values)) and len(X):
        sequences = list(X)
        first = next((i for i, tokens in enumerate(sequences) if not _is_empty(tokens)), None)
        if first is not None and _is_frame(sequences[first]):
            return _stack_frames(sequences, first, allow_empty)
        if first is not None and _holds_objects(sequences[first]):
            return _stack_objects(sequences, first, allow_empty)
    stacked = stack_sequences(X, allow_nan=allow_nan, allow_empty=allow_empty)
    return stacked.values, stacked.offsets


def _stack_frames(frames, first, allow_empty):
    """Return data frames as one, so that names and types of columns are kept, and offsets."""
    from pandas import concat

    offsets = _checked_offsets(frames, allow_empty)
    columns = list(frames[first].columns)
    filled = [(i, frame) for i, frame in enumerate(frames) if len(frame)]
    for i, frame in filled:
        if not _is_frame(frame) or list(frame.columns) != columns:
            raise ValueError(f"X[{i}] {_differs(frame, columns)}, unlike X[{first}]")
    return concat([frame for _, frame in filled], ignore_index=True), offsets


def _differs(frame, columns):
    """Return what makes something else than a data frame with these columns of it."""
    if not _is_frame(frame):
        return "is not a data frame"
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        return f"is not a data frame with the columns {shortened(missing)}"
    further = [name for name in frame.columns if name not in columns]
    if further:
        return f"is a data frame with the further columns {shortened(further)}"
    return "is a data frame with its columns in another order"


def _stack_objects(sequences, start, allow_empty):
    """Return an iterator over tokens that are dicts, strings or lists, and offsets."""
    offsets = _checked_offsets(sequences, allow_empty)
    first = type(sequences[start][0])
    kind = next((kind for kind in (Mapping, str) if issubclass(first, kind)), object)
    # By type, not by token: there are few types and many tokens.
    types = set(map(type, chain.from_iterable(sequences)))
    if wrong := {other for other in types if not issubclass(other, kind)}:
        tokens = enumerate(map(type, chain.from_iterable(sequences)))
        row, other = next((row, other) for row, other in tokens if other in wrong)
        i, t = locate(offsets, row)
        raise TypeError(
            f"X[{i}][{t}] is a {other.__name__} but X[{start}][0] is a {first.__name__}"
        )
    return chain.from_iterable(sequences), offsets


def _checked_offsets(sequences, allow_empty):
    """Return where the sequences begin; raise for one that is none or has no tokens, naming it."""
    for i, sequence in enumerate(sequences):
        if isinstance(sequence, (str, bytes)):
            raise TypeError(
                f"X[{i}] is a {type(sequence).__name__}, expected a sequence of tokens: raw text "
                "has to be split into tokens first"
            )
        if isinstance(sequence, Mapping) or not hasattr(sequence, "__len__"):
            raise TypeError(f"X[{i}] must be a sequence of tokens, got {type(sequence).__name__}")
        if len(sequence) == 0 and not allow_empty:
            raise ValueError(f"X[{i}] is empty: a sequence needs one token or more")
    return make_offsets(list(map(len, sequences)))


def _is_empty(sequence):
    """Tell whether a sequence has no tokens."""
    shape = getattr(sequence, "shape", None)
    if shape:
        return shape[0] == 0
    return isinstance(sequence, (list, tuple)) and not sequence


def _is_frame(sequence):
    """Tell whether a sequence is a pandas DataFrame, without importing pandas."""
    return type(sequence).__module__.startswith("pandas") and hasattr(sequence, "columns")


def _is_object_array(array):
    """Tell whether something is an array of objects or strings."""
    return getattr(getattr(array, "dtype", None), "kind", "") in ("O", "S", "U")


def _holds_objects(sequence):
    """Tell whether the tokens of a sequence are something else than rows of numbers."""
    if not isinstance(sequence, (list, tuple)) and not _is_object_array(sequence):
        return False
    for token in sequence:
        if not isinstance(token, (list, tuple, np.ndarray)):
            return isinstance(token, (str, bytes, Mapping))
        if len(token):
            return any(isinstance(value, (str, bytes, tuple)) for value in token)
    return False
