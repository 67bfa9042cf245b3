"""Max-sum and sum-product on trees and forests: graphs without cycles."""

import numpy as np

from sskit._numbers import check_bool
from sskit.oracles.validation import check_allowed, count_answers

from libc.math cimport INFINITY

from sskit.core.lanes cimport padded
from sskit.oracles.graph.potentials cimport GraphPotentials


cdef class TreeOracle(GraphOracle):
    """Max-sum on forests; its memory grows with the graphs."""

    def __cinit__(self):
        self.exact = self.lock_free = True

    cdef int arrange(self, Topology* topology, Py_ssize_t n_states) except -1 nogil:
        topology.make_forest()
        return 0

    cdef TreeProgramme* of(self, const Potentials* p) except NULL nogil:
        self.programme.begin(p[0], self.topology_of(p))
        return &self.programme

    cdef int improve(self, const Potentials* p, int32_t* labels, float* messages) except -1 nogil:
        self.of(p).label(labels)
        return 0


def tree_max_sum(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0):
    """Find the best labelling of a tree, or of several trees.

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. Exact;
    O(n_nodes n_states^2).

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge; they form a forest. None means no edges.
    pairwise : array-like, (n_edges,), (n_states, n_states) or (n_edges, n_states, n_states), \
default=None
        Potentials of the edges: for each edge a number that counts if its two states agree
        (Potts), or tables from the state of its first node to that of the second; a single table
        is for all edges. ``-inf`` forbids a pair.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        A maximiser. Of several, the one with the smallest state at the first node of each tree,
        and so on along its edges.
    score : float
        The maximum.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf, an edge has a node that does not exist
        or joins a node to itself, edges form a cycle (the error names one that closes it), a true
        state is out of range, a cost is negative or no labelling is allowed.

    See Also
    --------
    viterbi : Chains.
    graphcut : Any graph with two states.

    References
    ----------
    Pearl (1988). Probabilistic reasoning in intelligent systems, section 5.3. Morgan Kaufmann.

    Examples
    --------
    >>> from sskit.oracles import tree_max_sum
    >>> star = [[0, 1], [0, 2], [0, 3]]
    >>> tree_max_sum([[0, 0], [3, 0], [0, 1], [0, 1]], star, [1, 1, 1])
    (array([1, 0, 1, 1], dtype=int32), 7.0)
    """
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, truth, cost, True)
    labels, score = potentials.labelled(TreeOracle())
    check_allowed(score > -INFINITY, len(labels))
    return labels, score


def tree_max_marginals(nodes, edges=None, pairwise=None):
    """Compute the max-marginals of a tree, or of several trees.

    The max-marginal of a node and a state is the best score of all labellings with this state at
    this node; the score of a labelling is ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]``.
    The largest of each row is the score of the best labelling. Exact up to rounding; O(n_nodes
    n_states^2).

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge; they form a forest. None means no edges.
    pairwise : array-like, (n_edges,), (n_states, n_states) or (n_edges, n_states, n_states), \
default=None
        Potentials of the edges, as `tree_max_sum` takes them.

    Returns
    -------
    scores : ndarray of shape (n_nodes, n_states)
        The max-marginals; ``-inf`` if no allowed labelling has that state.

    Raises
    ------
    ValueError
        As `tree_max_sum`, except if no labelling is allowed.

    References
    ----------
    Wainwright, Jaakkola and Willsky (2004). Tree consistency and bounds on the performance of
    the max-product algorithm and its generalizations. Statistics and Computing 14.

    Examples
    --------
    >>> from sskit.oracles import tree_max_marginals
    >>> star = [[0, 1], [0, 2], [0, 3]]
    >>> tree_max_marginals([[0, 0], [3, 0], [0, 1], [0, 1]], star, [1, 1, 1])
    array([[6., 7.],
           [7., 5.],
           [6., 7.],
           [6., 7.]])
    """
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, forbids=True)
    cdef TreeOracle oracle = TreeOracle()
    scores = np.empty((potentials.struct_.n_nodes, potentials.struct_.n_states))
    cdef double[:, ::1] out = scores
    with nogil:
        oracle.of(&potentials.struct_).max_marginals(&out[0, 0])
    return scores


def tree_marginals(nodes, edges=None, pairwise=None, *, return_pairs=False):
    """Compute the marginal probabilities of a tree, or of several trees.

    A labelling has the probability ``exp(score) / Z``; its score is ``sum_v nodes[v, y_v] +
    sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``, and Z makes the probabilities of all
    labellings sum to one. Exact up to rounding; O(n_nodes n_states^2).

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge; they form a forest. None means no edges.
    pairwise : array-like, (n_edges,), (n_states, n_states) or (n_edges, n_states, n_states), \
default=None
        Potentials of the edges, as `tree_max_sum` takes them.
    return_pairs : bool, default=False
        Whether to return the probabilities of the states of the ends of edges too.

    Returns
    -------
    log_partition : float
        log Z.
    marginals : ndarray of shape (n_nodes, n_states)
        Probability of each state at each node. Below 1e-200 it may be zero.
    pairs : ndarray of shape (n_edges, n_states, n_states)
        Probability of each state at the first node of an edge and each at the second; only if
        `return_pairs`.

    Raises
    ------
    ValueError
        As `tree_max_sum`.

    See Also
    --------
    chain_marginals : Chains.
    tree_max_marginals : The best score with each state at each node.

    References
    ----------
    Pearl (1988). Probabilistic reasoning in intelligent systems, section 4.2. Morgan Kaufmann.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.oracles import tree_marginals
    >>> star = [[0, 1], [0, 2], [0, 3]]
    >>> log_partition, marginals = tree_marginals(np.zeros((4, 2)), star, np.log([3, 1, 1]))
    >>> round(float(np.exp(log_partition)), 12)
    32.0
    >>> marginals[1]
    array([0.5, 0.5])
    """
    check_bool(return_pairs, "return_pairs")
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, forbids=True)
    cdef TreeOracle oracle = TreeOracle()
    cdef Py_ssize_t n_nodes = potentials.struct_.n_nodes, n_states = potentials.struct_.n_states
    cdef Py_ssize_t n_edges = potentials.struct_.n_edges, stride = padded(n_states)
    cdef double[:, ::1] out = np.empty((n_nodes, stride))
    cdef double[:, :, ::1] pairs = np.zeros((n_edges + 1, n_states, stride))
    cdef bint with_pairs = return_pairs
    cdef double log_partition
    with nogil:
        log_partition = oracle.of(&potentials.struct_).infer(
            &out[0, 0], &pairs[0, 0, 0] if with_pairs else NULL
        )
    check_allowed(log_partition > -INFINITY, n_nodes)
    marginals = np.array(out[:, :n_states])
    if not return_pairs:
        return log_partition, marginals
    return log_partition, marginals, np.array(pairs[:n_edges, :, :n_states])


def tree_top_k(nodes, edges=None, pairwise=None, *, k):
    """Find the k best labellings of a tree, or of several trees.

    The score of a labelling is ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u,
    v) = edges[e]``. Exact; O(n_nodes n_states (n_states + k)) at most.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge; they form a forest. None means no edges.
    pairwise : array-like, (n_edges,), (n_states, n_states) or (n_edges, n_states, n_states), \
default=None
        Potentials of the edges, as `tree_max_sum` takes them.
    k : int
        Number of labellings.

    Returns
    -------
    labels : ndarray of shape (m, n_nodes), int32
        The m best labellings, best first, all distinct; m is k, or the number of all allowed
        labellings if that is smaller.
    scores : ndarray of shape (m,)
        Their scores, never rising.

    Raises
    ------
    ValueError
        As `tree_max_sum`, and if `k` is not a positive integer.

    See Also
    --------
    viterbi_top_k : Chains.

    References
    ----------
    Huang and Chiang (2005). Better k-best parsing. Workshop on Parsing Technologies.

    Examples
    --------
    >>> from sskit.oracles import tree_top_k
    >>> star = [[0, 1], [0, 2], [0, 3]]
    >>> labels, scores = tree_top_k([[0, 0], [3, 0], [0, 1], [0, 1]], star, [1, 1, 1], k=3)
    >>> labels
    array([[1, 0, 1, 1],
           [0, 0, 0, 0],
           [0, 0, 1, 0]], dtype=int32)
    >>> scores
    array([7., 6., 6.])
    """
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, forbids=True)
    cdef Py_ssize_t n_nodes = potentials.struct_.n_nodes
    k = count_answers(k, potentials.struct_.n_states, n_nodes)
    labels = np.empty((k, n_nodes), dtype=np.int32)
    scores = np.empty(k)
    cdef int32_t[:, ::1] labels_out = labels
    cdef double[::1] scores_out = scores
    cdef TreeOracle oracle = TreeOracle()
    n_labellings = oracle.of(&potentials.struct_).k_best(k, &labels_out[0, 0], &scores_out[0])
    check_allowed(n_labellings, n_nodes)
    return labels[:n_labellings].copy(), scores[:n_labellings].copy()
