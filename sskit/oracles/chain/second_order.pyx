"""The Viterbi algorithm for chains of the second order: exact, over pairs of labels."""

import numpy as np

from sskit.oracles.gate import check_second_order, padded_rows

from libc.math cimport INFINITY

from sskit.core.lanes cimport LANES, padded

cdef extern from "second_order.hpp":
    void clone_table "sskit::triple_table"(
        const double* weights, Py_ssize_t n_states, double* out
    ) noexcept nogil
    void clone_step "sskit::second_order_step"(
        const double* value, const double* triples, Py_ssize_t n_states, const double* pairs,
        const double* node, double* floor, double* out
    ) noexcept nogil


cdef Py_ssize_t triple_room(Py_ssize_t n_states) noexcept nogil:
    return (n_states + 2) * n_states * padded(n_states)


cdef void triple_table(const double* weights, Py_ssize_t n_states, double* out) noexcept nogil:
    clone_table(weights, n_states, out)


cdef void second_order_step(
    const double* value, const double* triples, Py_ssize_t n_states, const double* pairs,
    const double* node, double* floor, double* out
) noexcept nogil:
    clone_step(value, triples, n_states, pairs, node, floor, out)


cdef Py_ssize_t second_order_room(Py_ssize_t n_nodes, Py_ssize_t n_states) noexcept nogil:
    return (max(n_nodes - 1, 1) * n_states + 1) * padded(n_states)


cdef double second_order_values(
    const double* node, const double* pairs, const double* triples, Py_ssize_t n_nodes,
    Py_ssize_t n_states, const int32_t* truth, const double* cost, double loss_weight,
    double* value
) noexcept nogil:
    cdef Py_ssize_t stride = padded(n_states), size = n_states * stride, t, a, b
    cdef double* floor = value + (n_nodes - 1) * size
    cdef double* here = value
    cdef double offset = 0.0
    for a in range(n_states):
        for b in range(stride):
            here[a * stride + b] = node[a] + (pairs[a * stride + b] + node[stride + b])
    if truth != NULL:
        # a loss on all states but one is, up to a constant, a bonus taken from that one
        for b in range(n_states):
            here[truth[0] * stride + b] -= loss_weight * cost[0]
        offset = loss_weight * cost[0]
    for t in range(1, n_nodes):
        here = value + (t - 1) * size
        if t > 1:
            second_order_step(
                here - size, triples, n_states, pairs, node + t * stride, floor, here
            )
        if truth != NULL:
            for a in range(n_states):
                here[a * stride + truth[t]] -= loss_weight * cost[t]
            offset += loss_weight * cost[t]
    return offset


cdef double second_order_labels(
    const double* node, const double* pairs, const double* triples, Py_ssize_t n_nodes,
    Py_ssize_t n_states, const int32_t* truth, const double* cost, double loss_weight,
    double* value, int32_t* labels
) noexcept nogil:
    cdef Py_ssize_t stride = padded(n_states), size = n_states * stride, t, a, b, c
    cdef double candidate, total, best = -INFINITY
    cdef const double* here
    labels[0] = 0
    if n_nodes == 1:
        for a in range(n_states):
            candidate = node[a]
            if truth != NULL and a != truth[0]:
                candidate += loss_weight * cost[0]
            if candidate > best:
                best = candidate
                labels[0] = <int32_t>a
        return best
    cdef double offset = second_order_values(
        node, pairs, triples, n_nodes, n_states, truth, cost, loss_weight, value
    )
    here = value + (n_nodes - 2) * size
    labels[n_nodes - 2], labels[n_nodes - 1] = 0, 0
    for c in range(n_states):
        for b in range(n_states):
            if here[b * stride + c] > best:
                best = here[b * stride + c]
                labels[n_nodes - 2], labels[n_nodes - 1] = <int32_t>b, <int32_t>c
    total = best + offset
    # back pointers are needed along the best path only, so they are found here
    for t in range(n_nodes - 3, -1, -1):
        here = value + t * size
        b, c = labels[t + 1], labels[t + 2]
        best = -INFINITY
        labels[t] = 0
        for a in range(n_states):
            candidate = here[a * stride + b] + triples[a * size + b * stride + c]
            if candidate > best:
                best = candidate
                labels[t] = <int32_t>a
    return total


cdef double second_order_score(
    const double* node, const double* pairs, const double* triples, Py_ssize_t n_nodes,
    Py_ssize_t n_states, const int32_t* labels
) noexcept nogil:
    cdef Py_ssize_t stride = padded(n_states), t
    cdef double score = node[labels[0]]
    for t in range(1, n_nodes):
        score += node[t * stride + labels[t]]
        score += pairs[labels[t - 1] * stride + labels[t]]
        if t > 1:
            score += triples[
                (labels[t - 2] * n_states + labels[t - 1]) * stride + labels[t]
            ]
    return score


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
    cdef const double[::1] costs
    cdef double score
    if truth is None:
        with nogil:
            score = second_order_labels(
                &node_rows[0, 0], &pair_rows[0, 0], &table[0], n_nodes, n_states, NULL, NULL, 0.0,
                &value[0], &out[0]
            )
    else:
        true_states, costs = truth, cost
        with nogil:
            score = second_order_labels(
                &node_rows[0, 0], &pair_rows[0, 0], &table[0], n_nodes, n_states, &true_states[0],
                &costs[0], 1.0, &value[0], &out[0]
            )
    if score == -INFINITY:
        raise ValueError(f"no labelling of {n_nodes} nodes is allowed by the potentials")
    return labels, score
