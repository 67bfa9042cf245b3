"""Allowed transitions between labels, and repair of labels that break the rules."""

from functools import lru_cache

import numpy as np

from sskit._numbers import as_array
from sskit._tag_schemes import read_tags, scheme_rules, tags_of
from sskit.oracles.chain.viterbi import viterbi


def scheme_transitions(scheme, classes, place=None):
    """Return which transitions, first labels and last labels a scheme of tags allows.

    Parameters
    ----------
    scheme : {"bio", "iob2", "iob1", "bioes", "iobes", "bilou"}
        The scheme.
    classes : ndarray of shape (K,)
        Labels: "O", and for types X "B-X", "I-X" and the other prefixes of the scheme; or prefixes
        alone, for spans without a type.
    place : callable, default=None
        Returns what error messages call the first token with a label, by its number.

    Returns
    -------
    allowed : ndarray of shape (K, K), bool
        From row to column.
    allowed_start, allowed_end : ndarray of shape (K,), bool
        First and last labels.

    Raises
    ------
    ValueError
        If a label is not of the scheme.
    """
    rules, wrong = _scheme_transitions(scheme, tuple(classes.tolist()))
    if wrong is not None:
        name = None if place is None else place(wrong)
        raise ValueError(
            f"allowed_transitions={scheme!r} needs the labels {tags_of(scheme)}, but "
            f"{'a label' if name is None else name} is {classes.tolist()[wrong]!r:.80}"
        )
    return tuple(map(np.copy, rules))


@lru_cache(maxsize=32)
def _scheme_transitions(scheme, classes):
    """Return the rules of a scheme, or the first label that does not belong to it.

    Every request needs it, so that it is cached.
    """
    codes, kinds = read_tags(classes, scheme)
    if codes.min() < 0:
        return None, int(codes.argmin())
    return scheme_rules(scheme, codes, np.array(kinds)), None


def resolve_transitions(rules, classes, place=None):
    """Return which transitions, first labels and last labels are allowed.

    Parameters
    ----------
    rules : None, name of a scheme, or array-like of shape (K, K) of bool
        As users give it.
    classes : ndarray of shape (K,)
        Labels.
    place : callable, default=None
        Returns what error messages call the first token with a label, by its number.

    Returns
    -------
    allowed : ndarray of shape (K, K), bool, or None
        None if all are.
    allowed_start, allowed_end : ndarray of shape (K,), bool, or None
        None if all are.

    Raises
    ------
    ValueError
        If the array does not fit, or labels are not of the scheme.
    """
    if rules is None:
        return None, None, None
    if isinstance(rules, str):
        return scheme_transitions(rules, classes, place)
    n_states = len(classes)
    allowed = np.array(as_array(rules, "allowed_transitions"))
    if allowed.dtype != bool or allowed.shape != (n_states, n_states):
        raise ValueError(
            f"allowed_transitions must be a boolean array of shape ({n_states}, {n_states}), a "
            f"row and a column for each label in y, got shape {allowed.shape} and dtype "
            f"{allowed.dtype}"
        )
    return allowed, np.ones(n_states, dtype=bool), np.ones(n_states, dtype=bool)


def repair(tokens, labels, offsets, allowed, allowed_start, allowed_end, kinds=None):
    """Return allowed labels that differ from the given ones at as few tokens as possible.

    Parameters
    ----------
    tokens, labels, offsets, allowed, allowed_start, allowed_end : ndarray
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
        own = labels[offsets[i] : offsets[i + 1]]
        same = own[:, None] == np.arange(len(allowed))
        score = same.astype(np.float64)
        if kinds is not None:
            # all kinds together count less than one label
            score += (kinds[own][:, None] == kinds) / (len(own) + 1.0)
        score[0, ~allowed_start] = -np.inf
        score[-1, ~allowed_end] = -np.inf
        try:
            repaired[offsets[i] : offsets[i + 1]] = viterbi(score, table)[0]
        except ValueError:
            raise ValueError(
                f"y[{i}] cannot be repaired: transitions allow no labelling of length {len(own)}"
            ) from None
    return repaired


def kinds_of(classes):
    """Return numbers of the kinds X of labels such as "B-X"; "O" is one of its own."""
    tags = classes.tolist()
    kinds = ["O" if tag == "O" else f"-{tag.partition('-')[2]}" for tag in tags]
    return np.unique(kinds, return_inverse=True)[1]


def check_possible(
    possible, offsets, allowed, allowed_start, allowed_end, name="known", every=False
):
    """Raise ValueError if the known labels leave a sequence no allowed labelling.

    Parameters
    ----------
    possible : ndarray of shape (n_tokens, K), bool
        Labels that are possible at each token, one or more.
    offsets : ndarray of shape (n + 1,)
        Where sequences begin; all that are not empty have an allowed labelling if all labels are
        possible.
    allowed : ndarray of shape (K, K), bool
        Allowed transitions.
    allowed_start, allowed_end : ndarray of shape (K,), bool
        Allowed first and last labels.
    name : str, default="known"
        Name of the argument in the error message.
    every : bool, default=False
        Whether to check sequences without known labels too.

    Raises
    ------
    ValueError
        Naming the first such sequence, and its first token that no labelling reaches.
    """
    counts = np.concatenate([[0], np.cumsum(~possible.all(axis=1))])
    sequences = np.flatnonzero((counts[offsets[1:]] > counts[offsets[:-1]]) | every)
    if not len(sequences):
        return
    # all sequences token by token, those that are longest first, so that those left are first
    sequences = sequences[np.argsort(-np.diff(offsets)[sequences], kind="stable")]
    start, lengths = offsets[:-1][sequences], np.diff(offsets)[sequences]
    table, lost = allowed.astype(np.float32), np.full(len(sequences), -1)
    reached = possible[start] & allowed_start
    for t in range(lengths[0]):
        left = np.searchsorted(-lengths, -t)
        if t:
            reached = (reached[:left].astype(np.float32) @ table > 0) & possible[start[:left] + t]
        ends = lengths[:left] == t + 1
        reached[ends] &= allowed_end
        lost[:left][~reached.any(axis=1) & (lost[:left] < 0)] = t
    wrong = np.flatnonzero(lost >= 0)
    if not len(wrong):
        return
    first = wrong[np.argmin(sequences[wrong])]
    i, t = sequences[first], lost[first]
    if t == lengths[first] - 1 and not (possible[start[first] + t] & allowed_end).any():
        what = "end a sequence"
    else:
        what = "follow those before" if t else "begin a sequence"
    raise ValueError(
        f"{name}[{i}][{t}] leaves no labelling that is allowed: none of the labels that are "
        f"possible there may {what}"
    )
