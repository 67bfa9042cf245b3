"""The gate of costs of pairs of labels."""

import numpy as np

from sskit._labels import by_label
from sskit._numbers import as_floats


def cost_table(loss, classes, name="loss"):
    """Return the costs of predicted labels by the true one, checked.

    Parameters
    ----------
    loss : str, array-like of shape (K, K), or dict of dict
        Costs in the order of the classes, or by label, ``{true: {predicted: cost}}``, where those
        that are not named are 1, and labels that are no classes say nothing. A string is the name
        of a loss that has no such table.
    classes : ndarray of shape (K,)
        The labels, sorted.
    name : str, default="loss"
        What error messages call the costs.

    Returns
    -------
    table : ndarray of shape (K, K), float64, or None
        A copy, true labels by row and predicted ones by column; None for a string.

    Raises
    ------
    TypeError
        If a dict has anything else than dicts.
    ValueError
        If a cost is no number, or the shape is wrong; or naming, by its labels, the first cost that
        is not finite, is negative, or is that of the true label and not zero.
    """
    if isinstance(loss, str):
        return None
    n, labels = len(classes), classes.tolist()
    table = _filled(loss, classes, name) if isinstance(loss, dict) else as_floats(loss, name)
    if table.shape != (n, n):
        raise ValueError(
            f"{name} must have shape ({n}, {n}), a row for each true label and a column for each "
            f"predicted one, got {table.shape}"
        )
    right = np.eye(n, dtype=bool)
    wrong = ~((table >= 0) & (table < np.inf)) | (right & (table != 0))
    for a, b in np.argwhere(wrong)[:1]:
        expected = "0, as both labels are the same" if a == b else "a finite number >= 0"
        raise ValueError(
            f"{name}[{labels[a]!r}][{labels[b]!r}] is {table[a, b]:g}, expected {expected}"
        )
    return table


def _filled(costs, classes, name):
    """Return a dict of dicts of costs as a table, with ones for wrong labels it does not name."""
    table, labels = 1.0 - np.eye(len(classes)), classes.tolist()
    for a, row in enumerate(by_label(costs, classes, {})):
        if not isinstance(row, dict):
            told = f"must be a dict of costs by predicted label, got {type(row).__name__}"
            raise TypeError(f"{name}[{labels[a]!r}] {told}")
        for b, cost in enumerate(by_label(row, classes, None)):
            if cost is not None:
                table[a, b] = as_floats(cost, f"{name}[{labels[a]!r}][{labels[b]!r}]")
    return table


def labels_with_costs(costs):
    """Return all labels that a dict of dicts of costs names, true and predicted ones, as a list."""
    rows = (row for row in costs.values() if isinstance(row, dict))
    return list(dict.fromkeys([*costs, *(label for row in rows for label in row)]))


def factored(table):
    """Return a table of costs as factors of one cost for each node, where it is no more than that.

    Parameters
    ----------
    table : ndarray of shape (K, K)
        Costs by true and predicted label.

    Returns
    -------
    factors : ndarray of shape (K,)
        Costs by true label, if all wrong labels cost the same beside it, as they do of two labels;
        else ones.
    table : ndarray of shape (K, K) or None
        The costs by which these are to be multiplied; None: 1 for all wrong labels.
    """
    K = len(table)
    if K == 1:
        return np.ones(1), None
    wrong = table[~np.eye(K, dtype=bool)].reshape(K, K - 1)
    if (wrong == wrong[:, :1]).all():
        return wrong[:, 0].copy(), None
    return np.ones(K), table
