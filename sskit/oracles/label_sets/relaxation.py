"""The LP relaxation of binary pairwise models on users' arrays."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sskit.inputs.edges import check_edges
from sskit.oracles.gate import check_numbers
from sskit.oracles.label_sets.oracle import find_label_set
from sskit.oracles.label_sets.roof_duality import RoofDuality


def lp_relaxation(gains, edges=None, pairwise=None, *, method="roof"):
    """Find the best fractional set of labels: the LP relaxation of a binary pairwise model.

    Maximises ``sum_l gains[l] y_l + sum_e pairwise[e] z_e`` over the local polytope, which for
    ``(k, l) = edges[e]`` is

        ``0 <= y <= 1`` and ``max(0, y_k + y_l - 1) <= z_e <= min(y_k, y_l)``.

    Its whole points are the sets of labels, with ``z_e = y_k y_l``. There is always a maximiser
    with all ``y_l`` in {0, 1/2, 1}, and some best set has all labels that are 1 there, and none
    that is 0 (persistency). Without negative pairs the maximiser is whole.

    Parameters
    ----------
    gains : array-like of shape (n_labels,)
        Scores of the labels, finite.
    edges : array-like of int of shape (n_edges, 2), default=None
        Pairs of different labels. None means no edges.
    pairwise : array-like of shape (n_edges,), default=None
        Scores of pairs, of any sign, finite.
    method : {"roof", "highs"}, default="roof"
        "roof" solves the problem by one minimum cut on a graph with two nodes a label (roof
        duality) and finds labels in {0, 1/2, 1}; "highs" is the linear programming solver of
        SciPy, a slower reference.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
        y of a maximiser.
    pairs : ndarray of shape (n_edges,)
        Its z.
    value : float
        The maximum; no set of labels scores more.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, an edge has a label that does not exist
        or joins a label to itself, or there is no such method.

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
    if not isinstance(method, str) or method not in ("roof", "highs"):
        raise ValueError(f"method must be 'roof' or 'highs', got {method!r}")
    gains, edges, pairwise = _check(gains, edges, pairwise)
    if method == "roof":
        labels, pairs = find_label_set(RoofDuality(), gains, edges, pairwise)
    else:
        labels, pairs = _highs(gains, edges, pairwise)
    with np.errstate(over="ignore", invalid="ignore"):
        return labels, pairs, float(gains @ labels + pairwise @ pairs)


def local_polytope(n_labels, edges):
    """Return A (CSR) and b such that A (y, z) <= b for the inequalities with more than one term.

    Parameters
    ----------
    n_labels : int
        Number of labels.
    edges : ndarray of int of shape (n_edges, 2)
        Pairs of labels.

    Returns
    -------
    A : csr_array of shape (3 n_edges, n_labels + n_edges)
        Rows z_e - y_k, then z_e - y_l, then y_k + y_l - z_e.
    b : ndarray of shape (3 n_edges,)
        Zeros, zeros, ones.
    """
    n_edges = len(edges)
    pair = n_labels + np.arange(n_edges)
    columns = np.concatenate(
        [
            np.column_stack([edges[:, 0], pair]).ravel(),
            np.column_stack([edges[:, 1], pair]).ravel(),
            np.column_stack([edges, pair]).ravel(),
        ]
    )
    values = np.concatenate([np.tile([-1.0, 1.0], 2 * n_edges), np.tile([1.0, 1.0, -1.0], n_edges)])
    starts = np.concatenate(
        [np.arange(0, 4 * n_edges, 2), 4 * n_edges + np.arange(0, 3 * n_edges + 1, 3)]
    )
    A = csr_array((values, columns, starts), shape=(3 * n_edges, n_labels + n_edges))
    return A, np.repeat([0.0, 0.0, 1.0], n_edges)


def _highs(gains, edges, pairwise):
    """Return labels and pairs of a vertex of the local polytope."""
    n_labels = len(gains)
    if n_labels == 0:
        return np.zeros(0), np.zeros(0)
    A, b = local_polytope(n_labels, edges)
    gain = np.concatenate([gains, pairwise])
    result = linprog(-gain, A, b, bounds=(0, 1), method="highs")
    return result.x[:n_labels], result.x[n_labels:]


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
