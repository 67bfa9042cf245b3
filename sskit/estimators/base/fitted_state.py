"""Whether the arrays of a fitted object fit each other: what compiled code relies on is looked at
before each use.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sskit._ready import all_within
from sskit.models.layout import AXES, FEATURE

# The squares of larger weights overflow.
LARGEST = 1e154


def check_fitted(estimator):
    """Raise NotFittedError unless an estimator is fitted."""
    if "lam_" not in vars(estimator):
        check_is_fitted(estimator)


def check_numbers(owner, shapes, *, integer=False, finite=True, forbids=False):
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
    forbids : bool, default=False
        Whether entries may be -inf.

    Returns
    -------
    modest : bool
        Whether no entry that was looked at is -inf.

    Raises
    ------
    ValueError
        Naming the first attribute that is none, or its first entry that is not finite or larger
        than any of a fit.
    """
    kinds, what = ("iu", "whole numbers") if integer else ("biuf", "numbers")
    modest = True
    for name, shape in shapes.items():
        array = getattr(owner, name, None)
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
            got = getattr(array, "dtype", type(array).__name__)
            raise_damaged(owner, f"{name} must be an array of {what}, got {got}")
        if array.shape != shape:
            raise_damaged(owner, f"{name} must have the shape {shape}, got {array.shape}")
        if not finite or all_within(array, LARGEST):
            continue
        if array.size and not (array.max() <= LARGEST and array.min() >= -LARGEST):
            modest = False
            wrong = ~(np.abs(array) <= LARGEST) & ~(forbids & (array == -np.inf))
            if wrong.any():
                place = tuple(np.argwhere(wrong)[0].tolist())
                raise_damaged(owner, f"{name}{list(place)} is {array[place]}")
    return modest


def check_weights(estimator, layout):
    """Raise ValueError, naming it, for an attribute that does not hold weights of a layout.

    Parameters
    ----------
    estimator : object
        Fitted.
    layout : WeightLayout
        Of its model. Weights of features may not be finite: those of the ones that occur are looked
        at with the scores of a request.
    """
    for name, shape in layout.shapes.items():
        _, axes = AXES.get((f"{name}_", len(shape)), (None, ()))
        check_numbers(estimator, {f"{name}_": shape}, finite=FEATURE not in axes)


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
        try:
            matrix.check_format(full_check=True)
        except (ValueError, IndexError) as error:
            raise_damaged(owner, f"{name} is no matrix: {error}")


def raise_damaged(owner, what):
    """Raise the ValueError of all of these checks; the owner may be named."""
    name = owner if isinstance(owner, str) else type(owner).__name__
    raise ValueError(f"{what}; the {name} is not as it was fitted")
