"""Names of features, where sequences or trees are data frames."""

import numpy as np

from sskit._numbers import shortened
from sskit.inputs.tokens import is_frame


def column_names(items, where="X"):
    """Return the names of the columns of data frames, or None if items are something else.

    Parameters
    ----------
    items : object
        Matrices as users give them, one for each sequence or tree, or tuples that begin with one.
    where : str, default="X"
        What error messages call them.

    Returns
    -------
    names : ndarray of shape (n_features,), object, or None
        None unless all are data frames with columns that are called by strings.

    Raises
    ------
    ValueError
        Naming the first data frame whose columns differ from those of the first one.
    """
    if not isinstance(items, (list, tuple)) or not items or not is_frame(_features(items[0])):
        return None
    items = [_features(item) for item in items]
    first = list(items[0].columns)
    if not all(isinstance(name, str) for name in first):
        return None
    for i, frame in enumerate(items):
        if not is_frame(frame):
            return None
        columns = list(frame.columns)
        # other numbers of columns are the gate's to refuse
        if columns != first and len(columns) == len(first):
            raise ValueError(
                f"the columns of {where}[{i}] are {shortened(columns)}, but those of {where}[0] "
                f"are {shortened(first)}"
            )
    return np.array(first, dtype=object)


def edge_column_names(X, where="the edge features of X"):
    """Return the names of the columns of the edge features of pairs, or None, as `column_names`.

    Parameters
    ----------
    X : object
        Pairs (features, edge_features) as users give them. A sequence of one token has no edges,
        and may have anything that is empty.
    where : str, default="the edge features of X"
        What error messages call the edge features.

    Returns
    -------
    names : ndarray of shape (n_edge_features,), object, or None
        As of `column_names`.

    Raises
    ------
    ValueError
        As `column_names`.
    """
    if not isinstance(X, (list, tuple)):
        return None
    edges = [item[1] for item in X if isinstance(item, tuple) and len(item) == 2]
    first = next((item for item in edges if is_frame(item)), None)
    if first is None:
        return None
    # what is empty has no names that could differ
    return column_names(
        [item if is_frame(item) or np.size(item) else first for item in edges], where
    )


def features_of_trees(X):
    """Return trees as `column_names` takes them; what is no list of trees has no names."""
    if not isinstance(X, (list, tuple)):
        return None
    return [getattr(item, "features", item) for item in X]


def check_columns(names, expected, estimator_name, where="X"):
    """Raise ValueError if names of columns, where there are some, are not those of the fit."""
    if expected is not None and names is not None and names.tolist() != list(expected):
        raise ValueError(
            f"the columns of {where} are {shortened(names.tolist())}, but {estimator_name} was "
            f"fitted to {shortened(list(expected))}, in this order"
        )


def _features(item):
    """Return the features of an item that has further parts, or the item itself."""
    return item[0] if isinstance(item, tuple) and item else item


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
    if isinstance(names, (str, bytes, set, frozenset, dict)) or not np.iterable(names):
        raise TypeError(
            f"{what} must be a sequence of names in an order, one for each of the {n} {counted}, "
            f"got {names!r:.80}"
        )
    if isinstance(names, np.ndarray):
        array = names
    else:
        names = list(names)
        array = np.fromiter(names, dtype=object, count=len(names))  # tuples stay tuples
    if array.shape != (n,):
        got = len(array) if array.ndim == 1 else f"an array of shape {array.shape}"
        raise ValueError(f"{what} must hold {n} names, as there are {n} {counted}, got {got}")
    return array


def check_top(top):
    """Raise ValueError unless `top` is a positive whole number, or None."""
    whole = isinstance(top, (int, np.integer)) and not isinstance(top, bool)
    if top is not None and not (whole and top >= 1):
        raise ValueError(f"top must be an integer, at least 1, or None for all, got {top!r}")
