"""Sum-product on chains: probabilities by the forward-backward algorithm (Rabiner 1989)."""

import numpy as np

from sskit.oracles.gate import check_allowed, check_chain_tables, check_switch, padded_rows

from libc.math cimport INFINITY, isnan
from libc.string cimport memcpy

from sskit.core.lanes cimport padded
from sskit.oracles.chain.viterbi cimport Chain, transpose_padded

cdef extern from "sum_product.hpp" namespace "sskit":
    double exp_table(
        const double* table, Py_ssize_t n, double* out, double* lowest, bint* forbids
    ) noexcept nogil
    double scaled_step(
        const double* node, const double* previous, const double* table, Py_ssize_t n,
        bint careful, double* factor, double* alpha
    ) noexcept nogil
    bint scaled_back(
        const double* ahead, const double* table, const double* transposed, Py_ssize_t n,
        bint careful, double* beta
    ) noexcept nogil
    double scaled_marginals(
        const double* alpha, const double* beta, Py_ssize_t n, double* factor, double* marginal
    ) noexcept nogil
    void scaled_pairs(
        const double* alpha, const double* table, const double* ahead, Py_ssize_t n,
        double scale, double* pairs
    ) noexcept nogil
    double log_forward(const Chain& chain, double* value, double* row) noexcept nogil
    void log_backward(
        const Chain& chain, const double* value, double* turned, double* scratch,
        double* marginals, double* pairs, Py_ssize_t step
    ) noexcept nogil

# How far transitions may differ before logarithms are taken.
cdef double WIDEST = -100.0


cdef class SumProduct:
    """The sum-product algorithm on chains; its memory grows with them."""

    cdef int begin(self, Py_ssize_t n_states, const double* pair, bint shared) except -1 nogil:
        self.n_states, self.stride = n_states, padded(n_states)
        self.pair, self.shared = pair, shared
        self.table.resize(n_states * self.stride)
        self.transposed.resize(n_states * self.stride)
        self.row.refill(4 * self.stride, 0.0)
        self.shift = self.lowest = 0.0
        self.forbids = False
        if shared:
            self.shift = exp_table(
                pair, n_states, self.table.data(), &self.lowest, &self.forbids
            )
            transpose_padded(self.table.data(), n_states, self.transposed.data())
        return 0

    cdef const double* table_at(self, Py_ssize_t t) noexcept nogil:
        return self.pair if self.shared else self.pair + t * self.n_states * self.stride

    cdef double forward(self, const double* node, Py_ssize_t n_nodes) except? -1 nogil:
        cdef Py_ssize_t stride = self.stride, t
        cdef double total = 0.0, scale
        cdef const double* previous = NULL
        self.factor.resize(n_nodes * stride)
        self.alpha.resize(n_nodes * stride)
        self.logs = self.shared and self.lowest < WIDEST
        for t in range(n_nodes):
            if self.logs:
                break
            if t > 0 and not self.shared:
                self.shift = exp_table(
                    self.table_at(t - 1), self.n_states, self.table.data(), &self.lowest,
                    &self.forbids
                )
                if self.lowest < WIDEST:
                    self.logs = True
                    break
            scale = scaled_step(
                node + t * stride, previous, self.table.data(), self.n_states,
                # numbers that a table without zeros brings back from afar may have been lost by
                # one with zeros: where each has its own all are watched
                self.forbids or not self.shared, &self.factor[t * stride],
                &self.alpha[t * stride]
            )
            if isnan(scale):
                self.logs = True
                break
            if scale == -INFINITY:
                return scale
            total += scale + (self.shift if t > 0 else 0.0)
            previous = &self.alpha[t * stride]
        if self.logs:
            return log_forward(
                self.chain(node, n_nodes), self.alpha.data(), self.row.data()
            )
        return total

    cdef Chain chain(self, const double* node, Py_ssize_t n_nodes) noexcept nogil:
        cdef Py_ssize_t apart = 0 if self.shared else self.n_states * self.stride
        return Chain(node, self.pair, NULL, n_nodes, self.n_states, self.stride, apart)

    cdef int backward(
        self, const double* node, Py_ssize_t n_nodes, double* marginals, double* pairs,
        Py_ssize_t step
    ) except -1 nogil:
        cdef Py_ssize_t stride = self.stride, t, k
        cdef double* beta = self.row.data()
        cdef const double* transposed = self.transposed.data() if self.shared else NULL
        cdef bint careful = self.forbids or not self.shared
        self.scale.resize(n_nodes)
        for k in range(stride):
            beta[k] = 1.0
        for t in range(n_nodes - 1, -1, -1):
            if self.logs:
                break
            if t < n_nodes - 1:
                self.make_table(t)
                self.logs = scaled_back(
                    &self.factor[(t + 1) * stride], self.table.data(), transposed,
                    self.n_states, careful, beta
                )
                if self.logs:
                    log_forward(self.chain(node, n_nodes), self.alpha.data(), self.row.data())
                    break
            self.scale[t] = scaled_marginals(
                &self.alpha[t * stride], beta, self.n_states, &self.factor[t * stride],
                marginals + t * stride
            )
        if self.logs:
            self.turned.resize(self.n_states * stride)
            log_backward(
                self.chain(node, n_nodes), self.alpha.data(), self.turned.data(), self.row.data(),
                marginals, pairs, step
            )
        elif pairs != NULL:
            for t in range(n_nodes - 1):
                self.make_table(t)
                scaled_pairs(
                    &self.alpha[t * stride], self.table.data(), &self.factor[(t + 1) * stride],
                    self.n_states, self.scale[t], pairs + t * step
                )
        return 0

    cdef void make_table(self, Py_ssize_t t) noexcept nogil:
        if not self.shared:
            self.shift = exp_table(
                self.table_at(t), self.n_states, self.table.data(), &self.lowest, &self.forbids
            )

    cdef void sample(
        self, Py_ssize_t n_nodes, const double* uniform, int32_t* labels
    ) noexcept nogil:
        cdef Py_ssize_t stride = self.stride, t, k, K = self.n_states
        cdef double* weight = self.row.data()
        cdef double* value = weight + stride
        for t in range(n_nodes - 1, -1, -1):
            memcpy(value, &self.alpha[t * stride], stride * sizeof(double))
            if t < n_nodes - 1:
                self.make_table(t)
                for k in range(K):
                    if self.logs:
                        value[k] += self.table_at(t)[k * stride + labels[t + 1]]
                    else:
                        value[k] *= self.table[k * stride + labels[t + 1]]
            if self.logs:
                normalise(value, K, weight)
            labels[t] = <int32_t>draw_state(weight if self.logs else value, K, uniform[t])


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
    cdef SumProduct oracle = SumProduct()
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
