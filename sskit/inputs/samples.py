"""The gate of structures written in Python: samples of any type, and labels of any."""

import numpy as np
import scipy.sparse as sp

from sskit._labels import plain, string_array
from sskit.inputs.ragged_array import object_array
from sskit.inputs.stacking import check_structure


def check_samples(X, name):
    """Return a list of the samples of a sequence, an array, a table or a sparse matrix by rows.

    Parameters
    ----------
    X : sequence
        Samples of any type.
    name : str
        What it is, for error messages.

    Returns
    -------
    samples : list
        At least one.

    Raises
    ------
    ValueError
        If there is none.
    TypeError
        If X is not a sequence.
    """
    X = np.asarray(X) if isinstance(X, memoryview) else X
    if sp.issparse(X) and X.ndim == 2:
        check_structure(X, name)
        X = X.tocsr()
        found = [X[[i]] for i in range(X.shape[0])]
    elif hasattr(X, "iloc"):
        found = list(X.to_numpy())
    elif (
        isinstance(X, (str, bytes, dict, set, type))
        or not hasattr(X, "__len__")
        or getattr(X, "shape", None) == ()
    ):
        raise TypeError(f"{name} must be a sequence of samples, got {type(X).__name__}")
    else:
        found = [X[i] for i in range(len(X))]
    if not found:
        raise ValueError(f"{name} has 0 samples, expected at least 1")
    return found


def check_pairs(X, y):
    """Return lists of as many inputs as true labellings, at least one."""
    inputs, targets = check_samples(X, "X"), check_samples(y, "y")
    if len(inputs) != len(targets):
        raise ValueError(f"X has {len(inputs)} samples but y has {len(targets)}")
    return inputs, targets


def plain_labels(labels):
    """Return labels as an array of numbers or strings where they are that, else of objects."""
    if all(isinstance(y, str) for y in labels):
        return string_array([plain(y) for y in labels])
    if all(isinstance(y, (bool, int, float, np.bool_, np.integer, np.floating)) for y in labels):
        return np.array(labels)
    return object_array(labels)
