"""The gates of the estimators of rows: what scikit-learn's checks find, with the row named."""

import re

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, validate_data

from sskit.inputs.ragged import _check_sortable
from sskit.inputs.stacking import FLOATS, check_structure, first_not_finite, is_ready

__all__ = ["check_classes", "check_rows"]

# How messages begin that say what is wrong; scikit-learn's own checks of estimators look for some.
KNOWN = re.compile(
    r"Expected|Found|Complex data|Unknown label|Input |X |y |np\.matrix|sparse|Sparse|The feature "
    r"|bad input shape"
)
NO_TARGET = "no_validation"  # as validate_data has it; any other string is a wrong target
FITTED = {"reset": False}  # options of what a fitted estimator is given
CHECKED = ("accept_sparse", "dtype", "order", "ensure_all_finite")


def check_rows(estimator, X, y=NO_TARGET, **options):
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
    X : ndarray or CSR matrix of shape (n, p)
        In C order, of float64, float32 or, if dense, float16; what is so already is not copied.
        Other numbers become float64.
    y : ndarray
        The target, if one was given.

    Raises
    ------
    ValueError
        If X or y is wrong.
    """
    if options == FITTED and isinstance(y, str) and y == NO_TARGET and _is_ready(estimator, X):
        return X
    options = {
        "accept_sparse": "csr",
        "dtype": FLOATS,
        "order": "C",
        "ensure_all_finite": False,
        **options,
    }
    if sp.issparse(X) and X.ndim == 2:
        check_structure(X, "X")
    try:
        # scikit-learn adds up targets to see whether they are finite, infinities of both signs too
        with np.errstate(invalid="ignore"):
            checked = validate_data(estimator, X, y, **options)
    except (TypeError, ValueError, OverflowError) as error:
        told = named(error, X, options)
        if told is error:
            # not from itself: who follows causes would not come to an end
            raise
        raise told from error
    check_finite_rows(checked[0] if isinstance(checked, tuple) else checked)
    return checked


def _is_ready(estimator, X):
    """Return whether rows need no copy, have no fault and are what an estimator was fitted to.

    They are what is served most; everything else, all faults with it, is left to others.
    """
    fitted = vars(estimator)
    return "feature_names_in_" not in fitted and is_ready(X, fitted.get("n_features_in_"))


def named(error, X, options):
    """Return an error of scikit-learn's checks of X and y that says which of them is wrong.

    Parameters
    ----------
    error : TypeError, ValueError or OverflowError
        From the checks of both.
    X : object
        As users gave it.
    options : dict
        Of the checks.

    Returns
    -------
    error : TypeError or ValueError
        The same error if it says so, or begins as users of scikit-learn know it.
    """
    if KNOWN.match(str(error)) and not isinstance(error, OverflowError):
        return error
    try:
        check_array(X, **{name: options[name] for name in CHECKED})
    except (TypeError, ValueError, OverflowError):
        culprit = "X"
    else:
        culprit = "y"
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"{culprit} cannot be an array of numbers or labels: {error}")


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
