"""Max-sum on trees and forests: exact maximisation over the labellings of graphs without cycles."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from sskit.core.lanes cimport padded
from sskit.oracles.tree.forest cimport Forest
from sskit.oracles.graph.potentials cimport (
    GraphOracle, GraphPotentials, Potentials, labelling_score, pair_score, table_of
)
from sskit.oracles.chain.viterbi cimport viterbi_step


cdef class TreeMaxSum(GraphOracle):
    """Max-sum on forests; its memory grows with the graphs."""

    def __cinit__(self):
        self.exact = self.lock_free = True
        self.forest = Forest()

    cpdef GraphOracle fork(self):
        return TreeMaxSum()

    cdef int reserve(self, const Potentials* p) except -1 nogil:
        self.forest.arrange(p.n_nodes, p.n_edges, p.ends)
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
        cdef Py_ssize_t e = self.forest.edge[place], a, first, second
        cdef bint forward = (p.ends[2 * e] == self.forest.order[place]) != down
        cdef double pair
        if p.potts:
            # for each state the best other one is the best or, for that one itself, the second
            first, second = 0, -1
            for a in range(1, p.n_states):
                if from_[a] > from_[first]:
                    first, second = a, first
                elif second < 0 or from_[a] > from_[second]:
                    second = a
            pair = p.pair[e * p.width]
            for a in range(p.n_states):
                out[a] = from_[first] if a != first else (
                    from_[second] if second >= 0 else -INFINITY
                )
                out[a] = max(out[a], from_[a] + pair)
            return
        viterbi_step(from_, self.table(p, e, forward), p.n_states, &self.row[self.stride], out)

    cdef const double* table(self, const Potentials* p, Py_ssize_t e, bint forward) noexcept nogil:
        cdef Py_ssize_t a, b, k, stride = self.stride, place = 0
        cdef const double* pair = p.pair + table_of(p, e) * p.width
        cdef double* table
        if self.ready.size() > 0:
            place = 2 * table_of(p, e) + forward
            if self.ready[place]:
                return &self.tables[place * p.n_states * stride]
            self.ready[place] = True
        table = &self.tables[place * p.n_states * stride]
        for a in range(p.n_states):
            for b in range(p.n_states):
                k = a * p.n_states + b if forward else b * p.n_states + a
                table[a * stride + b] = p.factor[k] * pair[p.column[k]]
        return table

    cdef int marginals(self, const Potentials* p, double* out) except -1 nogil:
        cdef Py_ssize_t i, k, stride, n_impossible = 0
        cdef double best = -INFINITY, total = 0.0, others = 0.0
        cdef const double* value
        cdef double* row
        self.reserve(p)
        stride = self.stride
        self.beyond.resize(p.n_nodes * stride)
        self.bests.resize(p.n_nodes)
        self.ascend(p)
        self.descend(p)
        for i in range(p.n_nodes):
            if self.forest.parent[i] < 0:
                value = &self.value[i * stride]
                best = value[0]
                for k in range(1, p.n_states):
                    best = max(best, value[k])
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
            row = out + self.forest.order[i] * p.n_states
            for k in range(p.n_states):
                row[k] = self.value[i * stride + k] + self.beyond[i * stride + k] + others
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
    O(n_nodes n_states^2), and O(n_nodes n_states) for Potts potentials.

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
    if score == -np.inf:
        raise ValueError(f"no labelling of {len(labels)} nodes is allowed by the potentials")
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
        oracle.marginals(&potentials.struct_, &out[0, 0])
    return scores
