"""Tokens of any kind (rows, data frames, dicts, strings) of many sequences, stacked."""

from collections.abc import Iterable, Mapping
from itertools import chain

import numpy as np

from sskit._cures import SENTENCES, cure_of_tokens
from sskit._numbers import shortened
from sskit.inputs.frames import features_of, is_frame, join_frames, library_of
from sskit.inputs.ragged import check_filled, items_of, sequence_of, stack_sequences
from sskit.inputs.ragged_array import RaggedArray, locate, make_offsets

_TOKENS = "one sequence of tokens per sequence"


def stack_tokens(X, allow_nan, allow_empty=False):
    """Return tokens (a matrix, a data frame or a list of objects) and offsets."""
    first, kind = _first_kind(X)
    if kind == "frames":
        return _stack_frames(list(X), first, allow_empty)
    if kind == "objects":
        return _stack_objects(as_sentences(X, allow_empty), first)
    stacked = stack_sequences(X, allow_nan=allow_nan, allow_empty=allow_empty)
    return stacked.values, stacked.offsets


def holds_objects(X):
    """Return whether sequences are of tokens that are no rows of numbers: dicts, strings, lists.

    Parameters
    ----------
    X : object
        As users give it. The first token that is not empty decides.

    Returns
    -------
    objects : bool
        False also if there is no such token.
    """
    if type(X) is list and X and type(X[0]) is list and X[0] and type(X[0][0]) is dict:
        return True  # the most frequent request
    return _first_kind(X)[1] == "objects"


def tokens_of(X, trees=False):
    """Return the tokens of sequences, or of the features of pairs or trees; None if these are rows.

    Parameters
    ----------
    X : object
        Sequences as users give them, pairs with features of edges, or trees.
    trees : bool, default=False
        Whether X is trees.

    Returns
    -------
    tokens : object
        X itself if it is sequences of tokens.
    """
    if not trees and holds_objects(X):
        return X
    if not isinstance(X, (list, tuple)) or not (trees or any(isinstance(x, tuple) for x in X)):
        return None
    first = [features_of(item) for item in X]
    return first if holds_objects(first) else None


def put_back(rows, X):
    """Return pairs or trees X with rows in the place of the tokens of their features."""
    further = (
        item[1:] if isinstance(item, tuple) else (item.parents, getattr(item, "kinds", None))
        for item in X
    )
    return [
        (row, *(part for part in parts if part is not None))
        for row, parts in zip(rows, further, strict=True)
    ]


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
    if type(X) is list and len(X) == 1 and type(X[0]) is list and (X[0] or allow_empty):
        return X  # the most frequent request
    sentences = items_of(X, "X", _TOKENS, stacked=(1, 2, 3), text=SENTENCES)
    if type(sentences) is not list or not all(type(sentence) is list for sentence in sentences):
        sentences = [_as_tokens(sentence, i) for i, sentence in enumerate(sentences)]
    if not allow_empty and not all(sentences):
        check_filled(make_offsets(list(map(len, sentences))), "X")
    return sentences


def _first_kind(X):
    """Return the first sequence whose tokens have a kind: "frames", "objects" or "rows"; and this.

    (None, None) if there is no such sequence.
    """
    if not _holds_items(X.values if isinstance(X, RaggedArray) else X):
        return None, None
    for i, sequence in enumerate(X):
        if is_frame(sequence):
            kind = "frames" if len(sequence) else None
        elif _holds_items(sequence):
            kind = next(filter(None, map(_kind_of, sequence)), None)
        else:
            shape = getattr(sequence, "shape", None)
            kind = None if isinstance(shape, tuple) and shape[:1] == (0,) else "rows"
        if kind is not None:
            return i, kind
    return None, None


def _kind_of(token):
    """Return the kind of a token, "objects" or "rows"; None if it is empty, which may be either."""
    if isinstance(token, (str, bytes, Mapping, set, frozenset)):
        return "objects"
    if not isinstance(token, (list, tuple)) and not (isinstance(token, np.ndarray) and token.ndim):
        return "rows"
    if not len(token):
        return None
    return "objects" if any(isinstance(v, (str, bytes, tuple)) for v in token) else "rows"


def _stack_frames(frames, first, allow_empty):
    """Return data frames as one, so that names and types of columns are kept, and offsets."""
    columns, library = list(frames[first].columns), library_of(frames[first])
    for i, frame in enumerate(frames):
        alike = is_frame(frame) and library_of(frame) == library
        if np.size(frame) and not (alike and list(frame.columns) == columns):
            raise ValueError(
                f"X[{i}] is not a data frame of {library} with the columns {shortened(columns)}, "
                f"unlike X[{first}]"
            )
    offsets = make_offsets(list(map(len, frames)))
    check_filled(offsets, "X", allow_empty)
    return join_frames([frame for frame in frames if len(frame)]), offsets


def _stack_objects(sentences, start):
    """Return tokens that are dicts, strings or lists, and offsets."""
    offsets = make_offsets(list(map(len, sentences)))
    first = type(sentences[start][0])
    kind = next(kind for kind in (Mapping, str, Iterable) if issubclass(first, kind))
    # By type, not by token: there are few types and many tokens.
    types = list(map(type, chain.from_iterable(sentences)))
    wrong = {other for other in set(types) if not issubclass(other, kind)}
    if wrong:
        row = next(row for row, other in enumerate(types) if other in wrong)
        i, t = locate(offsets, row)
        raise TypeError(
            f"X[{i}][{t}] is a {types[row].__name__} but X[{start}][0] is a {first.__name__}"
        )
    return list(chain.from_iterable(sentences)), offsets


def _as_tokens(sequence, i):
    """Return the tokens of a sequence as a list."""
    if isinstance(sequence, np.ndarray) and sequence.ndim:
        return sequence.tolist()
    return list(sequence_of(sequence, f"X[{i}]", "tokens", cure_of_tokens))


def _holds_items(sequence):
    """Return whether something is a list, a tuple, or an array of objects or strings."""
    kind = getattr(getattr(sequence, "dtype", None), "kind", "")
    return isinstance(sequence, (list, tuple)) or (kind in ("O", "S", "U") and sequence.ndim > 0)
