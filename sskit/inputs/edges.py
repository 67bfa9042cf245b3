"""Edges as users give them: pairs of nodes, or of labels."""

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
        What error messages say after the word "edges".
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
