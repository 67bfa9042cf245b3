"""Checks of true and predicted labels that belong together."""

import numpy as np

from sskit.inputs.ragged import check_kinds, known_labels, sets_among, stack_entries, stack_labels
from sskit.inputs.ragged_array import make_offsets
from sskit.inputs.weights import check_sample_weight


def stack(y, name):
    """Return the labels of all sequences and where the sequences begin."""
    return stack_labels(y, name=name), offsets_of(y)


def offsets_of(y):
    """Return where sequences begin that were checked."""
    return make_offsets([len(item) for item in y])


def stack_pair(y_true, y_pred, ignore_label=None, sets=False):
    """Return true labels, predicted labels, which count, and where the sequences begin.

    Of those that do not count, with `ignore_label`, the true ones are any others. If there may be
    `sets`, each of their labels is right: the predicted one is taken if it is among them, else any.
    """
    flat, name_of = stack_entries(y_true, name="y_true")
    offsets = offsets_of(y_true)
    pred = stack_labels(y_pred, np.diff(offsets), name="y_pred", x_name="y_true")
    for t, right in sets_among(flat, name_of, ignore_label) if sets else ():
        found = pred[[t]].tolist()[0]
        flat[t] = found if found in right else right[0]
    true, ignored = known_labels(flat, name_of, ignore_label)
    if true.size == 0:
        raise ValueError("Found array with 0 sample(s): y_true holds no labels")
    return true, pred, ~ignored, offsets


def compare(y_true, y_pred, ignore_label=None):
    """Return which tokens are right, which count, and where the sequences begin.

    Of a token with a set of labels each of these is right.
    """
    true, pred, counts, offsets = stack_pair(y_true, y_pred, ignore_label, sets=True)
    if counts.any():
        check_kinds(true[counts], pred)
    return true == pred, counts, offsets


def check_weights(sample_weight, n_samples):
    """Return one checked weight per sequence."""
    weights = check_sample_weight(sample_weight, n_samples)
    return np.ones(n_samples) if weights is None else weights
