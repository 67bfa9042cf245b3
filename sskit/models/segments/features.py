"""Features of whole segments, by a function of the user."""

import numpy as np
import scipy.sparse as sp

from sskit._cures import raise_noted
from sskit._numbers import array, as_floats

# Larger numbers have sums of squares that overflow.
LARGEST = 1e100


def count_features(function, stacked, number):
    """Return how many features a segment has: those of the first token of the first sequence.

    Parameters
    ----------
    function : callable or None
        The parameter `segment_features`.
    stacked : RaggedArray
        Sequences, none of them empty.
    number : int
        What error messages call the first one.

    Returns
    -------
    n_features : int
        0 without a function.
    """
    if function is None:
        return 0
    name = f"segment_features(X[{number}], 0, 1)"
    answer = array(_call(function, name, _rows(stacked, 0), 0, 1), name, ("n",))
    if not len(answer):
        raise ValueError(f"{name} is empty, expected one number or more")
    return len(answer)


def whole_features(function, stacked, max_length, n_features, numbers):
    """Return the features of all segments that sequences may have.

    Parameters
    ----------
    function : callable
        Takes a sequence (T, p), the first token of a segment and the one after the last; returns
        the features.
    stacked : RaggedArray
        Sequences, none of them empty.
    max_length : int
        Length of the longest segment.
    n_features : int
        Number of features q that each segment must have.
    numbers : ndarray of int of shape (n,)
        What error messages call the sequences.

    Returns
    -------
    features : ndarray of shape (n_values,)
        Sequence after sequence, those of T tokens as (T, min(max_length, T), q): by the first token
        of a segment, its length less one, and the feature.

    Raises
    ------
    ValueError, TypeError
        Naming the sequence and the segment.
    """
    lengths = np.diff(stacked.offsets)
    sizes = lengths * np.minimum(lengths, max_length) * n_features
    places = np.concatenate([[0], np.cumsum(sizes)])
    values = np.zeros(places[-1])
    for i, n_tokens in enumerate(lengths.tolist()):
        x, number = _rows(stacked, i), int(numbers[i])
        block = values[places[i] : places[i + 1]].reshape(n_tokens, -1, n_features)
        for start in range(n_tokens):
            for d in range(min(block.shape[1], n_tokens - start)):
                name = f"segment_features(X[{number}], {start}, {start + d + 1})"
                answer = as_floats(_call(function, name, x, start, start + d + 1), name)
                if answer.shape != (n_features,):
                    raise ValueError(f"{name} has the shape {answer.shape}, not ({n_features},)")
                block[start, d] = answer
        wrong = np.argwhere(~(np.abs(block) <= LARGEST))
        if len(wrong):
            start, d, _ = wrong[0].tolist()
            name = f"segment_features(X[{number}], {start}, {start + d + 1})"
            array(block[start, d], name, (n_features,), low=-LARGEST, high=LARGEST)
    return values


def segment_means(values, sizes):
    """Return the mean features of the tokens of segments, given how many tokens they have."""
    owner, weights = np.repeat(np.arange(len(sizes)), sizes), 1.0 / np.repeat(sizes, sizes)
    return sp.csr_array((weights, (owner, np.arange(values.shape[0])))) @ values


def whole_of_parts(whole, lengths, model, first, parts, owners):
    """Return the features of whole segments of parts of sequences.

    Parameters
    ----------
    whole : ndarray of shape (n_values,)
        Those of the sequences, as `whole_features` returns them.
    lengths : ndarray of shape (n,)
        Numbers of tokens of the sequences.
    model : SegmentModel
        Says how long segments are, and how many features they have.
    first : ndarray of shape (n_parts,)
        The first token of each part within its sequence.
    parts : RaggedArray
        The parts.
    owners : ndarray of shape (n_parts,)
        The sequence of each.
    """
    most, n_features = int(model.limits.max()), model.layout.shapes["segment_coef"][1]
    places = np.append(0, np.cumsum(lengths * np.minimum(lengths, most) * n_features))
    pieces = []
    for t, size, i in zip(first.tolist(), parts.lengths.tolist(), owners.tolist(), strict=True):
        table = whole[places[i] : places[i + 1]].reshape(int(lengths[i]), -1, n_features)
        pieces.append(table[t : t + size, : min(size, most)].ravel())
    return np.concatenate(pieces)


def _call(function, name, *args):
    """Return the answer of the function of the user, whose errors get the name of the segment."""
    try:
        return function(*args)
    except Exception as error:
        raise_noted(error, f"raised by {name}")


def _rows(stacked, i):
    """Return the rows of a sequence, which the function of the user cannot write to."""
    x = stacked.values[stacked.offsets[i] : stacked.offsets[i + 1]]
    if isinstance(x, np.ndarray):
        x.flags.writeable = False
    return x
