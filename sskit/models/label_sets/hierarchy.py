"""Hierarchies of labels as models hold them."""

import numpy as np
import scipy.sparse as sp

from sskit.oracles.label_sets.functions import read_hierarchy


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
    """Return what can be reached from each node of a graph, itself included.

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
