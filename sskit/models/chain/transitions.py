"""Which transitions between labels are allowed, and what becomes of labels that break the rules."""

from functools import lru_cache

import numpy as np

from sskit.inputs.ragged_array import locate
from sskit.oracles.chain.viterbi import viterbi

# Violations that an error names.
MOST_TOLD = 10


def bio_transitions(classes):
    """Return which transitions and first labels the BIO scheme allows.

    Inside a span ("I-X") only the beginning or the inside of the same kind may come before.

    Parameters
    ----------
    classes : ndarray of shape (K,)
        Labels: "O", "B-X" and "I-X" for kinds X.

    Returns
    -------
    allowed : ndarray of shape (K, K), bool
        From row to column.
    allowed_start : ndarray of shape (K,), bool
        First labels.

    Raises
    ------
    ValueError
        If a label is not of the scheme.
    """
    return tuple(map(np.copy, _bio_transitions(tuple(classes.tolist()))))


@lru_cache(maxsize=32)
def _bio_transitions(classes):
    """Return what the BIO scheme allows; every request asks, so that it is remembered."""
    prefixes, kinds = [], []
    for label in classes:
        prefix, dash, kind = str(label).partition("-")
        if not (label == "O" or (prefix in ("B", "I") and dash and kind)):
            raise ValueError(
                f"allowed_transitions='bio' needs the labels 'O', 'B-X' and 'I-X', got {label!r}"
            )
        prefixes.append(prefix)
        kinds.append(kind)
    inside, kinds = np.array(prefixes) == "I", np.array(kinds)
    continues = (np.array(prefixes) != "O")[:, None] & (kinds[:, None] == kinds)
    return ~inside | continues, ~inside


def resolve_transitions(given, classes):
    """Return which transitions and first labels are allowed.

    Parameters
    ----------
    given : None, "bio" or array-like of shape (K, K) of bool
        As users give it.
    classes : ndarray of shape (K,)
        Labels.

    Returns
    -------
    allowed : ndarray of shape (K, K), bool, or None
        None if all are.
    allowed_start : ndarray of shape (K,), bool, or None
        None if all are.

    Raises
    ------
    ValueError
        If the array does not fit, or labels are not of the scheme.
    """
    if given is None:
        return None, None
    if isinstance(given, str):
        return bio_transitions(classes)
    n_states = len(classes)
    try:
        allowed = np.array(given)
    except ValueError:
        raise ValueError("allowed_transitions has rows of different lengths") from None
    if allowed.dtype != bool or allowed.shape != (n_states, n_states):
        raise ValueError(
            f"allowed_transitions must be a boolean array of shape ({n_states}, {n_states}), a "
            f"row and a column for each label in y, got shape {allowed.shape} and dtype "
            f"{allowed.dtype}"
        )
    return allowed, np.ones(n_states, dtype=bool)


def find_violations(labels, offsets, allowed, allowed_start):
    """Return the tokens whose labels may not stand where they do.

    Parameters
    ----------
    labels : ndarray of shape (n_tokens,)
        Labels, 0 to K - 1.
    offsets : ndarray of shape (n + 1,)
        Where sequences begin.
    allowed : ndarray of shape (K, K), bool
        Allowed transitions.
    allowed_start : ndarray of shape (K,), bool
        Allowed first labels.

    Returns
    -------
    tokens : ndarray of shape (m,)
        Numbers of first tokens, and of second ones of transitions that are not allowed.
    """
    good = np.ones(len(labels), dtype=bool)
    good[1:] = allowed[labels[:-1], labels[1:]]
    good[offsets[:-1]] = allowed_start[labels[offsets[:-1]]]
    return np.flatnonzero(~good)


def refuse_violations(tokens, labels, offsets, classes):
    """Raise the ValueError that names violations, up to ten of them, and says how many there are.

    Parameters
    ----------
    tokens : ndarray of shape (m,)
        From `find_violations`, at least one.
    labels, offsets : ndarray
        As for `find_violations`.
    classes : ndarray of shape (K,)
        Labels.
    """
    told = []
    for token in tokens[:MOST_TOLD]:
        i, t = locate(offsets, token)
        before = f"after {classes[labels[token - 1]]}" if t else "at the start"
        told.append(f"y[{i}][{t}] is {classes[labels[token]]} {before}")
    more = f"; there are {len(tokens)} such labels" if len(tokens) > 1 else ""
    if told[1:]:
        more += ", also " + ", ".join(told[1:]) + (", .." if len(tokens) > MOST_TOLD else "")
    raise ValueError(
        f"{told[0]}, which allowed_transitions does not allow{more}. on_violation='repair' changes "
        "such labels, 'ignore' keeps to allowed_transitions in prediction only"
    )


def repair(tokens, labels, offsets, allowed, allowed_start, kinds=None):
    """Return labels that are allowed and differ from those given at as few tokens as can be.

    Parameters
    ----------
    tokens, labels, offsets, allowed, allowed_start : ndarray
        As for `find_violations`, and what it returned.
    kinds : ndarray of shape (K,), default=None
        Of several such labellings, one that keeps the kinds of most labels.

    Returns
    -------
    repaired : ndarray of shape (n_tokens,)
        A copy.

    Raises
    ------
    ValueError
        If no labelling of a sequence is allowed, which is named.
    """
    repaired, table = labels.copy(), np.where(allowed, 0.0, -np.inf)
    sequences = np.unique(np.searchsorted(offsets, tokens, side="right") - 1)
    for i in sequences.tolist():
        given = labels[offsets[i] : offsets[i + 1]]
        same = given[:, None] == np.arange(len(allowed))
        score = same.astype(np.float64)
        if kinds is not None:
            # all kinds together count less than one label
            score += (kinds[given][:, None] == kinds) / (len(given) + 1.0)
        score[0, ~allowed_start] = -np.inf
        try:
            repaired[offsets[i] : offsets[i + 1]] = viterbi(score, table)[0]
        except ValueError:
            raise ValueError(
                f"y[{i}] cannot be repaired: transitions allow no labelling of length {len(given)}"
            ) from None
    return repaired


def kinds_of(classes):
    """Return numbers of the kinds X of labels "B-X" and "I-X"; "O" is one of its own."""
    kinds = [str(label).partition("-")[2] for label in classes.tolist()]
    return np.unique(kinds, return_inverse=True)[1]
