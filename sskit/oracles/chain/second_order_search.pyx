"""The k best labellings and the max-marginals of chains of the second order."""

import numpy as np

from sskit.oracles.chain.second_order import make_triple_table
from sskit.oracles.gate import check_count, check_second_order, padded_rows

from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from sskit.core.checks cimport check_least
from sskit.core.lanes cimport padded
from sskit.oracles.chain.second_order cimport (
    second_order_room, second_order_score, second_order_step, second_order_values
)


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
        check_least(max_nodes, 1, "max_nodes")
        check_least(n_states, 1, "n_states")
        check_least(k, 1, "k")
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
