"""Validation of rows, by scikit-learn's checks with the row named, and of samples of any type."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from sskit._labels import join_arrays, label_array
from sskit._numbers import as_array
from sskit.inputs.frames import is_frame
from sskit.inputs.stacking import FLOATS, check_finite, is_ready, sound_csr

NO_TARGET = "no_validation"  # as validate_data has it; any other string is a wrong target
FITTED = {"reset": False}  # options of what a fitted estimator is given


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
    fitted, features_alone = vars(estimator), isinstance(y, str) and y == NO_TARGET
    unnamed = options == FITTED and features_alone and "feature_names_in_" not in fitted
    # most requests need no copy, have no fault and have the type of the training data
    if unnamed and is_ready(X, fitted.get("n_features_in_")):
        return X
    X, y = (
        sound_csr(data, name) if sp.issparse(data) and data.ndim == 2 else data
        for data, name in ((X, "X"), (y, "y"))
    )
    options = {"accept_sparse": "csr", "dtype": FLOATS, "order": "C", **options}
    # scikit-learn adds up targets to see whether they are finite, infinities of both signs too
    try:
        with np.errstate(invalid="ignore"):
            checked = validate_data(estimator, X, y, ensure_all_finite=False, **options)
    except OverflowError as error:
        raise ValueError(f"a number in X or y is too large: {error}") from None
    check_finite(checked[0] if isinstance(checked, tuple) else checked, "X")
    return checked


def check_classes(y, name="y"):
    """Return classes as an array that keeps them what they are, or raise an error that names one.

    For what users give, before it is converted. What is not one-dimensional passes.

    Parameters
    ----------
    y : object
        Classes.
    name : str, default="y"
        What error messages call them.

    Returns
    -------
    y : object
        What was given, but an array instead of a list, a tuple or what holds objects: members
        of enumerations of strings or numbers are what they are equal to, and strings of more than
        64 characters are objects.

    Raises
    ------
    ValueError
        If a class is None or NaN.
    TypeError
        If two classes cannot be sorted, or one is no label at all.
    """
    classes = as_array(None if sp.issparse(y) else y, name)
    if classes.ndim != 1:
        return y
    long = classes.dtype.kind in "US" and join_arrays([classes]) is None
    if long or classes.dtype.kind == "O" or isinstance(y, (list, tuple)):
        labels = list(y) if isinstance(y, (list, tuple)) else classes.tolist()
        y = classes = label_array(labels, lambda i: f"{name}[{i}]")
    if classes.dtype.kind == "f":
        missing = np.flatnonzero(np.isnan(classes))
        if missing.size:
            raise ValueError(f"{name}[{missing[0]}] is nan: labels must not be missing")
    return y


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
        X = sound_csr(X, name)
        samples = [X[[i]] for i in range(X.shape[0])]
    elif isinstance(X, (str, bytes, dict, set, type)) or not (
        hasattr(X, "__len__") and np.iterable(X)
    ):
        raise TypeError(f"{name} must be a sequence of samples, got {type(X).__name__}")
    else:
        samples = list(X.to_numpy() if hasattr(X, "iloc") or is_frame(X) else X)
    if not samples:
        raise ValueError(f"{name} has 0 samples, expected at least 1")
    return samples


def check_pairs(X, y):
    """Return lists of as many inputs as true labellings, at least one."""
    inputs, targets = check_samples(X, "X"), check_samples(y, "y")
    if len(inputs) != len(targets):
        raise ValueError(f"X has {len(inputs)} samples but y has {len(targets)}")
    return inputs, targets
