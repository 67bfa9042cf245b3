"""Tokens of any kind (rows, data frames, dicts, strings) of many sequences, stacked."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from sskit._numbers import shortened
from sskit.inputs.ragged import samples_of, stack_sequences
from sskit.inputs.ragged_array import RaggedArray, locate, make_offsets

_TOKENS = "one sequence of tokens per sequence"


def stack_tokens(X, allow_nan, allow_empty=False):
    """Return tokens (a matrix, a data frame or a list of objects) and offsets."""
    first, tells = _first_that_tells(X)
    if tells == "frames":
        return _stack_frames(list(X), first, allow_empty)
    if tells == "objects":
        return _stack_objects(as_sentences(X, allow_empty), first)
    stacked = stack_sequences(X, allow_nan=allow_nan, allow_empty=allow_empty)
    return stacked.values, stacked.offsets


def holds_objects(X):
    """Return whether sequences are of tokens that are no rows of numbers: dicts, strings, lists.

    Parameters
    ----------
    X : object
        As users give it. The first token that is not empty tells.

    Returns
    -------
    objects : bool
        False also if there is no such token.
    """
    if type(X) is list and X and type(X[0]) is list and X[0] and type(X[0][0]) is dict:
        return True  # what is served most
    return _first_that_tells(X)[1] == "objects"


def as_sentences(X, allow_empty=False):
    """Return sequences of tokens that are objects as a list of lists.

    Parameters
    ----------
    X : list, tuple, array of objects, RaggedArray or Series
        Of sequences, each likewise; they are read by position.
    allow_empty : bool, default=False
        Whether sequences without tokens pass.

    Returns
    -------
    sentences : list of list
        X itself if it is such.

    Raises
    ------
    TypeError, ValueError
        Naming the first sequence that is none, or has no tokens.
    """
    sentences = samples_of(X, "X", _TOKENS, stacked=(1, 2, 3))
    if type(sentences) is not list or not all(type(sentence) is list for sentence in sentences):
        sentences = [_as_tokens(sentence, i) for i, sentence in enumerate(sentences)]
    if not allow_empty and not all(sentences):
        i = next(i for i, sentence in enumerate(sentences) if not sentence)
        raise ValueError(f"X[{i}] is empty: a sequence needs one token or more")
    return sentences


def _first_that_tells(X):
    """Return the first sequence that tells what tokens are, and that: "frames", "objects", "rows".

    (None, None) if there is no such sequence.
    """
    values = X.values if isinstance(X, RaggedArray) else X
    if not isinstance(X, (list, tuple)) and not _is_object_array(values):
        return None, None
    for i, sequence in enumerate(X):
        if is_frame(sequence):
            if len(sequence):
                return i, "frames"
        elif not isinstance(sequence, (list, tuple)) and not _is_object_array(sequence):
            shape = getattr(sequence, "shape", None)
            if not (isinstance(shape, tuple) and shape[:1] == (0,)):
                return i, "rows"
        else:
            tells = next((t for t in map(_tells, sequence) if t is not None), None)
            if tells is not None:
                return i, tells
    return None, None


def _tells(token):
    """Return what a token is, "objects" or "rows"; None if it is empty, which may be either."""
    if isinstance(token, (str, bytes, Mapping, set, frozenset)):
        return "objects"
    if not isinstance(token, (list, tuple)) and not (isinstance(token, np.ndarray) and token.ndim):
        return "rows"
    if not len(token):
        return None
    return "objects" if any(isinstance(v, (str, bytes, tuple)) for v in token) else "rows"


def _stack_frames(frames, first, allow_empty):
    """Return data frames as one, so that names and types of columns are kept, and offsets."""
    from pandas import concat

    offsets = _checked_offsets(frames, allow_empty)
    columns = list(frames[first].columns)
    filled = [(i, frame) for i, frame in enumerate(frames) if len(frame)]
    for i, frame in filled:
        if not is_frame(frame) or list(frame.columns) != columns:
            raise ValueError(
                f"X[{i}] is not a data frame with the columns {shortened(columns)}, unlike "
                f"X[{first}]"
            )
    return concat([frame for _, frame in filled], ignore_index=True), offsets


def _stack_objects(sentences, start):
    """Return tokens that are dicts, strings or lists, and offsets."""
    offsets = make_offsets(list(map(len, sentences)))
    first = type(sentences[start][0])
    kind = next((kind for kind in (Mapping, str) if issubclass(first, kind)), object)
    # By type, not by token: there are few types and many tokens.
    types = set(map(type, chain.from_iterable(sentences)))
    if wrong := {other for other in types if not issubclass(other, kind)}:
        tokens = enumerate(map(type, chain.from_iterable(sentences)))
        row, other = next((row, other) for row, other in tokens if other in wrong)
        i, t = locate(offsets, row)
        raise TypeError(
            f"X[{i}][{t}] is a {other.__name__} but X[{start}][0] is a {first.__name__}"
        )
    return list(chain.from_iterable(sentences)), offsets


def _checked_offsets(frames, allow_empty):
    """Return where data frames begin; raise for a sequence without tokens, naming it."""
    lengths = [
        len(frame if is_frame(frame) else _as_tokens(frame, i)) for i, frame in enumerate(frames)
    ]
    if not all(lengths) and not allow_empty:
        raise ValueError(f"X[{lengths.index(0)}] is empty: a sequence needs one token or more")
    return make_offsets(lengths)


def _as_tokens(sequence, i):
    """Return the tokens of a sequence as a list."""
    if isinstance(sequence, list):
        return sequence
    if is_frame(sequence):
        raise TypeError(
            f"X[{i}] is a data frame, expected a list of tokens: its to_dict('records') has a dict "
            "of each row"
        )
    if isinstance(sequence, (str, bytes)):
        raise TypeError(
            f"X[{i}] is a {type(sequence).__name__}, expected a sequence of tokens: raw text "
            "has to be split into tokens first"
        )
    if hasattr(sequence, "to_numpy"):
        sequence = sequence.to_numpy()
    if isinstance(sequence, np.ndarray) and sequence.ndim:
        return sequence.tolist()
    if not isinstance(sequence, Sequence):
        raise TypeError(f"X[{i}] must be a sequence of tokens, got {type(sequence).__name__}")
    return list(sequence)


def is_frame(sequence):
    """Tell whether a sequence is a pandas DataFrame, without importing pandas."""
    return type(sequence).__module__.startswith("pandas") and hasattr(sequence, "columns")


def _is_object_array(array):
    """Tell whether something is an array of objects or strings that has items."""
    if not isinstance(getattr(array, "ndim", None), int) or not array.ndim:
        return False
    return getattr(getattr(array, "dtype", None), "kind", "") in ("O", "S", "U")
