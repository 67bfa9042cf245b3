"""Checks of scores of segments that users hand to oracles."""

import numpy as np

from sskit._numbers import as_floats


def check_segments(tokens, transitions, lengths, first, last, start, end, whole):
    """Return scores of the segments of a sequence as float64 arrays, checked.

    Parameters
    ----------
    tokens, transitions, lengths, first, last, start, end, whole : array-like or None
        As for `sskit.oracles.segment_max_sum`.

    Returns
    -------
    scores : tuple of ndarray
        As given, zeros for None; but `whole` stays None.

    Raises
    ------
    ValueError
        Naming the first entry that is wrong.
    """
    tokens = as_floats(tokens, "tokens")
    if tokens.ndim != 2 or 0 in tokens.shape:
        raise ValueError(
            f"tokens must have shape (n_tokens, n_states), both at least 1, got {tokens.shape}"
        )
    wrong = np.argwhere(~np.isfinite(tokens))
    if len(wrong):
        t, k = wrong[0]
        raise ValueError(f"tokens[{t}, {k}] is {tokens[t, k]}, expected a finite number")
    n_tokens, n_states = tokens.shape
    lengths = as_floats(lengths, "lengths")
    if lengths.ndim != 2 or len(lengths) != n_states or lengths.shape[1] == 0:
        raise ValueError(
            f"lengths must have shape ({n_states}, max_length), max_length at least 1, got "
            f"{lengths.shape}"
        )
    lengths = checked(lengths, "lengths", lengths.shape)
    transitions = checked(transitions, "transitions", (n_states, n_states))
    first, last = (
        checked(scores, name, tokens.shape) for scores, name in ((first, "first"), (last, "last"))
    )
    start, end = (
        checked(scores, name, (n_states,)) for scores, name in ((start, "start"), (end, "end"))
    )
    if whole is not None:
        whole = checked(whole, "whole", (n_tokens, lengths.shape[1], n_states))
    return tokens, transitions, lengths, first, last, start, end, whole


def checked(scores, name, shape):
    """Return scores of this shape, zeros for None, or raise ValueError naming what is wrong."""
    if scores is None:
        return np.zeros(shape)
    scores = as_floats(scores, name)
    if scores.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {scores.shape}")
    wrong = np.argwhere(np.isnan(scores) | (scores == np.inf))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        told = ", ".join(map(str, place))
        raise ValueError(f"{name}[{told}] is {scores[place]}, expected a number or -inf")
    return scores
