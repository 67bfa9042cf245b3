"""The best labellings of chains: the Viterbi algorithm (Viterbi 1967) and its relatives."""

import numpy as np

from sskit.oracles.gate import (
    check_allowed, check_chain, check_chain_tables, check_count, check_switch, count_answers,
    padded_rows
)

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.lanes cimport padded
from sskit.oracles.chain.sum_product cimport SumProduct

cdef extern from "viterbi.hpp" namespace "sskit":
    void beam_step(
        const double* value, const int32_t* kept, Py_ssize_t n_kept, const double* transition,
        Py_ssize_t stride, Py_ssize_t n_states, const double* node, double* out
    ) noexcept nogil
    Py_ssize_t largest_states(
        const double* value, Py_ssize_t n, Py_ssize_t size, double* scratch, int32_t* kept
    ) noexcept nogil


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
                        value - table + e * stride, step_table(transition, self.tables, t - 1),
                        self.n_states, node + t * stride, moved
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
            k = first_largest(value + e * stride, self.n_states)
            self.best[e] = value[e * stride + k]
        return reach

    cdef void labelling(
        self, const double* transition, Py_ssize_t n_nodes, const int32_t* truth,
        const int32_t* levels, Py_ssize_t loss, int32_t* labels
    ) noexcept nogil:
        cdef Py_ssize_t stride = self.stride, table = (self.max_loss + 1) * stride
        cdef Py_ssize_t t, k, e = loss
        cdef double* value = &self.value[(n_nodes - 1) * table]
        cdef Py_ssize_t state = first_largest(value + e * stride, self.n_states)
        cdef double top, candidate
        # back pointers are needed along one path only, so they are found here
        for t in range(n_nodes - 1, 0, -1):
            labels[t] = <int32_t>state
            if state != truth[t]:
                e -= levels[t]
            value -= table
            transition = step_table(transition, self.tables, t - 1)
            top = -INFINITY
            for k in range(self.n_states):
                candidate = value[e * stride + k] + transition[k * stride + labels[t]]
                if candidate > top:
                    top, state = candidate, k
        labels[0] = <int32_t>state


cdef class Beam:
    """Beam search on chains (see the .pxd).

    Parameters
    ----------
    max_nodes : int
        Largest number of nodes.
    n_states : int
        Number of states K.
    size : int
        Number of states that are kept at each node, from 1 to K - 1.
    """

    def __cinit__(self, Py_ssize_t max_nodes, Py_ssize_t n_states, Py_ssize_t size):
        self.max_nodes, self.n_states, self.size = max_nodes, n_states, size
        self.value = np.empty(max_nodes * padded(n_states))
        self.scratch = np.empty(n_states)
        self.kept = np.empty(max_nodes * size, dtype=np.int32)
        self.n_kept = np.empty(max_nodes, dtype=np.int32)

    cdef double decode(
        self, const double* node, const double* transition, Py_ssize_t stride,
        Py_ssize_t n_nodes, int32_t* labels
    ) noexcept nogil:
        cdef Py_ssize_t row = padded(self.n_states), t, k, a
        cdef double best = -INFINITY, candidate
        cdef double* value = &self.value[0]
        cdef const int32_t* kept
        memcpy(value, node, self.n_states * sizeof(double))
        for t in range(n_nodes - 1):
            self.n_kept[t] = <int32_t>largest_states(
                value + t * row, self.n_states, self.size, &self.scratch[0],
                &self.kept[t * self.size]
            )
            if self.n_kept[t] == 0:
                return -INFINITY
            transition = step_table(transition, self.tables, t)
            beam_step(
                value + t * row, &self.kept[t * self.size], self.n_kept[t], transition, stride,
                self.n_states, node + (t + 1) * row, value + (t + 1) * row
            )
        a = first_largest(value + (n_nodes - 1) * row, self.n_states)
        labels[n_nodes - 1] = <int32_t>a
        cdef double total = value[(n_nodes - 1) * row + a]
        # back pointers along the best path only, as in the Viterbi algorithm
        for t in range(n_nodes - 2, -1, -1):
            kept = &self.kept[t * self.size]
            transition = step_table(transition, self.tables, t)
            best = -INFINITY
            labels[t] = kept[0]
            for k in range(self.n_kept[t]):
                a = kept[k]
                candidate = value[t * row + a] + transition[a * stride + labels[t + 1]]
                if candidate > best:
                    best = candidate
                    labels[t] = <int32_t>a
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
    cdef const double[::1] costs = cost
    cdef const int32_t* right = NULL
    if truth is not None:
        true_states = truth
        right = &true_states[0]
    cdef double score = viterbi_labels(
        &node_rows[0, 0], &transition_rows[0, 0], NULL, n_nodes, n_states, right, &costs[0], 1.0,
        &value[0, 0], &out[0]
    )
    check_allowed(score > -INFINITY, n_nodes)
    return labels, score


def viterbi_top_k(nodes, transitions, k):
    """Find the k best labellings of a chain.

    The score of a labelling is ``sum_t nodes[t, y_t] + sum_t transitions[y_{t-1}, y_t]``. Exact;
    O(n_nodes n_states (n_states + k)).

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.
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
    Seshadri and Sundberg (1994). List Viterbi decoding algorithms with applications. IEEE
    Transactions on Communications 42.

    Jimenez and Marzal (1999). Computing the K shortest paths: a new algorithm and an
    experimental comparison. Workshop on Algorithm Engineering.

    Examples
    --------
    >>> from sskit.oracles import viterbi_top_k
    >>> labels, scores = viterbi_top_k([[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 0]], 3)
    >>> labels
    array([[0, 0, 0],
           [0, 1, 0],
           [1, 1, 0]], dtype=int32)
    >>> scores
    array([2. , 0.5, 0.5])
    """
    nodes, transitions = check_chain(nodes, transitions)[:2]
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    k = count_answers(k, n_states, n_nodes)
    labels = np.empty((k, n_nodes), dtype=np.int32)
    scores = np.empty(k)
    cdef KBest best = KBest(n_nodes, n_states, k)
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] transition_rows = padded_rows(transitions)
    cdef int32_t[:, ::1] labels_out = labels
    cdef double[::1] scores_out = scores
    cdef Py_ssize_t found
    with nogil:
        found = best.decode(
            &node_rows[0, 0], &transition_rows[0, 0], n_nodes, &labels_out[0, 0], &scores_out[0]
        )
    check_allowed(found, n_nodes)
    return labels[:found].copy(), scores[:found].copy()


def beam_search(nodes, transitions, beam_size):
    """Find a good labelling of a chain with many states.

    The score of a labelling is ``sum_t nodes[t, y_t] + sum_t transitions[y_{t-1}, y_t]``. At each
    node the `beam_size` states in which the best labellings of the nodes so far end are kept, and
    the next node goes on from these only. What is found is a labelling with its true score,
    which is at most that of `viterbi`: a labelling that begins badly and ends well may be lost.
    O(n_nodes n_states beam_size).

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.
    beam_size : int
        Number of states that are kept, positive. From n_states on the answer is that of
        `viterbi`, exactly.

    Returns
    -------
    labels : ndarray of shape (n_nodes,), int32
        The labelling that was found. Of several the one with the smallest last state, and so on
        backwards. Where the beam loses all labellings that are allowed, that of `viterbi`.
    score : float
        Its score.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf,
        `beam_size` is not a positive integer or no labelling is allowed.

    References
    ----------
    Lowerre (1976). The HARPY speech recognition system. PhD thesis, Carnegie Mellon University.

    Examples
    --------
    >>> from sskit.oracles import beam_search
    >>> nodes, transitions = [[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 3]]
    >>> labels, score = beam_search(nodes, transitions, 1)
    >>> labels, score
    (array([0, 0, 0], dtype=int32), 2.0)
    >>> labels, score = beam_search(nodes, transitions, 2)
    >>> labels, score
    (array([1, 1, 1], dtype=int32), 6.5)
    """
    nodes, transitions = check_chain(nodes, transitions)[:2]
    beam_size = check_count(beam_size, "beam_size")
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    if beam_size >= n_states:
        return viterbi(nodes, transitions)
    cdef Beam beam = Beam(n_nodes, n_states, beam_size)
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] transition_rows = padded_rows(transitions)
    labels = np.empty(n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    cdef double score
    with nogil:
        score = beam.decode(
            &node_rows[0, 0], &transition_rows[0, 0], transition_rows.shape[1], n_nodes, &out[0]
        )
    if score == -INFINITY:
        return viterbi(nodes, transitions)
    return labels, score


def chain_max_marginals(nodes, transitions):
    """Compute the max-marginals of a chain.

    The max-marginal of a node and a state is the best score of all labellings that have this
    state there; the score of a labelling is ``sum_t nodes[t, y_t] + sum_t transitions[y_{t-1},
    y_t]``. The largest of each row is the score of the best labelling. Exact up to rounding;
    O(n_nodes n_states^2).

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like of shape (n_states, n_states)
        Potentials of the transitions, from row to column. ``-inf`` forbids a transition.

    Returns
    -------
    scores : ndarray of shape (n_nodes, n_states)
        The max-marginals; ``-inf`` where no allowed labelling has that state.

    Raises
    ------
    ValueError
        If shapes do not match or a potential is NaN or +inf.

    References
    ----------
    Wainwright, Jaakkola and Willsky (2004). Tree consistency and bounds on the performance of
    the max-product algorithm and its generalizations. Statistics and Computing 14.

    Examples
    --------
    >>> from sskit.oracles import chain_max_marginals
    >>> chain_max_marginals([[1, 0], [0, 0.5], [1, 0]], [[0, -1], [-1, 0]])
    array([[2. , 0.5],
           [2. , 0.5],
           [2. , 0.5]])
    """
    nodes, transitions = check_chain(nodes, transitions)[:2]
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    cdef Py_ssize_t stride = padded(n_states)
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] transition_rows = padded_rows(transitions)
    cdef double[:, ::1] transposed_rows = np.empty((n_states, stride))
    cdef double[:, ::1] scratch = np.empty((3, stride))
    scores = np.empty((n_nodes, stride))
    cdef double[:, ::1] out = scores
    with nogil:
        transpose_padded(&transition_rows[0, 0], n_states, &transposed_rows[0, 0])
        find_max_marginals(
            &node_rows[0, 0], &transition_rows[0, 0], NULL, n_nodes, n_states,
            &transposed_rows[0, 0], &scratch[0, 0], &out[0, 0]
        )
    return scores[:, :n_states].copy()


def chain_marginals(nodes, transitions, *, start=None, end=None, return_pairs=False):
    """Compute the marginal probabilities of a chain.

    A labelling has the probability ``exp(score) / Z``; its score is ``sum_t nodes[t, y_t] +
    sum_t transitions[y_{t-1}, y_t] + start[y_0] + end[y_{n_nodes-1}]``, and Z makes the
    probabilities of all labellings sum to one. Exact up to rounding, for chains and potentials of
    any size; O(n_nodes n_states^2).

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state there.
    transitions : array-like, (n_states, n_states) or (n_nodes - 1, n_states, n_states)
        Potentials of the transitions, from row to column: one table for all, or one for each.
        ``-inf`` forbids a transition.
    start, end : array-like of shape (n_states,), default=None
        Potentials of the first and of the last state, further to those of the nodes; None means
        zeros.
    return_pairs : bool, default=False
        Whether to return the probabilities of pairs of neighbours too.

    Returns
    -------
    log_partition : float
        log Z.
    marginals : ndarray of shape (n_nodes, n_states)
        Probability of each state at each node. Below 1e-200 it may be zero.
    pairs : ndarray of shape (n_nodes - 1, n_states, n_states)
        Probability of each state at a node and each at the next one; only if `return_pairs`.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf, or no labelling is allowed.

    See Also
    --------
    tree_marginals : Trees.
    chain_max_marginals : The best score with each state at each node.

    References
    ----------
    Rabiner (1989). A tutorial on hidden Markov models and selected applications in speech
    recognition. Proceedings of the IEEE 77(2), section V.A (scaling).

    Examples
    --------
    >>> import numpy as np
    >>> from sskit.oracles import chain_marginals
    >>> log_partition, marginals = chain_marginals(np.log([[3, 1], [1, 1]]), [[0, 0], [0, 0]])
    >>> round(float(np.exp(log_partition)), 12)
    8.0
    >>> marginals
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    check_switch(return_pairs, "return_pairs")
    nodes, transitions = check_chain_tables(nodes, transitions, start, end)
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    cdef Py_ssize_t stride = padded(n_states), step = 0
    cdef bint shared = transitions.ndim == 2
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] tables = padded_rows(
        # of a single node there are no tables, but memory that is pointed to
        transitions.reshape(-1, n_states) if transitions.size else np.zeros((n_states, n_states))
    )
    cdef SumProduct oracle
    marginals, pairs = np.empty((n_nodes, stride)), None
    cdef double[:, ::1] out = marginals
    cdef double[:, ::1] pair_rows
    cdef double* pair_out = NULL
    cdef double log_partition
    if return_pairs:
        pairs = np.zeros((max(n_nodes - 1, 1) * n_states, stride))
        pair_rows = pairs
        pair_out, step = &pair_rows[0, 0], n_states * stride
    with nogil:
        oracle.begin(n_states, &tables[0, 0], shared)
        log_partition = oracle.forward(&node_rows[0, 0], n_nodes)
        if log_partition > -INFINITY:
            oracle.backward(&node_rows[0, 0], n_nodes, &out[0, 0], pair_out, step)
    check_allowed(log_partition > -INFINITY, n_nodes)
    marginals = marginals[:, :n_states].copy()
    if not return_pairs:
        return log_partition, marginals
    pairs = pairs[: (n_nodes - 1) * n_states, :n_states].reshape(n_nodes - 1, n_states, n_states)
    return log_partition, marginals, pairs.copy()


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
