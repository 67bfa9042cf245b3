"""Losses of nodes that depend on the label that is predicted."""

import numpy as np

from sskit._numbers import as_floats


def check_loss_table(table, n_states):
    """Return a table of losses, true labels by predicted ones, checked.

    Parameters
    ----------
    table : array-like of shape (K, K)
        Non-negative, zero where both are the same.
    n_states : int
        Number of labels K.

    Returns
    -------
    table : ndarray of shape (K, K)
        In double precision.

    Raises
    ------
    ValueError
        Naming the first entry that is wrong.
    """
    table = as_floats(table, "loss")
    if table.shape != (n_states, n_states):
        raise ValueError(
            f"loss must have shape ({n_states}, {n_states}), a row for each true label and a "
            f"column for each predicted one, got {table.shape}"
        )
    wrong = ~((table >= 0) & (table < np.inf))
    wrong |= (np.eye(n_states) > 0) & (table != 0)
    if wrong.any():
        a, b = np.argwhere(wrong)[0]
        expected = "0, as both labels are the same" if a == b else "a number >= 0"
        raise ValueError(f"loss[{a}, {b}] is {table[a, b]}, expected {expected}")
    return table


def losses_by_callable(loss, labels, labelled, classes, offsets):
    """Return the losses of all labels at all nodes, from a function of the labels of a graph.

    Parameters
    ----------
    loss : callable
        Takes the true labels (V,) of a graph and the labels (K,) that there are, and returns
        losses (V, K), non-negative, zero at the truth.
    labels : ndarray of shape (N,)
        True labels, 0 to K - 1.
    labelled : ndarray of shape (N,), bool
        Which nodes have one; the others are left out of what the function is given.
    classes : ndarray of shape (K,)
        The labels.
    offsets : ndarray of shape (n + 1,)
        Where the graphs begin.

    Returns
    -------
    losses : ndarray of shape (N, K)
        Zero where there is no label.

    Raises
    ------
    ValueError
        Naming the first graph and node whose losses are wrong.
    """
    losses = np.zeros((len(labels), len(classes)))
    for i, (start, stop) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
        nodes = start + np.flatnonzero(labelled[start:stop])
        if not len(nodes):
            continue
        found = as_floats(loss(classes[labels[nodes]], classes.copy()), "loss")
        if found.shape != (len(nodes), len(classes)):
            raise ValueError(
                f"loss returned shape {found.shape} for y[{i}], expected "
                f"({len(nodes)}, {len(classes)})"
            )
        wrong = ~((found >= 0) & (found < np.inf)).all(axis=1)
        wrong |= found[np.arange(len(nodes)), labels[nodes]] != 0
        if wrong.any():
            v = np.flatnonzero(wrong)[0]
            raise ValueError(
                f"loss returned {found[v].tolist()} for node {nodes[v] - start} of y[{i}], "
                "expected numbers >= 0, and 0 at the true label"
            )
        losses[nodes] = found
    return losses
