"""Chains of the second order: the Viterbi algorithm over pairs of labels, and what it leads to."""

import numpy as np

from sskit.oracles.gate import check_count, check_second_order, padded_rows

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from sskit.core.lanes cimport LANES, padded

cdef extern from "second_order.hpp":
    void clone_table "sskit::triple_table"(
        const double* weights, Py_ssize_t n_states, double* out
    ) noexcept nogil
    # out[b, c] = pairs[b, c] + node[c] + max_a (value[a, b] + triples[a, b, c]); pairs and node may
    # both be NULL; floor is scratch for one row.
    void second_order_step "sskit::second_order_step"(
        const double* value, const double* triples, Py_ssize_t n_states, const double* pairs,
        const double* node, double* floor, double* out
    ) noexcept nogil


cdef Py_ssize_t triple_room(Py_ssize_t n_states) noexcept nogil:
    return (n_states + 2) * n_states * padded(n_states)


cdef void triple_table(const double* weights, Py_ssize_t n_states, double* out) noexcept nogil:
    clone_table(weights, n_states, out)


cdef Py_ssize_t second_order_room(Py_ssize_t n_nodes, Py_ssize_t n_states) noexcept nogil:
    return (max(n_nodes - 1, 1) * n_states + 1) * padded(n_states)


# The values of the best labellings that end with two labels, of n_nodes >= 2: table t - 1 of
# `value` is that of the nodes 0 .. t. truth may be NULL (no loss); returns the loss of labellings
# of which no label is right, whose counterpart is taken from the values.
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


# score of a labelling
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


cdef class SecondOrderKBest:
    """The k best labellings of chains of the second order.

    Parameters
    ----------
    max_nodes : int
        Length of the longest chain.
    n_states : int
        Number of states.
    k : int
        Number of labellings, at least 1.
    """

    def __cinit__(self, Py_ssize_t max_nodes, Py_ssize_t n_states, Py_ssize_t k):
        self.max_nodes, self.n_states, self.k = max_nodes, n_states, k
        self.value = np.empty(second_order_room(max_nodes, n_states))
        self.one = np.empty(max_nodes, dtype=np.int32)
        self.other = np.empty(max_nodes, dtype=np.int32)

    cdef Py_ssize_t decode(
        self, const double* node, const double* pairs, const double* triples, Py_ssize_t n_nodes,
        int32_t* labels, double* scores
    ) except -1 nogil:
        cdef Py_ssize_t n_states = self.n_states, stride = padded(n_states)
        cdef Py_ssize_t size = n_states * stride, found = 0, a, b, j, t
        cdef const double* value = &self.value[0]
        cdef Suffix suffix
        cdef int32_t taken
        cdef double score
        self.suffixes.resize(0)
        self.heap.resize(0)
        if n_nodes > 1:
            second_order_values(
                node, pairs, triples, n_nodes, n_states, NULL, NULL, 0.0, &self.value[0]
            )
            value += (n_nodes - 2) * size
        suffix.behind, suffix.score = -1, 0.0
        suffix.here = <int32_t>(n_nodes - 1)
        for a in range(n_states if n_nodes > 1 else 1):
            for b in range(n_states):
                suffix.bound = value[a * stride + b] if n_nodes > 1 else node[b]
                suffix.first, suffix.second = <int32_t>a, <int32_t>b
                self.wait(suffix)
        while found < self.k and self.heap.size() > 0:
            taken = self.take()
            suffix = self.suffixes[taken]
            t = suffix.here
            if t > 1:
                # the node before these two has any label
                a, b = suffix.first, suffix.second
                suffix.score += node[t * stride + b] + pairs[a * stride + b]
                suffix.here, suffix.behind = <int32_t>(t - 1), taken
                suffix.second = suffix.first
                score = suffix.score
                for j in range(n_states):
                    suffix.first = <int32_t>j
                    suffix.score = score + triples[j * size + a * stride + b]
                    suffix.bound = self.value[(t - 2) * size + j * stride + a] + suffix.score
                    self.wait(suffix)
                continue
            self.trace(taken, &self.one[0])
            for j in range(n_nodes):
                labels[found * n_nodes + j] = self.one[n_nodes - 1 - j]
            score = second_order_score(
                node, pairs, triples, n_nodes, n_states, labels + found * n_nodes
            )
            # the bounds are added up in another order: what rounding has swapped goes back
            memcpy(&self.other[0], labels + found * n_nodes, n_nodes * sizeof(int32_t))
            j = found
            while j > 0 and scores[j - 1] < score:
                scores[j] = scores[j - 1]
                memcpy(
                    labels + j * n_nodes, labels + (j - 1) * n_nodes, n_nodes * sizeof(int32_t)
                )
                j -= 1
            scores[j] = score
            memcpy(labels + j * n_nodes, &self.other[0], n_nodes * sizeof(int32_t))
            found += 1
        return found

    cdef Py_ssize_t trace(self, int32_t suffix, int32_t* out) noexcept nogil:
        """Write the labels of a suffix, the last one first; return how many there are."""
        cdef Py_ssize_t n = 0, j
        cdef int32_t swap
        if self.suffixes[suffix].here > 0:
            out[0] = self.suffixes[suffix].first
            n = 1
        while suffix >= 0:
            out[n] = self.suffixes[suffix].second
            n += 1
            suffix = self.suffixes[suffix].behind
        for j in range(n // 2):
            swap = out[j]
            out[j], out[n - 1 - j] = out[n - 1 - j], swap
        return n

    cdef bint before(self, int32_t one, int32_t other) noexcept nogil:
        """Return whether one suffix is taken before another."""
        cdef double here = self.suffixes[one].bound, there = self.suffixes[other].bound
        cdef Py_ssize_t n, j
        if here != there:
            return here > there
        n = self.trace(one, &self.one[0])
        n = min(n, self.trace(other, &self.other[0]))
        for j in range(n):
            if self.one[j] != self.other[j]:
                return self.one[j] < self.other[j]
        return False

    cdef int wait(self, Suffix suffix) except -1 nogil:
        """Let a suffix wait, if there is a labelling that has it."""
        cdef Py_ssize_t place = self.heap.size(), above
        cdef int32_t number = <int32_t>self.suffixes.size()
        if suffix.bound == -INFINITY:
            return 0
        self.suffixes.push(suffix)
        self.heap.push(number)
        while place > 0:
            above = (place - 1) // 2
            if not self.before(number, self.heap[above]):
                break
            self.heap[place] = self.heap[above]
            place = above
        self.heap[place] = number
        return 0

    cdef int32_t take(self) noexcept nogil:
        """Return the best suffix that waits, which no longer does."""
        cdef int32_t best = self.heap[0], last = self.heap.back()
        cdef Py_ssize_t n = self.heap.size() - 1, place = 0, below = 1
        self.heap.pop_back()
        while below < n:
            if below + 1 < n and self.before(self.heap[below + 1], self.heap[below]):
                below += 1
            if not self.before(self.heap[below], last):
                break
            self.heap[place] = self.heap[below]
            place = below
            below = 2 * place + 1
        if n > 0:
            self.heap[place] = last
        return best


cdef Py_ssize_t marginals_room(Py_ssize_t n_nodes, Py_ssize_t n_states) noexcept nogil:
    return second_order_room(n_nodes, n_states) + 2 * n_states * padded(n_states)


cdef void second_order_max_marginals_of(
    const double* node, const double* pairs, const double* triples, const double* reversed_pairs,
    const double* reversed_triples, Py_ssize_t n_nodes, Py_ssize_t n_states, double* scratch,
    double* out
) noexcept nogil:
    cdef Py_ssize_t stride = padded(n_states), size = n_states * stride, t, b, c
    # best scores of what comes behind node t, by its label and the one before it
    cdef double* ahead = scratch
    cdef double* further = scratch + size
    cdef double* value = scratch + 2 * size
    cdef double* floor = value + (n_nodes - 1) * size
    cdef const double* here
    if n_nodes == 1:
        memcpy(out, node, stride * sizeof(double))
        return
    second_order_values(node, pairs, triples, n_nodes, n_states, NULL, NULL, 0.0, value)
    for c in range(n_nodes * stride):
        out[c] = -INFINITY
    memset(ahead, 0, size * sizeof(double))
    for t in range(n_nodes - 1, 0, -1):
        here = value + (t - 1) * size
        for c in range(n_states):
            for b in range(n_states):
                out[t * stride + c] = max(
                    out[t * stride + c], here[b * stride + c] + ahead[c * stride + b]
                )
        if t == 1:
            for b in range(n_states):
                for c in range(n_states):
                    out[b] = max(out[b], here[b * stride + c] + ahead[c * stride + b])
            break
        for c in range(n_states):
            for b in range(stride):
                further[c * stride + b] = ahead[c * stride + b] + (
                    reversed_pairs[c * stride + b] + node[t * stride + c]
                )
        second_order_step(further, reversed_triples, n_states, NULL, NULL, floor, ahead)


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


def second_order_top_k(nodes, transitions, triples, k):
    """Find the k best labellings of a chain in which three labels in a row have a potential.

    Exact: suffixes are grown best first, and Viterbi values say how good they can become (a tree
    trellis search). The values are O(n_nodes n_states^3) at worst, each labelling costs
    O(n_nodes n_states) suffixes more.

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
    Soong and Huang (1991). A tree-trellis based fast search for finding the N best sentence
    hypotheses in continuous speech recognition. ICASSP.

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
    k = check_count(k, "k")
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    # more than there are cost memory only; n_states^n_nodes itself may be astronomical
    k = min(k, int(n_states) ** min(int(n_nodes), k.bit_length()))
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
            &node_rows[0, 0], &pair_rows[0, 0], &table[0], n_nodes, &labels_out[0, 0],
            &scores_out[0]
        )
    if found == 0:
        raise ValueError(f"no labelling of {n_nodes} nodes is allowed by the potentials")
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
            &reversed_table[0], n_nodes, n_states, &scratch[0], &out[0, 0]
        )
    return scores[:, :n_states].copy()
