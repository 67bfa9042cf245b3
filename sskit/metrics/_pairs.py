"""Checks of true and predicted labels that belong together."""

import numpy as np

from sskit._numbers import as_floats
from sskit.inputs.ragged import stack_labels
from sskit.inputs.ragged_array import make_offsets

# Sums of weights have reciprocals and products with other numbers.
SMALLEST = 1e-150


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


def check_kinds(true, pred):
    """Raise an error if true labels are strings and predicted ones numbers, or the like."""
    kinds = {kind if kind in "OSUVMm" else "number" for kind in (true.dtype.kind, pred.dtype.kind)}
    if len(kinds) > 1 and "O" not in kinds:
        raise TypeError(f"y_true has labels of dtype {true.dtype} but y_pred of {pred.dtype}")


def compare(y_true, y_pred):
    """Return which tokens are right, and where the sequences begin."""
    true, pred, offsets = stack_pair(y_true, y_pred)
    check_kinds(true, pred)
    return true == pred, offsets


def check_weights(sample_weight, n_samples):
    """Return one checked weight per sequence."""
    if sample_weight is None:
        return np.ones(n_samples)
    weights = as_floats(sample_weight, "sample_weight")
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight has shape {weights.shape} for {n_samples} sequences")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError("sample_weight must hold finite numbers >= 0, not all of them 0")
    with np.errstate(over="ignore"):
        total = weights.sum()
        if not SMALLEST <= total <= 1 / SMALLEST:
            raise ValueError(f"sample_weight has the sum {total}, expected one nearer to 1")
    return weights
