"""Sum-product on trees and forests: probabilities of the labellings of graphs without cycles."""

import numpy as np

from sskit.oracles.gate import check_switch

from libc.math cimport INFINITY, exp, log1p
from libc.stdint cimport int32_t

from sskit.core.lanes cimport padded
from sskit.oracles.chain.sum_product cimport add_pairs, log_sum_step, normalise
from sskit.oracles.graph.potentials cimport GraphOracle, GraphPotentials, Potentials
from sskit.oracles.tree.max_sum cimport edge_score


cdef class TreeSumProduct(TreeMaxSum):
    """Sum-product on forests; its memory grows with the graphs."""

    cpdef GraphOracle fork(self):
        return TreeSumProduct()

    cdef void send(
        self, const Potentials* p, Py_ssize_t place, bint down, const double* from_, double* out
    ) noexcept nogil:
        cdef Py_ssize_t e = self.forest.edge[place]
        cdef bint forward = (p.ends[2 * e] == self.forest.order[place]) != down
        if down and self.pairs != NULL:
            self.add_edge(p, place, from_)
        if p.potts:
            send_potts(from_, p.n_states, p.pair[e * p.width], self.sums.data(), out)
            return
        log_sum_step(from_, self.table(p, e, forward), p.n_states, self.sums.data(), out)

    cdef void add_edge(
        self, const Potentials* p, Py_ssize_t place, const double* rest
    ) noexcept nogil:
        """Add the probabilities of an edge; rest is what a parent has from all but this child."""
        cdef Py_ssize_t e = self.forest.edge[place], stride = self.stride, a, b
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
        if not p.potts:
            add_pairs(value, self.table(p, e, True), ahead, p.n_states, total, out)
            return
        for a in range(p.n_states):
            for b in range(p.n_states):
                out[a * stride + b] += exp(
                    value[a] + ahead[b] - total + (p.pair[e * p.width] if a == b else 0.0)
                )

    cdef double infer(
        self, const Potentials* p, double* marginals, double* pairs
    ) except? -1 nogil:
        cdef Py_ssize_t i, k, stride
        cdef double total = 0.0, best
        cdef double* row
        self.reserve(p)
        stride = self.stride
        self.beyond.resize(p.n_nodes * stride)
        self.sums.refill(4 * stride, 0.0)
        self.ascend(p)
        for i in range(p.n_nodes):
            if self.forest.parent[i] < 0:
                best = -INFINITY
                for k in range(p.n_states):
                    best = max(best, self.value[i * stride + k])
                if best == -INFINITY:
                    return best
                total += normalise(&self.value[i * stride], p.n_states, self.sums.data())
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
        cdef double rest
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
            labels[node] = 0
            normalise(value, p.n_states, weight)
            rest = uniform[node]
            for k in range(p.n_states):
                if weight[k] > 0.0:
                    labels[node] = <int32_t>k  # the last one possible, should sums be rounded
                    rest -= weight[k]
                    if rest < 0.0:
                        break


cdef void send_potts(
    const double* value, Py_ssize_t n_states, double pair, double* behind, double* out
) noexcept nogil:
    """Send a message over an edge whose potential counts where its two states agree."""
    cdef Py_ssize_t k
    cdef double before = -INFINITY
    # the sum over all others is that of those behind and those before: nothing is subtracted
    behind[n_states - 1] = -INFINITY
    for k in range(n_states - 1, 0, -1):
        behind[k - 1] = log_add(behind[k], value[k])
    for k in range(n_states):
        out[k] = log_add(log_add(before, behind[k]), value[k] + pair)
        before = log_add(before, value[k])


cdef inline double log_add(double a, double b) noexcept nogil:
    """log(exp(a) + exp(b))"""
    cdef double top = max(a, b)
    return top if top == -INFINITY else top + log1p(exp(min(a, b) - top))


def tree_marginals(nodes, edges=None, pairwise=None, *, return_pairs=False):
    """Compute the marginal probabilities of a tree, or of several trees.

    A labelling has the probability ``exp(score) / Z``; its score is ``sum_v nodes[v, y_v] +
    sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``, and Z makes the probabilities of all
    labellings sum to one. Exact up to rounding; O(n_nodes n_states^2), and O(n_nodes n_states)
    for Potts potentials without `return_pairs`.

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
    if log_partition == -INFINITY:
        raise ValueError(f"no labelling of {n_nodes} nodes is allowed by the potentials")
    marginals = marginals[:, :n_states].copy()
    if not return_pairs:
        return log_partition, marginals
    pairs = pairs[: n_edges * n_states, :n_states].reshape(n_edges, n_states, n_states)
    return log_partition, marginals, pairs.copy()
