"""The gates of the estimators of rows: what scikit-learn's checks find, with the row named."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from sskit.utils._stacking import first_not_finite
from sskit.utils.ragged import _check_sortable

__all__ = ["check_classes", "check_rows"]


def check_rows(estimator, X, y="no_validation", **options):
    """Check rows of features as scikit-learn does, and name the first that is not finite.

    Parameters
    ----------
    estimator : estimator
        Its ``n_features_in_`` and ``feature_names_in_`` are set, or compared.
    X : {array-like, sparse matrix} of shape (n, p)
        Features.
    y : object, default="no_validation"
        Target; by default there is none.
    **options : object
        Of :func:`sklearn.utils.validation.validate_data`.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n, p), float64
        In C order.
    y : ndarray
        The target, if one was given.

    Raises
    ------
    ValueError
        If X or y is wrong.
    """
    options = {
        "accept_sparse": "csr",
        "dtype": np.float64,
        "order": "C",
        "ensure_all_finite": False,
        **options,
    }
    checked = validate_data(estimator, X, y, **options)
    check_finite_rows(checked[0] if isinstance(checked, tuple) else checked)
    return checked


def check_finite_rows(X):
    """Raise ValueError at the first NaN or infinity of a matrix, naming row and column."""
    found = first_not_finite(X)
    if found is not None:
        row, column, what = found
        raise ValueError(f"X[{row}] contains {what} in column {column}")


def check_classes(y):
    """Raise an error that names the first class that is missing, or of a type of its own.

    For what users give, before it is converted. What is not one-dimensional passes.

    Parameters
    ----------
    y : object
        Classes.

    Raises
    ------
    ValueError
        If a class is None or NaN.
    TypeError
        If two classes cannot be sorted, or one is no label at all.
    """
    if y is None or sp.issparse(y):
        return
    try:
        classes = np.asarray(y)
    except ValueError:  # rows of different lengths
        return
    if classes.ndim != 1:
        return
    if classes.dtype.kind == "f":
        missing = np.flatnonzero(np.isnan(classes))
        if missing.size:
            raise ValueError(f"y[{missing[0]}] is nan: labels must not be missing")
    elif classes.dtype.kind == "O":
        _check_sortable(classes, lambda i: f"y[{i}]")
