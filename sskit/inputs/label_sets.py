"""Validation of label indicators."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from sskit._numbers import array, shown
from sskit.inputs.frames import is_polars

NAMED = ("frame", "polars")


def check_indicator(y):
    """Return sets of labels, given as an indicator matrix, as bytes.

    Parameters
    ----------
    y : ndarray or sparse matrix of shape (n, n_labels)
        Numbers or booleans without NaN; 0 or False where a row does not have a label, 1 or True
        where it has.

    Returns
    -------
    sets : ndarray of shape (n, n_labels), uint8
        0 or 1; of its own.

    Raises
    ------
    ValueError
        If y is not such a matrix, naming the first entry that is wrong.
    """
    y = y.toarray() if sp.issparse(y) else y
    if y.shape[1] == 0:
        raise ValueError(f"y has no labels: its shape is {y.shape}")
    # NumPy compares texts with numbers one by one as objects only
    entries = y if y.dtype.kind in "biuf" else y.astype(object)
    for i, j in np.argwhere((entries != 0) & (entries != 1))[:1]:
        raise ValueError(
            f"y[{i}, {j}] is {shown(y[i, j])}, expected 0 or 1: y must be a label indicator, "
            "which sklearn.preprocessing.MultiLabelBinarizer makes of lists of labels"
        )
    return np.ascontiguousarray(entries == 1, dtype=np.uint8)


def check_sets(y):
    """Return sets of labels as bytes, and the classes.

    Parameters
    ----------
    y : ndarray or CSR matrix of shape (n, L), or ndarray of shape (n,)
        Label indicator, or two classes.

    Returns
    -------
    sets : ndarray of shape (n, L), uint8
        0 or 1.
    classes : ndarray of shape (L,), or (2,) for two classes
        Numbers of the labels, or the classes.

    Raises
    ------
    ValueError
        If y is neither.
    """
    if y.ndim == 2:
        sets = check_indicator(y)
        return sets, np.arange(sets.shape[1])
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.uint8)[:, None], classes


def check_two_classes(classes):
    """Raise ValueError unless there are two classes, which stand for one label."""
    if len(classes) != 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(classes)}: y must be a label indicator of shape "
            f"(n_samples, n_labels), or have two classes, got {len(classes)} class(es)"
        )


def label_names(y):
    """Return the names of the columns of a data frame of labels, or None of what is none.

    Parameters
    ----------
    y : object
        Target of fit, as users give it.

    Returns
    -------
    names : ndarray of shape (n_labels,) or None
        Of any types.

    Raises
    ------
    ValueError
        Naming the first of them that is there twice.
    """
    if is_polars(y):
        return np.array(y.columns, dtype=object)  # all different
    if not hasattr(y, "iloc") or getattr(y, "ndim", 0) != 2:
        return None
    twice = y.columns.duplicated()
    if twice.any():
        raise ValueError(f"y has two columns named {y.columns[twice][0]!r}")
    return y.columns.to_numpy()


def target_form(y, target):
    """Return the form of y, in which predictions are given.

    Parameters
    ----------
    y : ndarray or sparse matrix
        Target, converted.
    target : object
        Target, as the user gave it.

    Returns
    -------
    form : {"classes", "frame", "polars", "sparse", "dense"}
        One of `NAMED` if its columns have names, of a data frame of pandas or polars.
    """
    if y.ndim == 1:
        return "classes"
    if is_polars(target):
        return "polars"
    if hasattr(target, "iloc"):
        return "frame"
    return "sparse" if sp.issparse(y) else "dense"


def in_form(sets, form, classes, X):
    """Return predicted sets of labels in the form of y.

    Parameters
    ----------
    sets : ndarray of shape (n, n_labels), int
        0 or 1.
    form : str
        As of `target_form`.
    classes : ndarray
        Names of the columns, or the two classes of "classes".
    X : object
        What the sets are predicted of, whose index a data frame of pandas gets.

    Returns
    -------
    y : object
        Of one column for "classes", else of all labels.
    """
    if form == "classes":
        return classes[sets.ravel()]
    if form == "frame":
        import pandas as pd  # there was a frame, so it is installed

        index = X.index if hasattr(X, "iloc") else None
        return pd.DataFrame(sets, index=index, columns=classes)
    if form == "polars":
        from polars import DataFrame  # likewise

        return DataFrame(sets, schema=classes.tolist())
    return sp.csr_matrix(sets) if form == "sparse" else sets


def label_costs(loss, label_weight, n_labels):
    """Return the loss of a wrong label.

    Parameters
    ----------
    loss : {"hamming", "hamming_sum"}
        Fraction or number of wrong labels.
    label_weight : array-like of shape (n_labels,) or None
        Factors by label.
    n_labels : int
        Number of labels L.

    Returns
    -------
    cost : ndarray of shape (n_labels,), float64
        Non-negative.

    Raises
    ------
    ValueError
        Naming the first weight that is wrong.
    """
    weight = np.ones(n_labels)
    if label_weight is not None:
        weight = array(label_weight, "label_weight", (n_labels,), low=0)
        if not weight.any():
            raise ValueError("label_weight is zero for all labels")
    return weight / n_labels if loss == "hamming" else weight
