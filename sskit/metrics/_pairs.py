"""Checks of true and predicted labels that belong together."""

import numpy as np

from sskit.inputs.ragged import check_kinds, stack_labels
from sskit.inputs.ragged_array import make_offsets
from sskit.inputs.weights import check_sample_weight


def stack(y, name):
    """Return the labels of all sequences and where the sequences begin."""
    lengths = [length_of(item) for item in y] if np.iterable(y) else []
    return stack_labels(y, lengths, name=name, x_name=name), make_offsets(lengths)


def length_of(item):
    """Return the length of a sequence; 0 for what is none, which is refused later by name."""
    try:
        return len(item)
    except (TypeError, NotImplementedError):
        return 0


def stack_pair(y_true, y_pred):
    """Return true labels, predicted labels and where the sequences begin."""
    (true, offsets), (pred, others) = stack(y_true, "y_true"), stack(y_pred, "y_pred")
    lengths, found = np.diff(offsets), np.diff(others)
    if lengths.size != found.size:
        raise ValueError(f"y_true has {lengths.size} sequences but y_pred has {found.size}")
    if (lengths != found).any():
        i = np.flatnonzero(lengths != found)[0]
        raise ValueError(f"y_true[{i}] has {lengths[i]} labels but y_pred[{i}] has {found[i]}")
    if true.size == 0:
        raise ValueError("Found array with 0 sample(s): y_true holds no labels")
    return true, pred, offsets


def compare(y_true, y_pred):
    """Return which tokens are right, and where the sequences begin."""
    true, pred, offsets = stack_pair(y_true, y_pred)
    check_kinds(true, pred)
    return true == pred, offsets


def check_weights(sample_weight, n_samples):
    """Return one checked weight per sequence."""
    weights = check_sample_weight(sample_weight, n_samples, "y_true")
    return np.ones(n_samples) if weights is None else weights
