"""The k best label sequences: list Viterbi, computed lazily (Jimenez and Marzal 1999)."""

import numpy as np

from sskit.oracles.gate import check_chain, check_count, padded_rows

from libc.math cimport INFINITY
from libc.string cimport memcpy

from sskit.core.lanes cimport padded
from sskit.oracles.chain.viterbi cimport viterbi_step


cdef enum:
    UNKNOWN = -1  # not computed yet
    NONE = -2     # does not exist


cdef class KBest:
    """The k best labellings of chains.

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
        self.max_nodes = max_nodes
        self.n_states = n_states
        self.k = k
        self.stride = padded(n_states)
        self.max_entries = self.stride + k - 1
        self.max_lists = min(k, n_states)
        n_all = (max_nodes + 1) * self.max_entries
        self.score = np.empty(n_all)
        state = np.empty((max_nodes + 1, self.max_entries), dtype=np.int32)
        state[:, :n_states] = np.arange(n_states)
        self.state = state.reshape(-1)
        self.previous = np.empty(n_all, dtype=np.int32)
        self.following = np.empty(n_all, dtype=np.int32)
        self.n_entries = np.empty(max_nodes + 1, dtype=np.int32)
        self.n_lists = np.empty(max_nodes + 1, dtype=np.int32)
        self.list_of = np.empty((max_nodes + 1) * n_states, dtype=np.int32)
        self.waiting = np.empty((max_nodes + 1) * self.max_lists * n_states, dtype=np.int32)
        self.path = np.empty(max_nodes + 1, dtype=np.int32)

    cdef Py_ssize_t decode(
        self, const double* node, const double* transition, Py_ssize_t n_nodes,
        int32_t* labels, double* scores
    ) noexcept nogil:
        cdef Py_ssize_t found = 0
        cdef int32_t entry = 0
        self.node = node
        self.transition = transition
        self.n_nodes = n_nodes
        self.forward()
        self.open_list(n_nodes, 0)
        if self.previous[n_nodes * self.max_entries] == NONE:
            return 0
        while entry != NONE:
            scores[found] = self.score[n_nodes * self.max_entries + entry]
            self.trace(entry, labels + found * n_nodes)
            found += 1
            if found == self.k:
                break
            entry = self.advance()
        return found

    cdef void forward(self) noexcept nogil:
        """Compute the scores of the first entries and forget the lists of another chain."""
        cdef Py_ssize_t t, b, first
        for t in range(self.n_nodes + 1):
            first = t * self.max_entries
            if t == 0:
                memcpy(&self.score[0], self.node, self.stride * sizeof(double))
            elif t < self.n_nodes:
                viterbi_step(
                    &self.score[first - self.max_entries], self.table_to(t), self.n_states,
                    self.node + t * self.stride, &self.score[first]
                )
            self.n_entries[t] = <int32_t>self.stride
            self.n_lists[t] = 0
            for b in range(self.n_states):
                # a labelling of the first node alone is its state: no list there is longer
                self.following[first + b] = NONE if t == 0 else UNKNOWN
                self.list_of[t * self.n_states + b] = UNKNOWN

    cdef void open_list(self, Py_ssize_t t, Py_ssize_t b) noexcept nogil:
        """Begin the list of state b at node t > 0, all first entries before it waiting."""
        cdef Py_ssize_t a, first = (t * self.max_lists + self.n_lists[t]) * self.n_states
        self.list_of[t * self.n_states + b] = self.n_lists[t]
        self.n_lists[t] += 1
        for a in range(self.n_states):
            self.waiting[first + a] = <int32_t>a
        if not self.take(t, b, <int32_t>b):
            self.previous[t * self.max_entries + b] = NONE

    cdef bint take(self, Py_ssize_t t, Py_ssize_t b, int32_t entry) noexcept nogil:
        """Make the best that is waiting for state b at node t this entry, if anything is."""
        cdef Py_ssize_t a, before = (t - 1) * self.max_entries
        cdef Py_ssize_t here = t * self.max_entries + entry
        cdef Py_ssize_t n = t * self.max_lists + self.list_of[t * self.n_states + b]
        cdef const int32_t* waiting = &self.waiting[n * self.n_states]
        cdef bint inside = t < self.n_nodes
        cdef const double* transition = self.table_to(t) if inside else NULL
        cdef double candidate, best = -INFINITY
        cdef int32_t previous = NONE
        for a in range(self.n_states):
            if waiting[a] == NONE:
                continue
            candidate = self.score[before + waiting[a]]
            if inside:
                candidate += transition[a * self.stride + b]
            if candidate > best:
                best = candidate
                previous = waiting[a]
        if previous == NONE:
            return False
        self.score[here] = best + self.node[t * self.stride + b] if inside else best
        self.state[here] = <int32_t>b
        self.previous[here] = previous
        return True

    cdef void trace(self, int32_t entry, int32_t* labels) noexcept nogil:
        """Write the labelling of an entry that closes the chain, and keep its entries."""
        cdef Py_ssize_t t
        cdef int32_t b
        self.path[self.n_nodes] = entry
        for t in range(self.n_nodes - 1, -1, -1):
            entry = self.previous[(t + 1) * self.max_entries + entry]
            b = self.state[t * self.max_entries + entry]
            self.path[t] = entry
            labels[t] = b
            if t > 0 and self.list_of[t * self.n_states + b] == UNKNOWN:
                self.open_list(t, b)

    cdef int32_t advance(self) noexcept nogil:
        """Return the entry after the last labelling's, NONE if there is none."""
        cdef Py_ssize_t t = self.n_nodes, n, here
        cdef int32_t follower, b
        # back along the last labelling, as far as the lists end with its entries; everywhere
        # else the next ones are known already
        while self.following[t * self.max_entries + self.path[t]] == UNKNOWN:
            t -= 1
        # and forward again, each list growing by one if it can
        while t < self.n_nodes:
            here = t * self.max_entries + self.path[t]
            follower = self.following[here]
            t += 1
            b = self.state[t * self.max_entries + self.path[t]]
            n = t * self.max_lists + self.list_of[t * self.n_states + b]
            self.waiting[n * self.n_states + self.state[here]] = follower
            follower = NONE
            if self.take(t, b, self.n_entries[t]):
                follower = self.n_entries[t]
                self.following[t * self.max_entries + follower] = UNKNOWN
                self.n_entries[t] += 1
            self.following[t * self.max_entries + self.path[t]] = follower
        return self.following[t * self.max_entries + self.path[t]]


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
    k = check_count(k, "k")
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    # more than there are cost memory only; n_states^n_nodes itself may be astronomical
    k = min(k, int(n_states) ** min(int(n_nodes), k.bit_length()))
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
    if found == 0:
        raise ValueError(f"no labelling of {n_nodes} nodes is allowed by the potentials")
    return labels[:found].copy(), scores[:found].copy()
