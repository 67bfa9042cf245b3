"""The Viterbi algorithm: exact maximisation over label sequences (Viterbi 1967)."""

import numpy as np

from sskit.oracles.gate import check_chain, padded_rows

from libc.string cimport memcpy

from sskit.core.lanes cimport padded

cdef extern from "viterbi.hpp":
    void clone_viterbi_step "sskit::viterbi_step"(
        const double* value, const double* transition, Py_ssize_t n_states, const double* node,
        double* out
    ) noexcept nogil


cdef void viterbi_step(
    const double* value, const double* transition, Py_ssize_t n_states, const double* node,
    double* out
) noexcept nogil:
    clone_viterbi_step(value, transition, n_states, node, out)


cdef double viterbi_labels(
    const double* node, const double* transition, Py_ssize_t n_nodes, Py_ssize_t n_states,
    const int32_t* truth, const double* cost, double loss_weight, double* value, int32_t* labels
) noexcept nogil:
    cdef Py_ssize_t stride = padded(n_states)
    cdef Py_ssize_t t, a, best_state
    cdef double best, candidate, offset = 0.0
    memcpy(value, node, stride * sizeof(double))
    for t in range(n_nodes):
        if t > 0:
            viterbi_step(
                value + (t - 1) * stride, transition, n_states, node + t * stride,
                value + t * stride
            )
        if truth != NULL:
            # a loss on all states but one is, up to a constant, a bonus taken from that one
            value[t * stride + truth[t]] -= loss_weight * cost[t]
            offset += loss_weight * cost[t]

    best_state = 0
    best = value[(n_nodes - 1) * stride]
    for a in range(1, n_states):
        if value[(n_nodes - 1) * stride + a] > best:
            best = value[(n_nodes - 1) * stride + a]
            best_state = a
    labels[n_nodes - 1] = <int32_t>best_state
    cdef double total = best + offset
    # back pointers are needed along the best path only, so they are found here
    for t in range(n_nodes - 2, -1, -1):
        best_state = 0
        best = value[t * stride] + transition[labels[t + 1]]
        for a in range(1, n_states):
            candidate = value[t * stride + a] + transition[a * stride + labels[t + 1]]
            if candidate > best:
                best = candidate
                best_state = a
        labels[t] = <int32_t>best_state
    return total


def viterbi(nodes, transitions, *, truth=None, cost=1.0):
    """Find the best labelling of a chain.

    Maximises ``sum_t nodes[t, y_t] + sum_t transitions[y_{t-1}, y_t]``, plus, if `truth` is
    given, the loss ``sum_t cost_t [y_t != truth_t]``. Exact; O(n_nodes n_states^2).

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.
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
    Viterbi (1967). Error bounds for convolutional codes and an asymptotically optimum decoding
    algorithm. IEEE Transactions on Information Theory 13(2).

    Examples
    --------
    >>> from sskit.oracles import viterbi
    >>> labels, score = viterbi([[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 0]])
    >>> labels
    array([0, 0, 0], dtype=int32)
    >>> score
    2.0
    """
    nodes, transitions, truth, cost = check_chain(nodes, transitions, truth, cost)
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] transition_rows = padded_rows(transitions)
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    cdef double[:, ::1] value = np.empty((n_nodes, padded(n_states)))
    labels = np.empty(n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    cdef const int32_t[::1] true_states
    cdef const double[::1] costs
    cdef double score
    if truth is None:
        score = viterbi_labels(
            &node_rows[0, 0], &transition_rows[0, 0], n_nodes, n_states, NULL, NULL, 0.0,
            &value[0, 0], &out[0],
        )
    else:
        true_states = truth
        costs = cost
        score = viterbi_labels(
            &node_rows[0, 0], &transition_rows[0, 0], n_nodes, n_states, &true_states[0],
            &costs[0], 1.0, &value[0, 0], &out[0],
        )
    if score == -np.inf:
        raise ValueError(f"no labelling of {n_nodes} nodes is allowed by the potentials")
    return labels, score
