"""Graph cuts on users' arrays."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.oracles.graph.cut cimport Cut, leave_cut, take_cut
from sskit.oracles.graph.potentials cimport GraphPotentials, check_capacities, labelling_score


def graphcut(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0):
    """Find the best labelling of a graph with two states by a minimum cut.

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. Exact, for any graph
    whose edges score equal states at least as high, in sum, as different ones:
    ``pairwise[e, 0, 0] + pairwise[e, 1, 1] >= pairwise[e, 0, 1] + pairwise[e, 1, 0]``.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, 2)
        Potentials of the nodes, finite.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge. Edges between the same two nodes add up. None means no edges.
    pairwise : array-like, (n_edges,), (2, 2) or (n_edges, 2, 2), default=None
        Potentials of the edges, finite: for each edge a number that counts where its two states
        agree (Potts), or tables from the state of its first node to that of the second; one
        table serves all edges.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        A maximiser, the one with the fewest ones.
    score : float
        The maximum.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not finite, there are not two states, an edge has a
        node that does not exist or joins a node to itself, a cut cannot represent an edge (it
        is named), a true state is out of range or a cost is negative.

    See Also
    --------
    expansion : More than two states.

    References
    ----------
    Kolmogorov and Zabih (2004). What energy functions can be minimized via graph cuts? IEEE
    Transactions on Pattern Analysis and Machine Intelligence 26(2).

    Boykov and Kolmogorov (2004). An experimental comparison of min-cut/max-flow algorithms for
    energy minimization in vision. Same journal, 26(9).

    Examples
    --------
    >>> from sskit.oracles import graphcut
    >>> path = [[0, 1], [1, 2]]
    >>> graphcut([[0, 2], [0.5, 0], [0, 1]], path, [1, 1])
    (array([1, 1, 1], dtype=int32), 5.0)
    """
    cdef GraphPotentials potentials = two_states(nodes, edges, pairwise, truth, cost)
    cdef Cut cut = take_cut()
    labels = np.empty(potentials.struct_.n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    with nogil:
        cut.improve(&potentials.struct_, &out[0])
    leave_cut(cut)
    return labels, labelling_score(&potentials.struct_, &out[0])


def graph_max_marginals(nodes, edges=None, pairwise=None):
    """Compute the max-marginals of a graph with two states by minimum cuts.

    The max-marginal of a node and a state is the best score of all labellings that have this
    state there; the score of a labelling is ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u,
    y_v]``. Exact up to rounding. One cut, and one more for each node, which starts from the flow
    of the one before.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, 2)
        Potentials of the nodes, finite.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge; None means no edges.
    pairwise : array-like, (n_edges,), (2, 2) or (n_edges, 2, 2), default=None
        Potentials of the edges, as `graphcut` takes them.

    Returns
    -------
    scores : ndarray of shape (n_nodes, 2)
        The max-marginals; the larger one of each row is the score of the best labelling.

    Raises
    ------
    ValueError
        As `graphcut`.

    References
    ----------
    Kohli and Torr (2008). Measuring uncertainty in graph cut solutions. Computer Vision and
    Image Understanding 112.

    Examples
    --------
    >>> from sskit.oracles import graph_max_marginals
    >>> graph_max_marginals([[0, 2], [0.5, 0], [0, 1]], [[0, 1], [1, 2]], [1, 1])
    array([[2.5, 5. ],
           [3.5, 5. ],
           [3.5, 5. ]])
    """
    cdef GraphPotentials potentials = two_states(nodes, edges, pairwise)
    cdef Cut cut = Cut()
    cdef int32_t[::1] labels = np.empty(potentials.struct_.n_nodes, dtype=np.int32)
    scores = np.empty((potentials.struct_.n_nodes, 2))
    cdef double[:, ::1] out = scores
    cut.improve(&potentials.struct_, &labels[0])
    out[:, :] = labelling_score(&potentials.struct_, &labels[0])
    cut.marginals(out)
    return scores


cdef GraphPotentials two_states(nodes, edges, pairwise, truth=None, cost=1.0):
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, truth, cost)
    if potentials.struct_.n_states != 2:
        raise ValueError(
            f"nodes must have 2 columns, one for each state, got {potentials.struct_.n_states}; "
            "for more states see expansion"
        )
    check_capacities(&potentials.struct_)
    return potentials
