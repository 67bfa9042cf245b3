"""Which transitions between labels are allowed."""

import numpy as np


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
    prefixes, kinds = [], []
    for label in classes.tolist():
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


def resolve_transitions(given, classes, labels, offsets):
    """Return which transitions and first labels are allowed, and check the truth against it.

    Parameters
    ----------
    given : None, "bio" or array-like of shape (K, K) of bool
        As users give it.
    classes : ndarray of shape (K,)
        Labels.
    labels : ndarray of shape (n_tokens,)
        True labels, 0 to K - 1.
    offsets : ndarray of shape (n + 1,)
        Where sequences begin.

    Returns
    -------
    allowed : ndarray of shape (K, K), bool, or None
        None if all are.
    allowed_start : ndarray of shape (K,), bool, or None
        None if all are.

    Raises
    ------
    ValueError
        If the array does not fit, or a true labelling is not allowed.
    """
    if given is None:
        return None, None
    if isinstance(given, str):
        allowed, allowed_start = bio_transitions(classes)
    else:
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
        allowed_start = np.ones(n_states, dtype=bool)
    place = find_forbidden(labels, offsets, allowed, allowed_start)
    if place is not None:
        i, t = place
        label = classes[labels[offsets[i] + t]]
        before = f"after {classes[labels[offsets[i] + t - 1]]}" if t else "at the start"
        raise ValueError(
            f"y[{i}][{t}] is {label} {before}, which allowed_transitions does not allow"
        )
    return allowed, allowed_start


def find_forbidden(labels, offsets, allowed, allowed_start):
    """Return the first (sequence, token) at which a labelling is not allowed, or None.

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
    place : tuple of int or None
        The token is the second one of a forbidden transition.
    """
    good = np.ones(len(labels), dtype=bool)
    good[1:] = allowed[labels[:-1], labels[1:]]
    good[offsets[:-1]] = allowed_start[labels[offsets[:-1]]]
    if good.all():
        return None
    token = int(np.argmin(good))
    sequence = int(np.searchsorted(offsets, token, side="right")) - 1
    return sequence, token - int(offsets[sequence])
