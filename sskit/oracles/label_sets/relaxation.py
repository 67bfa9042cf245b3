"""The LP relaxation of binary pairwise models on users' arrays."""

import numpy as np

from sskit.inputs.edges import check_edges
from sskit.oracles.gate import check_numbers
from sskit.oracles.label_sets.exact import RoofDuality
from sskit.oracles.label_sets.oracle import find_label_set


def lp_relaxation(gains, edges=None, pairwise=None):
    """Find the best fractional set of labels: the LP relaxation of a binary pairwise model.

    Maximises ``sum_l gains[l] y_l + sum_e pairwise[e] z_e`` over the local polytope, which for
    ``(k, l) = edges[e]`` is

        ``0 <= y <= 1`` and ``max(0, y_k + y_l - 1) <= z_e <= min(y_k, y_l)``.

    Its whole points are the sets of labels, with ``z_e = y_k y_l``. There is always a maximiser
    with all ``y_l`` in {0, 1/2, 1}, and some best set has all labels that are 1 there, and none
    that is 0 (persistency). Without negative pairs the maximiser is whole. It is found by one
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
    gains, edges, pairwise = _check(gains, edges, pairwise)
    labels, pairs = find_label_set(RoofDuality(), gains, edges, pairwise)
    with np.errstate(over="ignore", invalid="ignore"):
        return labels, pairs, float(gains @ labels + pairwise @ pairs)


def _check(gains, edges, pairwise):
    """Return the three as contiguous float64, int32 and float64 arrays, checked."""
    gains = check_numbers(gains, "gains", "(n_labels,)")
    if (edges is None) != (pairwise is None):
        missing = "edges" if edges is None else "pairwise"
        raise ValueError(f"edges and pairwise go together, but {missing} is None")
    if edges is None:
        return gains, np.zeros((0, 2), dtype=np.int32), np.zeros(0)
    edges = check_edges(edges, len(gains), noun="label")
    pairwise = check_numbers(pairwise, "pairwise", "(n_edges,)")
    if len(pairwise) != len(edges):
        raise ValueError(f"pairwise has {len(pairwise)} numbers for {len(edges)} edges")
    return gains, edges, pairwise
