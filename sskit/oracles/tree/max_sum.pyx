"""Max-sum and sum-product on trees and forests: graphs without cycles."""

import numpy as np

from sskit.oracles.gate import check_allowed, check_switch, count_answers

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from sskit.core.lanes cimport padded
from sskit.oracles.chain.sum_product cimport add_pairs, draw_state, log_sum_step, normalise
from sskit.oracles.chain.viterbi cimport first_largest, viterbi_step
from sskit.oracles.graph.potentials cimport (
    GraphOracle, GraphPotentials, Potentials, Topology, labelling_score, pair_score, table_of
)


cdef class TreeMaxSum(GraphOracle):
    """Max-sum on forests; its memory grows with the graphs."""

    def __cinit__(self):
        self.exact = self.lock_free = True
        self.step = viterbi_step

    cpdef GraphOracle fork(self):
        return TreeMaxSum()

    cdef int arrange(self, Topology* topology, Py_ssize_t n_states) except -1 nogil:
        topology.make_forest()
        return 0

    cdef int reserve(self, const Potentials* p) except -1 nogil:
        self.forest = self.topology_of(p)
        self.stride = padded(p.n_states)
        self.value.resize(p.n_nodes * self.stride)
        self.message.resize(p.n_nodes * self.stride)
        # what edges share is made once, as long as that takes no more memory than the edges would
        cdef Py_ssize_t n_kept = 2 * p.n_tables if 2 * p.n_tables <= p.n_edges else 0
        self.ready.refill(n_kept, 0)
        self.tables.resize(max(n_kept, 1) * p.n_states * self.stride)
        self.row.refill(2 * self.stride, 0.0)
        return 0

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil:
        cdef Py_ssize_t i, k, best_state
        cdef int32_t parent
        cdef double best, candidate
        cdef const double* value
        self.reserve(p)
        self.ascend(p)
        for i in range(p.n_nodes):
            parent = self.forest.parent[i]
            value = &self.value[i * self.stride]
            best_state, best = 0, -INFINITY
            for k in range(p.n_states):
                candidate = value[k]
                if parent >= 0:
                    candidate += edge_score(
                        p, self.forest.edge[i], self.forest.order[i], <int32_t>k,
                        labels[self.forest.order[parent]]
                    )
                if candidate > best:
                    best_state, best = k, candidate
            labels[self.forest.order[i]] = <int32_t>best_state
        return 0

    cdef void ascend(self, const Potentials* p) noexcept nogil:
        cdef Py_ssize_t i, k, stride = self.stride
        cdef int32_t parent
        cdef const double* node
        cdef double* value
        for i in range(p.n_nodes):
            node = p.node + self.forest.order[i] * p.stride
            memcpy(&self.value[i * stride], node, p.n_states * sizeof(double))
        for i in range(p.n_nodes - 1, -1, -1):
            parent = self.forest.parent[i]
            if parent >= 0:
                self.send(p, i, False, &self.value[i * stride], &self.message[i * stride])
                value = &self.value[parent * stride]
                for k in range(p.n_states):
                    value[k] += self.message[i * stride + k]

    cdef void send(
        self, const Potentials* p, Py_ssize_t place, bint down, const double* from_, double* out
    ) noexcept nogil:
        cdef Py_ssize_t e = self.forest.edge[place]
        cdef bint forward = (p.ends[2 * e] == self.forest.order[place]) != down
        self.step(from_, self.table(p, e, forward), p.n_states, &self.row[self.stride], out)

    cdef const double* table(self, const Potentials* p, Py_ssize_t e, bint forward) noexcept nogil:
        cdef Py_ssize_t a, b, stride = self.stride, place = 0
        cdef double* table
        if self.ready.size() > 0:
            place = 2 * table_of(p, e) + forward
            if self.ready[place]:
                return &self.tables[place * p.n_states * stride]
            self.ready[place] = True
        table = &self.tables[place * p.n_states * stride]
        for a in range(p.n_states):
            for b in range(p.n_states):
                table[a * stride + b] = (
                    pair_score(p, e, a, b) if forward else pair_score(p, e, b, a)
                )
        return table

    cdef int marginals(
        self, const Potentials* p, double* out, Py_ssize_t stride
    ) except -1 nogil:
        cdef Py_ssize_t i, k, own, n_impossible = 0
        cdef double best = -INFINITY, total = 0.0, others = 0.0
        cdef const double* value
        cdef double* row
        self.reserve(p)
        own = self.stride
        self.beyond.resize(p.n_nodes * own)
        self.bests.resize(p.n_nodes)
        self.ascend(p)
        self.descend(p)
        for i in range(p.n_nodes):
            if self.forest.parent[i] < 0:
                value = &self.value[i * own]
                best = value[first_largest(value, p.n_states)]
                if best == -INFINITY:
                    n_impossible += 1
                else:
                    total += best
            self.bests[i] = best  # places of a tree stand together
        for i in range(p.n_nodes):
            # what the other trees score
            if self.bests[i] == -INFINITY:
                others = total if n_impossible == 1 else -INFINITY
            else:
                others = total - self.bests[i] if n_impossible == 0 else -INFINITY
            row = out + self.forest.order[i] * stride
            for k in range(p.n_states):
                row[k] = self.value[i * own + k] + self.beyond[i * own + k] + others
        return 0

    cdef void descend(self, const Potentials* p) noexcept nogil:
        cdef Py_ssize_t i, j, k, end = 0, begin, stride = self.stride
        cdef const double* node
        cdef double* rest
        cdef double* sums = self.row.data()
        for i in range(p.n_nodes):
            if self.forest.parent[i] < 0:
                memset(&self.beyond[i * stride], 0, stride * sizeof(double))
                end = i + 1
            begin = end
            while end < p.n_nodes and self.forest.parent[end] == i:
                end += 1
            # a child gets what its parent has from all but this child: sums from either end,
            # for nothing can be taken from a sum that is -inf
            node = p.node + self.forest.order[i] * p.stride
            for k in range(p.n_states):
                sums[k] = node[k] + self.beyond[i * stride + k]
            for j in range(begin, end):
                rest = &self.beyond[j * stride]
                for k in range(p.n_states):
                    rest[k] = sums[k]
                    sums[k] += self.message[j * stride + k]
            memset(sums, 0, stride * sizeof(double))
            for j in range(end - 1, begin - 1, -1):
                rest = &self.beyond[j * stride]
                for k in range(p.n_states):
                    rest[k] += sums[k]
                    sums[k] += self.message[j * stride + k]
            for j in range(begin, end):
                self.send(p, j, True, &self.beyond[j * stride], sums)
                memcpy(&self.beyond[j * stride], sums, stride * sizeof(double))


cdef double edge_score(
    const Potentials* p, Py_ssize_t e, int32_t node, int32_t state, int32_t other
) noexcept nogil:
    """The score of an edge with this state at one of its nodes, the other at the other."""
    if p.ends[2 * e] == node:
        return pair_score(p, e, state, other)
    return pair_score(p, e, other, state)


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
        Potentials of the edges: for each edge a number that counts where its two states agree
        (Potts), or tables from the state of its first node to that of the second; one table
        serves all edges. ``-inf`` forbids a pair.
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
        If shapes do not match, a potential is NaN or +inf, an edge has a node that does not
        exist or joins a node to itself, edges form a cycle (one that closes it is named), a true
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
    cdef TreeMaxSum oracle = TreeMaxSum()
    labels = np.empty(potentials.struct_.n_nodes, dtype=np.int32)
    cdef int32_t[::1] out = labels
    with nogil:
        oracle.improve(&potentials.struct_, &out[0])
    cdef double score = labelling_score(&potentials.struct_, &out[0])
    check_allowed(score > -INFINITY, len(labels))
    return labels, score


def tree_max_marginals(nodes, edges=None, pairwise=None):
    """Compute the max-marginals of a tree, or of several trees.

    The max-marginal of a node and a state is the best score of all labellings that have this
    state there; the score of a labelling is ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u,
    y_v]``. The largest of each row is the score of the best labelling. Exact up to rounding;
    O(n_nodes n_states^2).

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
        The max-marginals; ``-inf`` where no allowed labelling has that state.

    Raises
    ------
    ValueError
        As `tree_max_sum`, but for labellings of which none is allowed.

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
    cdef TreeMaxSum oracle = TreeMaxSum()
    scores = np.empty((potentials.struct_.n_nodes, potentials.struct_.n_states))
    cdef double[:, ::1] out = scores
    with nogil:
        oracle.marginals(&potentials.struct_, &out[0, 0], potentials.struct_.n_states)
    return scores


cdef class TreeSumProduct(TreeMaxSum):
    """Sum-product on forests; its memory grows with the graphs."""

    def __cinit__(self):
        self.step = log_sum_step

    cpdef GraphOracle fork(self):
        return TreeSumProduct()

    cdef void send(
        self, const Potentials* p, Py_ssize_t place, bint down, const double* from_, double* out
    ) noexcept nogil:
        if down and self.pairs != NULL:
            self.add_edge(p, place, from_)
        TreeMaxSum.send(self, p, place, down, from_, out)

    cdef void add_edge(
        self, const Potentials* p, Py_ssize_t place, const double* rest
    ) noexcept nogil:
        """Add the probabilities of an edge; rest is what a parent has from all but this child."""
        cdef Py_ssize_t e = self.forest.edge[place], stride = self.stride, a
        cdef bint child_first = p.ends[2 * e] == self.forest.order[place]
        cdef double* out = self.pairs + e * p.n_states * stride
        cdef double* both = self.sums.data() + stride
        cdef double* value = both + stride
        cdef double* ahead = value + stride
        cdef double total
        for a in range(p.n_states):
            both[a] = rest[a] + self.message[place * stride + a]
        total = normalise(both, p.n_states, self.sums.data())
        for a in range(stride):
            value[a] = ahead[a] = -INFINITY
        for a in range(p.n_states):
            value[a] = self.value[place * stride + a] if child_first else rest[a]
            ahead[a] = rest[a] if child_first else self.value[place * stride + a]
        add_pairs(value, self.table(p, e, True), ahead, p.n_states, total, out)

    cdef double infer(
        self, const Potentials* p, double* marginals, double* pairs
    ) except? -1 nogil:
        cdef Py_ssize_t i, k, stride
        cdef double total = 0.0
        cdef double* row
        self.reserve(p)
        stride = self.stride
        self.beyond.resize(p.n_nodes * stride)
        self.sums.refill(4 * stride, 0.0)
        self.ascend(p)
        for i in range(p.n_nodes):
            if self.forest.parent[i] < 0:
                total += normalise(&self.value[i * stride], p.n_states, self.sums.data())
        if total == -INFINITY:
            return total
        self.pairs = pairs
        self.descend(p)
        self.pairs = NULL
        row = self.sums.data() + stride
        for i in range(p.n_nodes):
            for k in range(p.n_states):
                row[k] = self.value[i * stride + k] + self.beyond[i * stride + k]
            normalise(row, p.n_states, marginals + self.forest.order[i] * stride)
        return total

    cdef void sample(
        self, const Potentials* p, const double* uniform, int32_t* labels
    ) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef int32_t parent, node
        cdef double* weight = self.sums.data()
        cdef double* value = weight + self.stride
        for i in range(p.n_nodes):
            parent, node = self.forest.parent[i], self.forest.order[i]
            for k in range(p.n_states):
                value[k] = self.value[i * self.stride + k]
                if parent >= 0:
                    value[k] += edge_score(
                        p, self.forest.edge[i], node, <int32_t>k,
                        labels[self.forest.order[parent]]
                    )
            normalise(value, p.n_states, weight)
            labels[node] = <int32_t>draw_state(weight, p.n_states, uniform[node])


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
    check_switch(return_pairs, "return_pairs")
    cdef GraphPotentials potentials = GraphPotentials(nodes, edges, pairwise, forbids=True)
    cdef TreeSumProduct oracle = TreeSumProduct()
    cdef Py_ssize_t n_nodes = potentials.struct_.n_nodes, n_states = potentials.struct_.n_states
    cdef Py_ssize_t n_edges = potentials.struct_.n_edges, stride = padded(n_states)
    marginals, pairs = np.empty((n_nodes, stride)), None
    cdef double[:, ::1] out = marginals
    cdef double[:, ::1] pair_rows
    cdef double* pair_out = NULL
    cdef double log_partition
    if return_pairs:
        pairs = np.zeros((max(n_edges, 1) * n_states, stride))
        pair_rows = pairs
        pair_out = &pair_rows[0, 0]
    with nogil:
        log_partition = oracle.infer(&potentials.struct_, &out[0, 0], pair_out)
    check_allowed(log_partition > -INFINITY, n_nodes)
    marginals = marginals[:, :n_states].copy()
    if not return_pairs:
        return log_partition, marginals
    pairs = pairs[: n_edges * n_states, :n_states].reshape(n_edges, n_states, n_states)
    return log_partition, marginals, pairs.copy()


cdef class TreeKBest:
    """The k best labellings of trees (Huang and Chiang 2005, algorithm 3).

    Parameters
    ----------
    k : int
        Number of labellings, at least 1.
    """

    def __cinit__(self, Py_ssize_t k):
        self.k = k
        self.sums = TreeMaxSum()

    cdef Py_ssize_t decode(self, const Potentials* p, int32_t* labels, double* out) except -1:
        cdef Py_ssize_t found, i, k, size = p.n_nodes * p.n_states, stride = padded(p.n_states)
        cdef TreeLists[Potentials] programme
        cdef const double* before
        cdef double* message
        cdef const Topology* forest
        cdef int32_t parent, root = -1
        self.sums.reserve(p)
        forest = self.sums.forest
        self.sums.ascend(p)
        self.first_child.refill(p.n_nodes, -1)
        self.sibling.refill(p.n_nodes, -1)
        self.sums.beyond.refill((p.n_nodes + 1) * stride, 0.0)
        for i in range(p.n_nodes - 1, -1, -1):
            parent, message = forest.parent[i], &self.sums.message[i * stride]
            if parent < 0:  # the node above has one state, and a potential of zero
                message[0] = self.sums.value[
                    i * stride + first_largest(&self.sums.value[i * stride], p.n_states)
                ]
                before = &self.sums.beyond[p.n_nodes * stride]
                self.sibling[i], root = root, <int32_t>i
            else:
                before = p.node + forest.order[parent] * p.stride
                self.sibling[i], self.first_child[parent] = self.first_child[parent], <int32_t>i
            if self.sibling[i] >= 0:
                before = &self.sums.beyond[self.sibling[i] * stride]
            # in the order of max-sum, so that the sums are the same to the last bit
            for k in range(1 if parent < 0 else p.n_states):
                self.sums.beyond[i * stride + k] = before[k] + message[k]
        programme.p, programme.edge_score = p, edge_score
        programme.order = forest.order.data()
        programme.parent = forest.parent.data()
        programme.edge = forest.edge.data()
        programme.first_child = self.first_child.data()
        programme.sibling, programme.row = self.sibling.data(), self.sums.row.data()
        programme.value, programme.joined = self.sums.value.data(), self.sums.beyond.data()
        with nogil:
            found = self.lists.decode(
                programme, 3 * size + 1, size, self.k, p.n_nodes, labels, out
            )
        return found


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
    cdef TreeKBest best = TreeKBest(k)
    found = best.decode(&potentials.struct_, &labels_out[0, 0], &scores_out[0])
    check_allowed(found, n_nodes)
    return labels[:found].copy(), scores[:found].copy()
