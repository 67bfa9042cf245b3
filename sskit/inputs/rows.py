"""The gates of rows, by scikit-learn's checks with the row named, and of samples of any type."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from sskit._labels import join_arrays, label_array, plain, string_array
from sskit._numbers import no_number, shown
from sskit.inputs.ragged_array import object_array
from sskit.inputs.stacking import FLOATS, check_structure, first_not_finite, is_ready

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
    except (ValueError, OverflowError) as error:
        found = "" if sp.issparse(X) else no_number(X, "X", strings=True)
        if found:
            raise ValueError(f"{error}{found}") from error
        raise
    check_finite_rows(checked[0] if isinstance(checked, tuple) else checked)
    return checked


def _is_ready(estimator, X):
    """Return whether rows need no copy, have no fault and are what an estimator was fitted to.

    They are what is served most; everything else, all faults with it, is left to others.
    """
    fitted = vars(estimator)
    return "feature_names_in_" not in fitted and is_ready(X, fitted.get("n_features_in_"))


def check_finite_rows(X):
    """Raise ValueError at the first NaN or infinity of a matrix, naming row and column."""
    found = first_not_finite(X)
    if found is not None:
        row, column, what = found
        raise ValueError(f"X[{row}] contains {what} in column {column}")


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
    if y is None or sp.issparse(y):
        return y
    if isinstance(y, (list, tuple)) and y and all(map(_is_single, set(map(type, y)))):
        classes = given = label_array(list(y), lambda i: f"{name}[{i}]")
    else:
        try:
            classes = np.asarray(y)
        except ValueError:  # rows of different lengths
            return y
        if classes.ndim != 1:
            return y
        long = classes.dtype.kind in "US" and join_arrays([classes]) is None
        if classes.dtype.kind == "O" or long:
            classes = given = label_array(classes.tolist(), lambda i: f"{name}[{i}]")
        else:
            given = y
    if classes.dtype.kind == "f":
        missing = np.flatnonzero(np.isnan(classes))
        if missing.size:
            raise ValueError(f"{name}[{missing[0]}] is nan: labels must not be missing")
    return given


def _is_single(kind):
    """Return whether objects of a type are no sequences of others."""
    return issubclass(kind, (str, bytes)) or not hasattr(kind, "__len__")


def refuse_large_integers(y):
    """Raise ValueError for the first class that is an integer of more than 64 bits.

    Parameters
    ----------
    y : object
        From `check_classes`.

    Raises
    ------
    ValueError
        Naming it.
    """
    if isinstance(y, np.ndarray) and y.dtype.kind == "O" and y.ndim == 1:
        for i, value in enumerate(y.tolist()):
            if isinstance(value, int) and value.bit_length() > 63:
                raise ValueError(f"y[{i}] is {shown(value)}, an integer of more than 64 bits")


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
