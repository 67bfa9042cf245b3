"""Tables for users: data frames where pandas is there, else dicts of arrays."""

import numpy as np


def as_frame(columns):
    """Return columns as a data frame, or as they are where pandas is not installed.

    Parameters
    ----------
    columns : dict of str to ndarray of shape (n_rows,)
        The columns.

    Returns
    -------
    frame : DataFrame or dict
        With these columns.
    """
    try:
        from pandas import DataFrame
    except ImportError:
        return columns
    return DataFrame(columns)


def object_column(values):
    """Return values of any type as an array of one dimension, of which tuples stay tuples."""
    return np.fromiter(values, dtype=object, count=len(values))


def named(names, places, letter):
    """Return the names of some features; without names these are a letter and a number."""
    if names is None:
        return [f"{letter}{j}" for j in places.tolist()]
    return [str(name) for name in names[places].tolist()]


def check_names(names, n, what="feature_names", counted="features"):
    """Return names as an array, or raise ValueError unless there is one for each feature.

    Parameters
    ----------
    names : array-like of str of shape (n,), or None
        As users give them.
    n : int
        How many there must be.
    what, counted : str
        What error messages call the names, and what they are of.

    Returns
    -------
    names : ndarray of shape (n,) or None
        None if there are none.

    Raises
    ------
    TypeError
        If they are a single string, or nothing that has a length.
    ValueError
        If there is another number of them.
    """
    if names is None:
        return None
    if isinstance(names, (str, bytes, set, frozenset, dict)):
        raise TypeError(f"{what} must be a sequence with an order, got a {type(names).__name__}")
    try:
        array = names if isinstance(names, np.ndarray) else object_column(list(names))
    except TypeError:
        raise TypeError(
            f"{what} must be a sequence of names, one for each of the {n} {counted}, got "
            f"{names!r:.80}"
        ) from None
    if array.shape != (n,):
        got = len(array) if array.ndim == 1 else f"an array of shape {array.shape}"
        raise ValueError(f"{what} must hold {n} names, as there are {n} {counted}, got {got}")
    return array


def check_top(top):
    """Raise ValueError unless `top` is a positive whole number, or None."""
    whole = isinstance(top, (int, np.integer)) and not isinstance(top, bool)
    if top is not None and not (whole and top >= 1):
        raise ValueError(f"top must be an integer, at least 1, or None for all, got {top!r}")
