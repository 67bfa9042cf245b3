"""Checks of true and predicted labels that belong together."""

import numpy as np

from sskit._labels import is_ignored, plain
from sskit.inputs.ragged import check_kinds, find_sets, stack_known_labels, stack_labels
from sskit.inputs.ragged_array import make_offsets
from sskit.inputs.weights import check_sample_weight


def stack(y, name):
    """Return the labels of all sequences and where the sequences begin."""
    lengths = lengths_of(y)
    return stack_labels(y, lengths, name=name, x_name=name), make_offsets(lengths)


def lengths_of(y):
    """Return the lengths of sequences."""
    return [length_of(item) for item in y] if np.iterable(y) else []


def length_of(item):
    """Return the length of a sequence; 0 for what is none, which is refused later by name."""
    try:
        return len(item)
    except (TypeError, NotImplementedError):
        return 0


def stack_pair(y_true, y_pred, ignore_label=None):
    """Return true labels, predicted labels, which count, and where the sequences begin.

    Of those that do not count, with `ignore_label`, the true ones are any others.
    """
    lengths = np.array(lengths_of(y_true), dtype=np.int64)
    given = y_true, lengths, ignore_label
    true, ignored = stack_known_labels(*given, name="y_true", x_name="y_true")
    pred, others = stack(y_pred, "y_pred")
    offsets, found = make_offsets(lengths), np.diff(others)
    if lengths.size != found.size:
        raise ValueError(f"y_true has {lengths.size} sequences but y_pred has {found.size}")
    if (lengths != found).any():
        i = np.flatnonzero(lengths != found)[0]
        raise ValueError(f"y_true[{i}] has {lengths[i]} labels but y_pred[{i}] has {found[i]}")
    if true.size == 0:
        raise ValueError("Found array with 0 sample(s): y_true holds no labels")
    return true, pred, ~ignored, offsets


def compare(y_true, y_pred, ignore_label=None):
    """Return which tokens are right, which count, and where the sequences begin.

    Of a token with a set of labels each of these is right.
    """
    sets = find_sets(y_true, "y_true") if np.iterable(y_true) else None
    if sets is not None:
        y_true = without_sets(*sets, y_pred, ignore_label)
    true, pred, counts, offsets = stack_pair(y_true, y_pred, ignore_label)
    if counts.any():
        check_kinds(true[counts], pred)
    return true == pred, counts, offsets


def without_sets(items, places, y_pred, ignore_label):
    """Return true labels with, for a set, the predicted label if that is in it, else any."""
    items = list(items)
    for i, tokens in enumerate(places):
        if not tokens:
            continue
        found = list(y_pred[i]) if i < length_of(y_pred) and length_of(y_pred[i]) else []
        labels = items[i] = list(items[i])
        for t in tokens:
            right = labels[t]
            right = {plain(label) for label in right}
            if not right or is_ignored(list(right), ignore_label).any():
                inside = f"a set with ignore_label={ignore_label!r} in it" if right else "empty"
                raise ValueError(f"y_true[{i}][{t}] is {inside}: one of its labels must be right")
            hit = t < len(found) and plain(found[t]) in right
            labels[t] = found[t] if hit else next(iter(right))
    return items


def check_weights(sample_weight, n_samples):
    """Return one checked weight per sequence."""
    weights = check_sample_weight(sample_weight, n_samples)
    return np.ones(n_samples) if weights is None else weights
