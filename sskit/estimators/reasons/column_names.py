"""Names of the features of sequences and trees, where these are data frames."""

import numpy as np

from sskit._numbers import shortened


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
    if not isinstance(items, (list, tuple)) or not items or not _is_frame(_features(items[0])):
        return None
    items = [_features(item) for item in items]
    first = list(items[0].columns)
    if not all(isinstance(name, str) for name in first):
        return None
    for i, frame in enumerate(items):
        if not _is_frame(frame):
            return None
        columns = list(frame.columns)
        # other numbers of columns are the gate's to refuse
        if columns != first and len(columns) == len(first):
            raise ValueError(
                f"{where}[{i}] has the columns {shortened(columns)}, unlike {where}[0], which has "
                f"{shortened(first)}"
            )
    return np.array(first, dtype=object)


def features_of_trees(X):
    """Return trees as `column_names` takes them; what is no list of trees has no names."""
    if not isinstance(X, (list, tuple)):
        return None
    return [getattr(item, "features", item) for item in X]


def check_column_names(items, expected, estimator_name, where="X"):
    """Raise ValueError if data frames have other columns than those of the fit.

    Parameters
    ----------
    items : object
        As of `column_names`.
    expected : ndarray of shape (n_features,) or None
        Names that the fit saw; None means that it saw none, and nothing is looked at.
    estimator_name : str
        Who was fitted, for the error message.
    where : str, default="X"
        What error messages call the items.

    Raises
    ------
    ValueError
        Naming the columns.
    """
    if expected is None:
        return
    names = column_names(items, where)
    if names is not None and names.tolist() != list(expected):
        raise ValueError(
            f"{where} has the columns {shortened(names.tolist())}, but {estimator_name} was fitted "
            f"to {shortened(list(expected))}, in this order"
        )


def _features(item):
    """Return the features of an item that has further parts, or the item itself."""
    return item[0] if isinstance(item, tuple) and item else item


def _is_frame(item):
    """Return whether something is a pandas DataFrame, without importing pandas."""
    return type(item).__module__.startswith("pandas") and hasattr(item, "columns")
