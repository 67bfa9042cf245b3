"""Oracles of sets of labels, as functions of arrays."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sskit._types import ArrayLike
from sskit.inputs.edges import check_edges, check_parents
from sskit.oracles.label_sets.sets import DagClosure, RoofDuality, TreeSets, find_label_set
from sskit.oracles.validation import check_numbers


def check_dag(edges, n_labels):
    """Return edges (child, parent) of a directed acyclic graph as int32, checked.

    Raises
    ------
    ValueError
        Naming the first edge that is wrong, or a label in a cycle.
    """
    edges = check_edges(edges, n_labels, noun="label", loops=True)
    child, parent = edges.T
    arcs = coo_array((np.ones(len(edges)), (child, parent)), shape=(n_labels, n_labels))
    part = connected_components(arcs, directed=True, connection="strong")[1]
    cyclic = np.concatenate([child[child == parent], np.flatnonzero(np.bincount(part)[part] > 1)])
    if len(cyclic):
        raise ValueError(f"label {cyclic.min()} is its own ancestor")
    return edges


def read_hierarchy(hierarchy, n_labels, what):
    """Return the edges of a hierarchy of labels, and the parents if no label has several.

    Parameters
    ----------
    hierarchy : array-like of shape (n_labels,) or (n_edges, 2), or None
        The parent of each label, -1 if it has none; or edges (child, parent); or no edges.
    n_labels : int
        Number of labels L.
    what : str
        What has so many labels, for error messages.

    Returns
    -------
    edges : ndarray of shape (n_edges, 2), int32
        Pairs (child, parent), sorted, each once.
    parents : ndarray of shape (n_labels,), int32, or None
        -1 where there is none; None if a label has more than one parent.

    Raises
    ------
    ValueError
        Naming the label or the edge that is wrong, or a label on a cycle.
    """
    try:
        array = np.asarray([] if hierarchy is None else hierarchy)
    except ValueError:
        array = np.empty((0, 0, 0))
    if array.ndim not in (1, 2):
        raise ValueError(
            f"hierarchy must have the shape ({n_labels},), the parents of the labels, or "
            "(n_edges, 2), pairs (child, parent)"
        )
    of_parents = array.ndim == 1 and array.size > 0
    if of_parents and len(array) != n_labels:
        raise ValueError(
            f"hierarchy has the parents of {len(array)} labels, but {what} has {n_labels} labels"
        )
    try:
        if of_parents:
            parents = check_parents(array, "parents", noun="label")
            child = np.flatnonzero(parents >= 0)
            array = np.stack([child, parents[child]], axis=1)
        edges = np.unique(check_dag(array, n_labels), axis=0)
    except ValueError as error:
        raise ValueError(f"hierarchy: {error}") from None
    child, parent = edges.T
    parents = None
    if len(np.unique(child)) == len(child):
        parents = np.full(n_labels, -1, dtype=np.int32)
        parents[child] = parent
    return edges, parents


def closed_sets(edges, parents):
    """Return an oracle of the sets that hold all ancestors, of what `read_hierarchy` returned."""
    return DagClosure(edges) if parents is None else TreeSets(parents)


def closure(gains: ArrayLike, hierarchy: ArrayLike) -> tuple[np.ndarray, float]:
    """Find the best set of labels that contains, with each label, all its ancestors.

    Maximises ``sum_l gains[l] y_l`` over ``y_l in {0, 1}`` with ``y_child <= y_parent``. Exact: by
    a dynamic programme in O(n_labels) on trees, by one minimum cut on directed acyclic graphs.

    Parameters
    ----------
    gains : array-like of shape (n_labels,)
        Scores of the labels, finite.
    hierarchy : array-like of int, (n_labels,) or (n_edges, 2)
        The parent of each label, -1 for a root; or child and parent of each edge of a directed
        acyclic graph.

    Returns
    -------
    labels : ndarray of shape (n_labels,), int32
        1 for each label of the best set, else 0. Of several best sets the smallest.
    value : float
        The maximum, at least 0, the score of the empty set.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, a parent is not a label or labels are their
        own ancestors (the error names one).

    References
    ----------
    Cai and Hofmann (2004). Hierarchical document categorization with support vector machines.
    CIKM.

    Picard (1976). Maximal closure of a graph and applications to combinatorial problems.
    Management Science 22(11).

    Examples
    --------
    >>> from sskit.oracles import closure
    >>> closure([-1, 3, -1, 0.5], [-1, 0, 0, 2])
    (array([1, 1, 0, 0], dtype=int32), 2.0)
    >>> closure([-1, 3, -1, 0.5], [[1, 0], [1, 2], [3, 2]])
    (array([1, 1, 1, 1], dtype=int32), 1.5)
    """
    gains = check_numbers(gains, "gains", "(n_labels,)")
    oracle = closed_sets(*read_hierarchy(hierarchy, len(gains), "gains"))
    none = np.zeros((0, 2), dtype=np.int32), np.zeros(0)
    labels = find_label_set(oracle, gains, *none)[0].astype(np.int32)
    with np.errstate(over="ignore"):
        return labels, float(gains @ labels)


def lp_relaxation(
    gains: ArrayLike, edges: ArrayLike | None = None, pairwise: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Find the best fractional set of labels: the LP relaxation of a binary pairwise model.

    Maximises ``sum_l gains[l] y_l + sum_e pairwise[e] z_e`` over the local polytope, which for
    ``(k, l) = edges[e]`` is

        ``0 <= y <= 1`` and ``max(0, y_k + y_l - 1) <= z_e <= min(y_k, y_l)``.

    Its integer points are the sets of labels, with ``z_e = y_k y_l``. There is always a maximiser
    with all ``y_l`` in {0, 1/2, 1}, and some best set has all labels that are 1 in it, and none
    that is 0 (persistency). Without negative pairs the maximiser is integer. It is found by one
    minimum cut on a graph with two nodes a label (roof duality).

    Parameters
    ----------
    gains : array-like of shape (n_labels,)
        Scores of the labels, finite.
    edges : array-like of int of shape (n_edges, 2), default=None
        Pairs of different labels. None means no edges.
    pairwise : array-like of shape (n_edges,), default=None
        Scores of pairs, of any sign, finite.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
        y of a maximiser, in {0, 1/2, 1}.
    pairs : ndarray of shape (n_edges,)
        Its z.
    value : float
        The maximum; no set of labels scores more.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, or an edge has a label that does not exist
        or joins a label to itself.

    References
    ----------
    Boros and Hammer (2002). Pseudo-Boolean optimization. Discrete Applied Mathematics 123.

    Kolmogorov and Rother (2007). Minimizing nonsubmodular functions with graph cuts: a review.
    IEEE Transactions on Pattern Analysis and Machine Intelligence 29(7).

    Finley and Joachims (2008). Training structural SVMs when exact inference is intractable.
    ICML.

    Examples
    --------
    >>> from sskit.oracles import lp_relaxation
    >>> triangle = [[0, 1], [1, 2], [2, 0]]
    >>> lp_relaxation([1, 1, 1], triangle, [-2, -2, -2])
    (array([0.5, 0.5, 0.5]), array([0., 0., 0.]), 1.5)
    """
    gains = check_numbers(gains, "gains", "(n_labels,)")
    if (edges is None) != (pairwise is None):
        missing = "edges" if edges is None else "pairwise"
        raise ValueError(f"edges and pairwise go together, but {missing} is None")
    edges = check_edges([] if edges is None else edges, len(gains), noun="label")
    pairwise = check_numbers([] if pairwise is None else pairwise, "pairwise", "(n_edges,)")
    if len(pairwise) != len(edges):
        raise ValueError(f"pairwise has {len(pairwise)} numbers for {len(edges)} edges")
    labels, pairs = find_label_set(RoofDuality(), gains, edges, pairwise)
    with np.errstate(over="ignore", invalid="ignore"):
        return labels, pairs, float(gains @ labels + pairwise @ pairs)
