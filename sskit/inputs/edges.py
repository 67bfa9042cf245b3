"""Validation of edges: pairs of nodes, or of labels."""

import numpy as np

from sskit._numbers import array, as_array
from sskit._ready import ready_ends


def check_edges(edges, n_nodes=None, *, where="", noun="node", loops=False):
    """Return edges, checked.

    Parameters
    ----------
    edges : array-like of int of shape (n_edges, 2)
        The two nodes of each edge.
    n_nodes : int, default=None
        Number of nodes; None takes as many as the edges name.
    where : str, default=""
        Text of error messages after the word "edges".
    noun : str, default="node"
        What error messages call a node.
    loops : bool, default=False
        Whether an edge may join a node to itself.

    Returns
    -------
    edges : ndarray of shape (n_edges, 2), int32
        In C order; what is so already is not copied.

    Raises
    ------
    ValueError
        Naming the first edge that is wrong.
    """
    ready = None if n_nodes is None or loops else ready_ends(edges, n_nodes)
    if ready is not None:
        return ready
    edges = as_array(edges, f"edges{where}")
    if edges.shape in ((0,), (0, 2)):
        return np.zeros((0, 2), dtype=np.int32)
    high = np.inf if n_nodes is None else n_nodes - 1
    edges = array(edges, "edges", ("n_edges", 2), "integers", low=0, high=high, where=where)
    same = edges[:, 0] == edges[:, 1]
    if same.any() and not loops:
        e = same.argmax()
        raise ValueError(f"edges[{e}]{where} joins {noun} {edges[e, 0]} to itself")
    return np.ascontiguousarray(edges, dtype=np.int32)


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
    above, _ = ancestors_and_depths(parents)
    wrong = above[above >= 0]
    if wrong.size:
        raise ValueError(f"{name} has a cycle: {noun} {wrong.min()} is its own ancestor")
    return parents


def ancestors_and_depths(parents):
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
    places : ndarray of shape (2, n_nodes), int32
        The nodes by their depth, and where the parent of each of these is among them, -1 for roots.
    """
    order = np.argsort(ancestors_and_depths(parents)[1], kind="stable")
    place = np.append(np.argsort(order), -1)  # that of no parent is the last
    return np.stack([order, place[parents[order]]]).astype(np.int32)
