"""Graphs of labels: the edges of multilabel models (Chow, Liu 1968)."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from sskit.inputs.edges import check_edges
from sskit.oracles.graph.potentials import Topologies, choose
from sskit.oracles.label_sets.functions import read_hierarchy
from sskit.oracles.label_sets.sets import MAX_EXHAUSTIVE

# The rule of graphs: trying all sets of up to 14 labels takes less time than the
# relaxation, or little more where that is easy; and it is exact.
RULE = {"max_entries": 0, "max_labellings": 2**14}
# Of the pairs "auto" takes, for each label; chosen on ten data sets, see the benchmarks.
PAIRS_PER_LABEL = 10
NAMES = {"tree": "tree", "elimination": "exhaustive", "qpbo": "lp"}


def label_edges(edges, n_labels, fractions=None):
    """Return the edges of a parameter.

    Parameters
    ----------
    edges : "auto", "full", "tree", None or array-like of shape (n_edges, 2)
        The pairs of `strongest_pairs`, ten for each label; all pairs of labels; the tree of Chow
        and Liu; none; or these.
    n_labels : int
        Number of labels L.
    fractions : ndarray of shape (n_labels, n_labels), default=None
        From `label_fractions`, if `needs_fractions`.

    Returns
    -------
    ends : ndarray of shape (n_edges, 2), int32
        The smaller label of each edge first; sorted, unless they were given.

    Raises
    ------
    ValueError
        Naming the first edge that is wrong.
    """
    if edges is None:
        return np.empty((0, 2), dtype=np.int32)
    if not isinstance(edges, str):
        return given_edges(edges, n_labels)
    if not needs_fractions(edges, n_labels):
        return np.stack(np.triu_indices(n_labels, 1), axis=1).astype(np.int32)
    if edges == "tree":
        return chow_liu_tree(fractions)
    return strongest_pairs(fractions, PAIRS_PER_LABEL * n_labels)


def needs_fractions(edges, n_labels):
    """Return whether edges by name depend on which labels go together in training."""
    few = n_labels - 1 <= 2 * PAIRS_PER_LABEL  # each pair is of two labels
    return isinstance(edges, str) and (edges == "tree" or (edges == "auto" and not few))


def given_edges(edges, n_labels):
    """Return given edges as (n_edges, 2) int32, the smaller label first, checked."""
    ends = np.sort(check_edges(edges, n_labels, noun="label"), axis=1)
    first, inverse = np.unique(ends, axis=0, return_index=True, return_inverse=True)[1:]
    repeated = np.flatnonzero(first[inverse.ravel()] != np.arange(len(ends)))
    if len(repeated):
        e = repeated[0]
        raise ValueError(
            f"edges[{e}] and edges[{first[inverse.ravel()[e]]}] both join the labels "
            f"{ends[e, 0]} and {ends[e, 1]}"
        )
    return ends


def label_fractions(truths, weight):
    """Return the fraction of rows that have a pair of labels.

    Parameters
    ----------
    truths : ndarray of shape (n, n_labels), uint8
        The sets of labels.
    weight : ndarray of shape (n,)
        Weights of the rows.

    Returns
    -------
    fractions : ndarray of shape (n_labels, n_labels)
        Of the labels alone on the diagonal.
    """
    fraction = weight / weight.sum()
    # float32 counts would lose digits, and a product of integers is slow
    dense = truths.astype(np.float64)
    return (dense * fraction[:, None]).T @ dense


def chow_liu_tree(fractions):
    """Return the spanning tree of the labels with the largest mutual information.

    Parameters
    ----------
    fractions : ndarray of shape (n_labels, n_labels)
        From `label_fractions`.

    Returns
    -------
    ends : ndarray of shape (n_labels - 1, 2), int32
        The edges, sorted.

    References
    ----------
    Chow, Liu (1968). Approximating discrete probability distributions with dependence trees.
    IEEE Transactions on Information Theory 14.
    """
    information = mutual_information(fractions)
    n_labels = len(information)
    # SciPy takes zeros for missing edges, so that all numbers are made positive
    cost = information.max(initial=0.0) - information + 1.0
    # SciPy 1.11.4 to 1.16.3 take indices of 32 bits only
    a, b = np.triu_indices(n_labels, 1)
    a, b = a.astype(np.int32), b.astype(np.int32)
    tree = minimum_spanning_tree(sp.csr_array((cost[a, b], (a, b)), shape=cost.shape)).tocoo()
    ends = np.sort(np.stack([tree.row, tree.col], axis=1), axis=1)
    return np.ascontiguousarray(ends[np.lexsort(ends.T[::-1])], dtype=np.int32)


def strongest_pairs(fractions, n_edges):
    """Return the pairs of labels with the largest mutual information.

    Parameters
    ----------
    fractions : ndarray of shape (n_labels, n_labels)
        From `label_fractions`.
    n_edges : int
        How many, at most all.

    Returns
    -------
    ends : ndarray of shape (n_edges, 2), int32
        The edges, sorted; of equal ones the first.
    """
    a, b = np.triu_indices(len(fractions), 1)
    # rounding must not decide between equal pairs, such as those of labels that never occur
    information = mutual_information(fractions)[a, b].round(12)
    best = np.sort(np.argsort(-information, kind="stable")[:n_edges])
    return np.stack([a[best], b[best]], axis=1).astype(np.int32)


def mutual_information(both):
    """Return the mutual information of all pairs of labels in nats, shape (L, L), of fractions."""
    one = np.diag(both)
    total = np.zeros_like(both)
    for joint, marginal in (
        (both, np.outer(one, one)),
        (one[:, None] - both, np.outer(one, 1 - one)),
        (one - both, np.outer(1 - one, one)),
        (1 - one[:, None] - one + both, np.outer(1 - one, 1 - one)),
    ):
        seen = (joint > 1e-15) & (marginal > 0)
        total[seen] += joint[seen] * np.log(joint[seen] / marginal[seen])
    return total


def label_graph(ends, n_labels):
    """Return the graph of these pairs, as the rule of choice takes it."""
    return Topologies([n_labels], ends, [0, len(ends)])


def choose_inference(inference, ends, n_labels):
    """Return the name of an oracle that supports these pairs, or raise ValueError."""
    graph = label_graph(ends, n_labels)
    if inference == "auto":
        return NAMES[choose(2, graph, **RULE)] if len(ends) else "independent"
    if inference == "tree" and not graph.is_forest(0):
        raise ValueError(
            "inference='tree' needs edges without a cycle; use edges='tree', or inference='lp'"
        )
    if inference == "exhaustive" and n_labels > MAX_EXHAUSTIVE:
        raise ValueError(
            f"inference='exhaustive' tries all sets of at most {MAX_EXHAUSTIVE} labels, but y has "
            f"{n_labels}; use 'lp'"
        )
    return inference if len(ends) else "independent"


class Hierarchy:
    """A partial order of labels, by a forest or by a graph without cycles.

    Parameters
    ----------
    hierarchy : array-like of shape (n_labels,) or (n_edges, 2), or None
        The parent of each label, -1 if it has none; or edges (child, parent); or no edges.
    n_labels : int
        Number of labels L.

    Attributes
    ----------
    edges : ndarray of shape (n_edges, 2), int32
        Pairs (child, parent), sorted, each once.
    parents : ndarray of shape (n_labels,), int32, or None
        -1 where there is none; None if a label has more than one parent.
    ancestors, descendants : CSR array of shape (n_labels, n_labels)
        1.0 in row l at the ancestors, or descendants, of label l and at l itself.

    Raises
    ------
    ValueError
        Naming the label or the edge that is wrong, or a label on a cycle.
    """

    def __init__(self, hierarchy, n_labels):
        self.edges, self.parents = read_hierarchy(hierarchy, n_labels, "y")
        child, parent = self.edges.T
        graph = sp.csr_array((np.ones(len(child)), (child, parent)), shape=(n_labels, n_labels))
        self.ancestors = reachable(graph)
        self.descendants = self.ancestors.T.tocsr()

    def closed(self, sets):
        """Return sets of labels with all ancestors.

        Parameters
        ----------
        sets : ndarray of shape (n, n_labels), uint8
            0 or 1.

        Returns
        -------
        closed : ndarray of shape (n, n_labels), uint8
            0 or 1; of its own.
        """
        n_below = sets.astype(np.float64) @ self.ancestors
        return np.ascontiguousarray(n_below > 0, dtype=np.uint8)


def reachable(graph):
    """Return the nodes that can be reached from each node of a graph, itself included.

    Parameters
    ----------
    graph : CSR array of shape (n, n)
        The edges.

    Returns
    -------
    reach : CSR array of shape (n, n)
        1.0 where a way leads, and on the diagonal.
    """
    reach, n_entries = sp.csr_array(sp.eye_array(graph.shape[0], format="csr") + graph), -1
    # the length of the ways doubles each time
    while reach.nnz != n_entries:
        n_entries = reach.nnz
        reach = sp.csr_array(reach @ reach)
        reach.data[:] = 1.0
    return reach
