"""Trees as users give them: the parent of each node."""

import numpy as np

from sskit._numbers import array, as_array


def check_parents(parents, name, n_nodes=None, noun="node"):
    """Return the parents of the nodes of a forest, checked.

    Parameters
    ----------
    parents : array-like of int of shape (n_nodes,)
        The parent of each node, -1 for roots, in any order.
    name : str
        What they are, for error messages.
    n_nodes : int, default=None
        How many there must be; None takes any.
    noun : str, default="node"
        What error messages call a node.

    Returns
    -------
    parents : ndarray of shape (n_nodes,), int32
        A copy.

    Raises
    ------
    ValueError
        Naming the first node whose parent does not exist or that is above itself.
    """
    shape = (f"n_{noun}s" if n_nodes is None else n_nodes,)
    parents = as_array(parents, name)
    high = parents.size - 1
    parents = array(parents, name, shape, "integers", low=-1, high=high).astype(np.int32)
    above, _ = climb(parents)
    wrong = above[above >= 0]
    if wrong.size:
        raise ValueError(f"{name} has a cycle: {noun} {wrong.min()} is its own ancestor")
    return parents


def climb(parents):
    """Return an ancestor of each node, -1 unless it is in a cycle, and the depth of each."""
    # depths by doubling: how far up `above` is, until it is above the root
    above, depth, steps = parents, (parents >= 0).astype(np.int32), 1
    while steps <= len(parents) and (above >= 0).any():
        depth = depth + np.where(above >= 0, depth[above], 0)
        above = np.where(above >= 0, above[above], -1)
        steps *= 2
    return above, depth


def parents_first(parents):
    """Return an order of the nodes of a forest in which parents come before their children.

    Parameters
    ----------
    parents : ndarray of shape (n_nodes,), int32
        The parent of each node, -1 for roots.

    Returns
    -------
    order : ndarray of shape (n_nodes,), int32
        The nodes by their depth.
    """
    return np.argsort(climb(parents)[1], kind="stable").astype(np.int32)
