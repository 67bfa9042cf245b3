"""The gate of label indicators."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets


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
    if y.shape[1] == 0:
        raise ValueError("y has no labels: its shape is " + str(y.shape))
    if not sp.issparse(y) and y.dtype.kind == "f":
        check_classification_targets(y)
    if y.dtype.kind not in "biuf":
        raise ValueError(f"y must hold 0 and 1, or booleans, got dtype {y.dtype}")
    stored = y.tocoo() if sp.issparse(y) else y
    values = stored.data if sp.issparse(y) else stored
    wrong = np.argwhere((values != 0) & (values != 1))
    if len(wrong):
        place = tuple(wrong[0])
        if sp.issparse(y):
            place = stored.row[place], stored.col[place]
        raise ValueError(
            f"y[{place[0]}, {place[1]}] is {y[tuple(place)]}, expected 0 or 1: y must be a label "
            "indicator matrix"
        )
    dense = y.toarray() if sp.issparse(y) else y
    return np.ascontiguousarray(dense != 0, dtype=np.uint8)
