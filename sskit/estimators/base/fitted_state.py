"""Checks that the arrays of a fitted object fit each other, before compiled code reads them."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sskit._numbers import check_compressed
from sskit._ready import all_within

# The squares of larger weights overflow.
LARGEST = 1e154


def check_fitted(estimator):
    """Raise NotFittedError unless an estimator is fitted."""
    if "lam_" not in vars(estimator):
        check_is_fitted(estimator)


def check_numbers(owner, shapes, *, integer=False, finite=True):
    """Raise ValueError unless attributes are arrays of finite numbers of the shapes they need.

    Parameters
    ----------
    owner : object
        The fitted object.
    shapes : dict of str to tuple of int
        The shape of each attribute, by its name.
    integer : bool, default=False
        Whether the numbers are whole.
    finite : bool, default=True
        Whether entries are looked at.

    Raises
    ------
    ValueError
        Naming the first attribute that is none, or its first entry that is not finite or larger
        than any of a fit.
    """
    for name, shape in shapes.items():
        _check_array(owner, name, shape, finite, integer)


def check_weights(owner, layout):
    """Return the weights of a fitted estimator by block, or raise ValueError as `check_numbers`.

    Those of features, which may be many, are looked at with the scores that they give.

    Parameters
    ----------
    owner : object
        The fitted object.
    layout : WeightLayout
        The blocks, whose names are those of the attributes, and their shapes.

    Returns
    -------
    blocks : dict of ndarray
        By name.
    """
    return {
        name: _check_array(owner, attribute, shape, finite)
        for name, attribute, shape, finite in layout.attributes
    }


def _check_array(owner, name, shape, finite, integer=False):
    """Return an attribute that is such an array."""
    array = getattr(owner, name, None)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in ("iu" if integer else "biuf"):
        what = "whole numbers" if integer else "numbers"
        got = getattr(array, "dtype", type(array).__name__)
        raise_damaged(owner, f"{name} must be an array of {what}, got {got}")
    if array.shape != shape:
        raise_damaged(owner, f"{name} must have the shape {shape}, got {array.shape}")
    if finite and not all_within(array, LARGEST):
        wrong = np.argwhere(~(np.abs(array.astype(np.float64)) <= LARGEST))
        if len(wrong):
            place = tuple(wrong[0].tolist())
            raise_damaged(owner, f"{name}{list(place)} is {array[place]}")
    return array


def check_labels(owner, name="classes_", least=1):
    """Return the number of labels, or raise ValueError unless they are an array of one dimension.

    Parameters
    ----------
    owner : object
        The fitted object.
    name : str, default="classes_"
        The attribute.
    least : int, default=1
        How many there must be.

    Returns
    -------
    n : int
        Their number.

    Raises
    ------
    ValueError
        If it is something else.
    """
    array = getattr(owner, name, None)
    if not isinstance(array, np.ndarray) or array.ndim != 1 or len(array) < least:
        got = getattr(array, "shape", type(array).__name__)
        raise_damaged(owner, f"{name} must be an array of labels of shape (n,), got {got}")
    return len(array)


def check_count(owner, name):
    """Return an attribute that counts something, or raise ValueError if it does not."""
    value = getattr(owner, name, None)
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        raise_damaged(owner, f"{name} must be a whole number, got {value!r}")
    return int(value)


def check_sparse(owner, name, matrix):
    """Raise ValueError if a sparse matrix points outside of itself.

    Parameters
    ----------
    owner : object
        Whose it is.
    name : str
        What it is called.
    matrix : ndarray or CSR matrix
        An array passes.

    Raises
    ------
    ValueError
        Naming it.
    """
    if sp.issparse(matrix):
        if matrix.format != "csr":
            raise_damaged(owner, f"{name} is no matrix: its format is {matrix.format}, not csr")
        try:
            check_compressed(matrix)
        except (ValueError, IndexError) as error:
            raise_damaged(owner, f"{name} is no matrix: {error}")


def raise_damaged(owner, what):
    """Raise the ValueError of all of these checks; the owner may be named."""
    name = owner if isinstance(owner, str) else type(owner).__name__
    raise ValueError(f"{what}; the {name} is not as it was fitted")
