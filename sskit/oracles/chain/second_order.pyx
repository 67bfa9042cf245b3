"""Chains of the second order: the Viterbi algorithm over pairs of labels, and what it leads to."""

import numpy as np

from sskit.oracles.gate import (
    check_allowed, check_second_order, check_switch, count_answers, padded_rows
)

from libc.math cimport INFINITY
from libcpp.vector cimport vector

from sskit.core.lanes cimport LANES, padded


def make_triple_table(triples):
    """Return the table that compiled code takes of checked potentials of triples.

    Parameters
    ----------
    triples : ndarray of shape (n_states, n_states, n_states), float64
        Potentials.

    Returns
    -------
    table : ndarray of shape (triple_room,)
        Rows with room for whole vectors, and the least and the largest number of each.
    """
    cdef Py_ssize_t n_states = triples.shape[0]
    cdef double[::1] out = np.zeros(triple_room(n_states))
    cdef const double[::1] weights = np.concatenate([np.ravel(triples), np.zeros(LANES)])
    with nogil:
        triple_table(&weights[0], n_states, &out[0])
    return np.asarray(out)


def make_triple_tables(triples):
    """Return the table of potentials of triples, and that of the same ones read backwards."""
    return make_triple_table(triples), make_triple_table(triples.transpose(2, 1, 0))


def sum_second_order(nodes, transitions, tables, bint wants_pairs, triples):
    """Sum over the labellings of a chain, whose potentials are not checked.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes, n_states)
        Potentials of the nodes.
    transitions : ndarray of shape (n_states, n_states) or (n_nodes - 1, n_states, n_states)
        Potentials of the transitions, of all or of each.
    tables : tuple of two ndarray
        From `make_triple_tables`.
    wants_pairs : bool
        Whether the probabilities of pairs are wanted.
    triples : bool or None
        Whether those of three states in a row are wanted by place, or as a sum over places; None:
        neither.

    Returns
    -------
    log_partition : float
        log Z; -inf if no labelling is possible, and then all others are arbitrary.
    marginals : ndarray of shape (n_nodes, n_states)
        Probabilities of the states.
    pairs : ndarray of shape (n_nodes - 1, n_states, n_states)
        Those of states of neighbours, or zeros.
    triples : ndarray of shape (n_nodes - 2, n_states, n_states, n_states)
        Those of three states in a row; without the first axis if it is a sum; or zeros.
    """
    cdef Py_ssize_t n_nodes = nodes.shape[0], K = nodes.shape[1], stride = padded(K), t
    cdef Py_ssize_t n_sums = max(n_nodes - 2, 0) if triples is not False else 1
    cdef Py_ssize_t step = K * K * stride if triples else 0
    cdef bint shared = transitions.ndim == 2
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] pair_rows = padded_rows(
        np.append(transitions.reshape(-1, K), np.zeros((K, K)), axis=0)  # there may be no table
    )
    cdef const double[:, ::1] turned_pairs = padded_rows(transitions.T) if shared else pair_rows
    cdef const double[::1] table = tables[0], turned_table = tables[1]
    marginals, pairs = np.empty((n_nodes, stride)), np.zeros((n_nodes - 1, K, stride))
    sums = np.zeros((n_sums, K, K, stride))
    cdef double[:, ::1] out = marginals
    cdef double[:, :, ::1] pair_view = pairs
    cdef double[:, :, :, ::1] triple_view = sums
    cdef double* pair_out = &pair_view[0, 0, 0] if wants_pairs and n_nodes > 1 else NULL
    cdef double* triple_out = NULL
    if triples is not None and n_nodes > 2:
        triple_out = &triple_view[0, 0, 0, 0]
    cdef vector[const double*] of_steps
    for t in range(0 if shared else n_nodes - 1):
        of_steps.push_back(&pair_rows[t * K, 0])
    cdef SecondSumProduct oracle
    cdef double log_partition
    with nogil:
        oracle.begin(K, &pair_rows[0, 0], &table[0], &turned_pairs[0, 0], &turned_table[0])
        log_partition = oracle.forward(
            &node_rows[0, 0], n_nodes, of_steps.data() if of_steps.size() else NULL
        )
        if log_partition > -INFINITY:
            oracle.backward(
                &node_rows[0, 0], n_nodes, &out[0, 0], pair_out, K * stride, triple_out, step
            )
    pairs, sums = pairs[..., :K], (sums[0] if triples is False else sums)[..., :K]
    return log_partition, marginals[:, :K], pairs, sums


def second_order_viterbi(nodes, transitions, triples, *, truth=None, cost=1.0):
    """Find the best labelling of a chain in which three labels in a row have a potential.

    Maximises ``sum_t nodes[t, y_t] + sum_t transitions[y_{t-1}, y_t] + sum_t triples[y_{t-2},
    y_{t-1}, y_t]``, plus, if `truth` is given, the loss ``sum_t cost_t [y_t != truth_t]``. The
    first label has no transition and the first two have no triple that leads to them. Exact;
    O(n_nodes n_states^3) at worst. Rows of triples that cannot hold the maximum are passed over,
    so that it is nearer to O(n_nodes n_states^2) where nodes and transitions say more than
    triples do.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.
    triples : array-like of shape (n_states, n_states, n_states)
        Potentials of three states in a row. ``-inf`` forbids them.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        A maximiser. Of several, the one with the smallest last state, and so on backwards.
    score : float
        The maximum.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf,
        a true state is out of range, a cost is negative or no labelling is allowed.

    References
    ----------
    He (1988). Extended Viterbi algorithm for second order hidden Markov process. International
    Conference on Pattern Recognition.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.oracles import second_order_viterbi
    >>> triples = np.zeros((2, 2, 2))
    >>> triples[0, 1, 0] = 2
    >>> nodes = [[1, 0], [0, 0.5], [1, 0]]
    >>> labels, score = second_order_viterbi(nodes, [[0, -1], [-1, 0]], triples)
    >>> labels, score
    (array([0, 1, 0], dtype=int32), 2.5)
    """
    nodes, transitions, triples, truth, cost = check_second_order(
        nodes, transitions, triples, truth, cost
    )
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] pair_rows = padded_rows(transitions)
    cdef const double[::1] table = make_triple_table(triples)
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    cdef double[::1] value = np.empty(second_order_room(n_nodes, n_states))
    labels = np.empty(n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    cdef const int32_t[::1] true_states
    cdef const double[::1] costs = cost
    cdef const int32_t* right = NULL
    cdef double score
    if truth is not None:
        true_states = truth
        right = &true_states[0]
    with nogil:
        score = second_order_labels(
            &node_rows[0, 0], &pair_rows[0, 0], &table[0], NULL, n_nodes, n_states, right,
            &costs[0], 1.0, &value[0], &out[0]
        )
    check_allowed(score > -INFINITY, n_nodes)
    return labels, score


def second_order_top_k(nodes, transitions, triples, k):
    """Find the k best labellings of a chain in which three labels in a row have a potential.

    Exact; O(n_nodes n_states^3) at worst, and O(n_nodes n_states) more for each labelling.

    Parameters
    ----------
    nodes, transitions, triples : array-like
        As of `second_order_viterbi`.
    k : int
        Number of labellings.

    Returns
    -------
    labels : ndarray of shape (m, n_nodes), int32
        The m best labellings, best first, all distinct; m is k, or the number of all allowed
        labellings if that is smaller. Of several with one score first the one with the smaller
        last state, and so on backwards.
    scores : ndarray of shape (m,)
        Their scores, never rising.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf, `k`
        is not a positive integer or no labelling is allowed.

    References
    ----------
    Jimenez and Marzal (1999). Computing the K shortest paths: a new algorithm and an
    experimental comparison. Workshop on Algorithm Engineering.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.oracles import second_order_top_k
    >>> triples = np.zeros((2, 2, 2))
    >>> triples[0, 1, 0] = 2
    >>> nodes = [[1, 0], [0, 0.5], [1, 0]]
    >>> labels, scores = second_order_top_k(nodes, [[0, -1], [-1, 0]], triples, 2)
    >>> labels
    array([[0, 1, 0],
           [0, 0, 0]], dtype=int32)
    >>> scores
    array([2.5, 2. ])
    """
    nodes, transitions, triples = check_second_order(nodes, transitions, triples)[:3]
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    k = count_answers(k, n_states, n_nodes)
    labels = np.empty((k, n_nodes), dtype=np.int32)
    scores = np.empty(k)
    cdef SecondOrderKBest best = SecondOrderKBest(n_nodes, n_states, k)
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] pair_rows = padded_rows(transitions)
    cdef const double[::1] table = make_triple_table(triples)
    cdef int32_t[:, ::1] labels_out = labels
    cdef double[::1] scores_out = scores
    cdef Py_ssize_t found
    with nogil:
        found = best.decode(
            &node_rows[0, 0], &pair_rows[0, 0], &table[0], NULL, n_nodes, &labels_out[0, 0],
            &scores_out[0]
        )
    check_allowed(found, n_nodes)
    return labels[:found].copy(), scores[:found].copy()


def second_order_max_marginals(nodes, transitions, triples):
    """Compute the max-marginals of a chain in which three labels in a row have a potential.

    The max-marginal of a node and a state is the best score of all labellings that have this
    state there. The largest of each row is the score of the best labelling. Exact up to rounding;
    O(n_nodes n_states^3) at worst.

    Parameters
    ----------
    nodes, transitions, triples : array-like
        As of `second_order_viterbi`.

    Returns
    -------
    scores : ndarray of shape (n_nodes, n_states)
        The max-marginals; ``-inf`` where no allowed labelling has that state.

    Raises
    ------
    ValueError
        If shapes do not match or a potential is NaN or +inf.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.oracles import second_order_max_marginals
    >>> triples = np.zeros((2, 2, 2))
    >>> triples[0, 1, 0] = 2
    >>> second_order_max_marginals([[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 0]], triples)
    array([[2.5, 0.5],
           [2. , 2.5],
           [2.5, 0.5]])
    """
    nodes, transitions, triples = check_second_order(nodes, transitions, triples)[:3]
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] pair_rows = padded_rows(transitions)
    cdef const double[:, ::1] reversed_pairs = padded_rows(transitions.T)
    cdef const double[::1] table = make_triple_table(triples)
    cdef const double[::1] reversed_table = make_triple_table(triples.transpose(2, 1, 0))
    cdef double[::1] scratch = np.empty(marginals_room(n_nodes, n_states))
    scores = np.empty((n_nodes, padded(n_states)))
    cdef double[:, ::1] out = scores
    with nogil:
        second_order_max_marginals_of(
            &node_rows[0, 0], &pair_rows[0, 0], &table[0], &reversed_pairs[0, 0],
            &reversed_table[0], NULL, n_nodes, n_states, &scratch[0], &out[0, 0]
        )
    return scores[:, :n_states].copy()


def second_order_marginals(
    nodes, transitions, triples, *, return_pairs=False, return_triples=False
):
    """Compute the probabilities of a chain in which three labels in a row have a potential.

    A labelling has the probability ``exp(score) / Z``; its score is that of
    `second_order_viterbi`, and Z makes the probabilities of all labellings sum to one. Exact up to
    rounding, in logarithms; O(n_nodes n_states^3) at worst. Rows of triples that add less than
    exp(-50) of a sum to it are passed over.

    Parameters
    ----------
    nodes, transitions, triples : array-like
        As of `second_order_viterbi`.
    return_pairs : bool, default=False
        Whether to return the probabilities of pairs of neighbours too.
    return_triples : bool, default=False
        Whether to return those of three states in a row too.

    Returns
    -------
    log_partition : float
        log Z.
    marginals : ndarray of shape (n_nodes, n_states)
        Probability of each state at each node.
    pairs : ndarray of shape (n_nodes - 1, n_states, n_states)
        Probability of each state at a node and each at the next one; only if `return_pairs`.
    triples : ndarray of shape (n_nodes - 2, n_states, n_states, n_states)
        Probability of each three states at a node and the next two; only if `return_triples`. Of
        a chain of one node the first length is 0.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf, or no labelling is allowed.

    See Also
    --------
    chain_marginals : Chains without potentials of three labels.
    second_order_max_marginals : The best score with each state at each node.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.oracles import second_order_marginals
    >>> triples = np.zeros((2, 2, 2))
    >>> triples[0, 1, 0] = np.log(9)
    >>> log_partition, marginals = second_order_marginals(
    ...     np.zeros((3, 2)), np.zeros((2, 2)), triples
    ... )
    >>> round(float(np.exp(log_partition)), 12)
    16.0
    >>> marginals
    array([[0.75, 0.25],
           [0.25, 0.75],
           [0.75, 0.25]])
    """
    check_switch(return_pairs, "return_pairs")
    check_switch(return_triples, "return_triples")
    nodes, transitions, triples = check_second_order(nodes, transitions, triples)[:3]
    found = sum_second_order(
        nodes, transitions, make_triple_tables(triples), return_pairs, return_triples or None
    )
    check_allowed(found[0] > -INFINITY, len(nodes))
    answer = [found[1]] + [found[2]] * return_pairs + [found[3]] * return_triples
    return found[0], *map(np.ascontiguousarray, answer)
