"""Checks of hierarchies of labels that come from users."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sskit.inputs import parents as parent_arrays
from sskit.inputs.edges import check_edges


def check_parents(parents):
    """Return parents as int32, checked, and the labels in an order with parents first.

    Parameters
    ----------
    parents : array-like of int of shape (n_labels,)
        The parent of each label; -1 for a root.

    Returns
    -------
    parents : ndarray of shape (n_labels,), int32
        A copy.
    order : ndarray of shape (n_labels,), int32
        The labels, each after its parent.

    Raises
    ------
    ValueError
        Naming the first label that is wrong.
    """
    if np.shape(parents) == (0,):
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
    parents = parent_arrays.check_parents(parents, "parents", noun="label")
    return parents, parent_arrays.parents_first(parents)


def check_dag(edges, n_labels=None):
    """Return edges of a directed acyclic graph as int32, checked, and the number of labels.

    Parameters
    ----------
    edges : array-like of int of shape (n_edges, 2)
        Child and parent of each edge.
    n_labels : int or None, default=None
        Number of labels; None takes the largest one in the edges.

    Returns
    -------
    edges : ndarray of shape (n_edges, 2), int32
        A copy.
    n_labels : int
        Number of labels.

    Raises
    ------
    ValueError
        Naming the first edge that is wrong, or a label in a cycle.
    """
    edges = check_edges(edges, n_labels, noun="label", loops=True)
    if n_labels is None:
        n_labels = int(edges.max(initial=-1)) + 1
    child, parent = edges.T
    shape = (n_labels, n_labels)
    arcs = coo_array((np.ones(len(edges)), (child, parent)), shape=shape)
    n_parts, part = connected_components(arcs, directed=True, connection="strong")
    cyclic = np.concatenate([child[child == parent], np.flatnonzero(np.bincount(part)[part] > 1)])
    if len(cyclic):
        raise ValueError(f"label {cyclic.min()} is its own ancestor")
    return edges, n_labels
