"""Data frames of pandas and polars, without importing either, and the names of their columns."""

import sys

import numpy as np
from sklearn.utils.validation import _get_feature_names

from sskit._numbers import shortened

_LIBRARIES = ("pandas", "polars")


def is_frame(data):
    """Return whether something is a data frame of pandas or polars, and no lazy one."""
    kind = type(data)
    return library_of(data) in _LIBRARIES and hasattr(kind, "columns") and hasattr(kind, "to_numpy")


def is_polars(data):
    """Return whether something is a data frame of polars."""
    return is_frame(data) and library_of(data) == "polars"


def library_of(data):
    """Return the name of the library that something is of."""
    return type(data).__module__.partition(".")[0]


def join_frames(frames):
    """Return data frames of one library, with equal columns, as one."""
    library = sys.modules[library_of(frames[0])]
    if library.__name__ == "polars":
        return library.concat(frames, how="vertical_relaxed")  # integers and floats make floats
    return library.concat(frames, ignore_index=True)


def features_of(item):
    """Return the features of a pair or a tree, as users give these, or the item itself."""
    if isinstance(item, tuple) and item:
        return item[0]
    is_tree = hasattr(item, "parents") and not is_frame(item)
    return getattr(item, "features", item) if is_tree else item


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
    if not isinstance(items, (list, tuple)) or not items or not is_frame(features_of(items[0])):
        return None
    frames = [features_of(item) for item in items]
    first = _get_feature_names(frames[0])
    if first is None or not all(map(is_frame, frames)):
        return None
    for i, frame in enumerate(frames):
        # other numbers of columns are refused by validation
        if frame.shape[1] == len(first) and list(frame.columns) != first.tolist():
            raise ValueError(
                f"the columns of {where}[{i}] are {shortened(list(frame.columns))}, but those of "
                f"{where}[0] are {shortened(first.tolist())}"
            )
    return first


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
    items = X if isinstance(X, (list, tuple)) else ()
    edges = [item[1] for item in items if isinstance(item, tuple) and len(item) == 2]
    first = next(filter(is_frame, edges), None)
    if first is None:
        return None
    # what is empty has no names that could differ
    named = [item if is_frame(item) or np.size(item) else first for item in edges]
    return column_names(named, where)


def check_columns(names, expected, estimator_name, where="X"):
    """Raise ValueError if names of columns, where there are some, are not those of the fit."""
    if expected is not None and names is not None and names.tolist() != list(expected):
        raise ValueError(
            f"the columns of {where} are {shortened(names.tolist())}, but {estimator_name} was "
            f"fitted to {shortened(list(expected))}, in this order"
        )
