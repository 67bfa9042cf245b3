"""The gate of label indicators."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from sskit._labels import object_array
from sskit._numbers import shown
from sskit.inputs.ragged import items_of


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


def check_known_sets(known, n, n_labels):
    """Return which labels of sets are known.

    Parameters
    ----------
    known : sequence of n items
        An item is None if nothing is known of a row, or a sequence with an entry for each label:
        1 or True, 0 or False, and None or NaN where it is not known. A data frame, or an array of
        shape (n, n_labels), is such a sequence.
    n, n_labels : int
        Numbers of rows and of labels.

    Returns
    -------
    codes : ndarray of shape (n, n_labels), int8
        1, 0, and -1 where it is not known.

    Raises
    ------
    TypeError
        If `known` is of a wholly wrong type.
    ValueError
        Naming the first item or entry that is wrong.
    """
    form = "one item per row: None, or for each label 1, 0 or None"
    if hasattr(known, "iloc"):
        known = known.astype(object).where(known.notna(), None).to_numpy()
    codes = np.full((n, n_labels), -1, dtype=np.int8)
    for i, item in enumerate(items_of(known, "known", form, stacked=(2,), count=n)):
        if item is None:
            continue
        if not isinstance(item, (list, tuple, np.ndarray)) or len(item) != n_labels:
            raise ValueError(
                f"known[{i}] must be None or have an entry for each of the {n_labels} labels of y, "
                f"got {item!r:.80}"
            )
        entries = object_array(item)
        free = np.equal(entries, None) | (entries != entries)
        for j in np.flatnonzero(~free & (entries != 0) & (entries != 1))[:1]:
            raise ValueError(f"known[{i}][{j}] is {shown(entries[j])}, expected 0, 1 or None")
        codes[i] = np.where(free, -1, entries)
    return codes


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
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(classes)}: y must be a label indicator of shape "
            "(n_samples, n_labels), or have two classes"
        )
    if len(classes) < 2:
        raise ValueError(f"y must have 2 classes, got 1 class: {classes[0]}")


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
    if not hasattr(y, "iloc") or getattr(y, "ndim", 0) != 2:
        return None
    twice = y.columns.duplicated()
    if twice.any():
        raise ValueError(f"y has two columns named {y.columns[twice][0]!r}")
    return y.columns.to_numpy()


def target_form(y, names=None):
    """Return the form of y, in which predictions are given.

    Parameters
    ----------
    y : ndarray or sparse matrix
        Target, converted.
    names : ndarray of shape (n_labels,), default=None
        Names of the labels, if it was a data frame.

    Returns
    -------
    form : {"classes", "frame", "sparse", "dense"}
    """
    if y.ndim == 1:
        return "classes"
    if names is not None:
        return "frame"
    return "sparse" if sp.issparse(y) else "dense"
