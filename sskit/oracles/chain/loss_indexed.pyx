"""The loss-indexed dynamic programme: the best labelling of a chain for each loss."""

import numpy as np

from sskit.oracles.gate import check_chain, padded_rows

from libc.math cimport INFINITY
from libc.string cimport memcpy

from sskit.core.lanes cimport padded
from sskit.oracles.chain.viterbi cimport viterbi_step


cdef class LossIndexed:
    """Scratch memory of the programme (see the .pxd).

    Parameters
    ----------
    max_nodes : int
        Number of nodes of the longest chain.
    max_loss : int
        Largest loss of a chain, in units.
    n_states : int
        Number of states.
    """

    def __cinit__(self, Py_ssize_t max_nodes, Py_ssize_t max_loss, Py_ssize_t n_states):
        self.n_states = n_states
        self.stride = padded(n_states)
        self.max_nodes = max_nodes
        self.max_loss = max_loss

    cdef Py_ssize_t solve(
        self, const double* node, const double* transition, Py_ssize_t n_nodes,
        const int32_t* truth, const int32_t* levels
    ) except -1 nogil:
        cdef Py_ssize_t stride = self.stride, table = (self.max_loss + 1) * stride
        cdef Py_ssize_t t, k, e, reach = 0, level, right
        cdef double* value
        cdef double* moved
        self.value.resize(self.max_nodes * table)
        self.moved.resize(stride)
        self.best.resize(self.max_loss + 1)
        value, moved = self.value.data(), self.moved.data()
        for t in range(n_nodes):
            level, right = levels[t], truth[t]
            for k in range((reach + level + 1) * stride):
                value[k] = -INFINITY
            for e in range(reach + 1):
                if t == 0:
                    memcpy(moved, node, stride * sizeof(double))
                else:
                    viterbi_step(
                        value - table + e * stride,
                        transition if self.tables == NULL else self.tables[t - 1], self.n_states,
                        node + t * stride, moved
                    )
                # each state is reached with this loss by one way at most: the true one from as
                # much, the others from `level` less
                value[e * stride + right] = moved[right]
                for k in range(self.n_states):
                    if k != right:
                        value[(e + level) * stride + k] = moved[k]
            reach += level
            value += table
        value -= table
        for e in range(reach + 1):
            self.best[e] = -INFINITY
            for k in range(self.n_states):
                self.best[e] = max(self.best[e], value[e * stride + k])
        return reach

    cdef void labelling(
        self, const double* transition, Py_ssize_t n_nodes, const int32_t* truth,
        const int32_t* levels, Py_ssize_t loss, int32_t* labels
    ) noexcept nogil:
        cdef Py_ssize_t stride = self.stride, table = (self.max_loss + 1) * stride
        cdef Py_ssize_t t, k, e = loss, state = 0
        cdef double* value = &self.value[(n_nodes - 1) * table]
        cdef double top, candidate
        for k in range(1, self.n_states):
            if value[e * stride + k] > value[e * stride + state]:
                state = k
        # back pointers are needed along one path only, so they are found here
        for t in range(n_nodes - 1, 0, -1):
            labels[t] = <int32_t>state
            if state != truth[t]:
                e -= levels[t]
            value -= table
            if self.tables != NULL:
                transition = self.tables[t - 1]
            top = -INFINITY
            for k in range(self.n_states):
                candidate = value[e * stride + k] + transition[k * stride + labels[t]]
                if candidate > top:
                    top, state = candidate, k
        labels[0] = <int32_t>state


cdef double chain_score(
    const double* node, const double* transition, Py_ssize_t n_nodes, Py_ssize_t n_states,
    const int32_t* labels
) noexcept nogil:
    cdef Py_ssize_t stride = padded(n_states), t
    cdef double score = node[labels[0]]
    for t in range(1, n_nodes):
        score += node[t * stride + labels[t]] + transition[labels[t - 1] * stride + labels[t]]
    return score


def check_levels(cost):
    """Return the losses of wrong states as whole numbers.

    Parameters
    ----------
    cost : ndarray of shape (n_nodes,)
        Non-negative.

    Returns
    -------
    levels : ndarray of shape (n_nodes,), int32
        The same.

    Raises
    ------
    ValueError
        Naming the first that is not one, or if they add up to more than 10,000.
    """
    wrong = np.flatnonzero(cost != np.floor(cost))
    if len(wrong):
        raise ValueError(f"cost[{wrong[0]}] is {cost[wrong[0]]}, expected a whole number")
    with np.errstate(over="ignore"):
        total = cost.sum()
    if total > 10_000:
        raise ValueError(f"cost adds up to {total:g}, expected at most 10000")
    return cost.astype(np.int32)


def viterbi_by_loss(nodes, transitions, truth, *, cost=1.0):
    """Find the best labelling of a chain for each loss.

    For every e, maximises ``sum_t nodes[t, y_t] + sum_t transitions[y_{t-1}, y_t]`` over the
    labellings whose loss ``sum_t cost_t [y_t != truth_t]`` is e. Any function of score and loss
    that grows with the score has its maximum among them, such as that of slack rescaling. Exact;
    O(n_nodes E n_states^2) with E the largest loss.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.
    truth : array-like of shape (n_nodes,)
        True states.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, a whole number that is not negative.

    Returns
    -------
    labels : ndarray of shape (E + 1, n_nodes), int32
        Row e is a maximiser with the loss e, or -1 where there is none.
    scores : ndarray of shape (E + 1,)
        The maxima, -inf where there is no labelling with that loss.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf,
        a true state is out of range, a cost is negative or not a whole number.

    References
    ----------
    Bauer, Goernitz, Biegler, Mueller, Kloft (2014). Efficient algorithms for exact inference in
    sequence labeling SVMs. IEEE Transactions on Neural Networks and Learning Systems 25(5).

    Examples
    --------
    >>> from sskit.oracles import viterbi_by_loss
    >>> labels, scores = viterbi_by_loss([[1, 0], [0, 0.5]], [[0, -1], [-1, 0]], [0, 0])
    >>> labels
    array([[0, 0],
           [0, 1],
           [1, 1]], dtype=int32)
    >>> scores
    array([1. , 0.5, 0.5])
    """
    if truth is None:
        raise ValueError("truth must hold the true states, got None")
    nodes, transitions, truth, cost = check_chain(nodes, transitions, truth, cost)
    levels = check_levels(cost)
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1], e, reach
    cdef LossIndexed programme = LossIndexed(n_nodes, levels.sum(), n_states)
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] transition_rows = padded_rows(transitions)
    cdef const int32_t[::1] true_states = truth, units = levels
    reach = programme.solve(
        &node_rows[0, 0], &transition_rows[0, 0], n_nodes, &true_states[0], &units[0]
    )
    labels, scores = np.full((reach + 1, n_nodes), -1, dtype=np.int32), np.empty(reach + 1)
    cdef int32_t[:, ::1] out = labels
    cdef double[::1] best = scores
    for e in range(reach + 1):
        best[e] = programme.best[e]
        if best[e] > -INFINITY:
            programme.labelling(
                &transition_rows[0, 0], n_nodes, &true_states[0], &units[0], e, &out[e, 0]
            )
    return labels, scores
