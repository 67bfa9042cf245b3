"""Checks of true and predicted labels that belong together."""

import numpy as np

from sskit._labels import is_ignored, plain
from sskit.inputs.ragged import check_kinds, find_sets, stack_known_labels, stack_labels
from sskit.inputs.ragged_array import make_offsets, split
from sskit.inputs.weights import check_sample_weight


def stack(y, name):
    """Return the labels of all sequences and where the sequences begin."""
    return stack_labels(y, name=name), offsets_of(y)


def offsets_of(y):
    """Return where sequences begin that were checked."""
    return make_offsets([len(item) for item in y])


def stack_pair(y_true, y_pred, ignore_label=None):
    """Return true labels, predicted labels, which count, and where the sequences begin.

    Of those that do not count, with `ignore_label`, the true ones are any others.
    """
    true, ignored = stack_known_labels(y_true, None, ignore_label, name="y_true")
    offsets = offsets_of(y_true)
    pred = stack_labels(y_pred, np.diff(offsets), name="y_pred", x_name="y_true")
    if true.size == 0:
        raise ValueError("Found array with 0 sample(s): y_true holds no labels")
    return true, pred, ~ignored, offsets


def compare(y_true, y_pred, ignore_label=None):
    """Return which tokens are right, which count, and where the sequences begin.

    Of a token with a set of labels each of these is right.
    """
    sets = find_sets(y_true, "y_true") if np.iterable(y_true) else None
    if sets is not None:
        y_true = without_sets(*sets, split(*stack(y_pred, "y_pred")), ignore_label)
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
        found = y_pred[i].tolist() if i < len(y_pred) else []
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
