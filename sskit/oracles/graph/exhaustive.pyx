"""Exhaustive enumeration: exact maximisation over the labellings of any small graph."""

import numpy as np

from sskit.oracles.gate import check_count, check_truth, padded_rows
from sskit._numbers import as_array, as_floats

from libc.math cimport INFINITY
from libc.string cimport memcpy
from libcpp.algorithm cimport pop_heap, push_heap, sort_heap

from sskit.core.lanes cimport padded

# places in lexicographic order are int64
_MOST_LABELLINGS = 2**62


cdef class Enumeration:
    """All labellings of small graphs, depth first.

    Parameters
    ----------
    n_states : int
        Number of states.
    k : int
        Number of labellings to find, at least 1.
    """

    def __cinit__(self, Py_ssize_t n_states, Py_ssize_t k):
        self.set_states(n_states)
        self.k = k
        self.best.reserve(k)

    cdef void set_states(self, Py_ssize_t n_states) noexcept nogil:
        self.n_states, self.stride = n_states, padded(n_states)

    cdef Py_ssize_t decode(
        self, const double* node, Py_ssize_t n_nodes, const EarlierEdges* edges,
        const int32_t* truth, const double* cost, double loss_weight, int32_t* labels,
        double* scores
    ) except -1 nogil:
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, v, k, m, found
        cdef double* base
        cdef const double* gain
        cdef double score, worst = -INFINITY
        cdef int64_t place
        self.gain.resize((edges.first[n_nodes] + n_nodes) * stride)
        self.changed.resize(n_nodes + 1)
        self.prefix.resize(n_nodes)
        self.state.resize(n_nodes)
        for v in range(n_nodes):
            base = &self.gain[(edges.first[v] + v) * stride]
            memcpy(base, node + v * stride, stride * sizeof(double))
            if truth != NULL:
                for k in range(n_states):
                    base[k] += loss_weight * cost[v] * (k != truth[v])
            self.state[v] = -1
            self.changed[v] = 0
        self.changed[n_nodes] = 0
        self.best.clear()
        self.prefix[0] = 0.0
        gain = self.enter(0, edges)
        v = 0
        while v >= 0:
            if v == n_nodes - 1:
                for k in range(n_states):
                    score = self.prefix[v] + gain[k]
                    if score > worst:
                        self.state[v] = <int32_t>k
                        worst = self.offer(score, n_nodes)
                self.state[v] = <int32_t>(n_states - 1)
            self.state[v] += 1
            if self.state[v] == n_states:
                self.state[v] = -1
                v -= 1
                continue
            self.changed[v + 1] = min(self.changed[v + 1], <int32_t>v)
            score = self.prefix[v]
            score += self.gain[(edges.first[v + 1] + v) * stride + self.state[v]]
            if score > -INFINITY:
                v += 1
                self.prefix[v] = score
                gain = self.enter(v, edges)
        found = self.best.size()
        sort_heap(self.best.begin(), self.best.end())
        for m in range(found):
            scores[m] = -self.best[m].first
            place = self.best[m].second
            for v in range(n_nodes - 1, -1, -1):
                labels[m * n_nodes + v] = <int32_t>(place % n_states)
                place //= n_states
        return found

    cdef const double* enter(self, Py_ssize_t v, const EarlierEdges* edges) noexcept nogil:
        """Return the gains of the states of node v, given the states of the nodes before it."""
        cdef Py_ssize_t n_states = self.n_states, stride = self.stride, k, e
        cdef int32_t changed = self.changed[v]
        cdef double* gain
        cdef const double* row
        e = edges.first[v + 1]
        gain = &self.gain[(e + v) * stride]
        while e > edges.first[v] and edges.earlier[e - 1] >= changed:
            e -= 1
            gain -= stride
        while e < edges.first[v + 1]:
            row = edges.table + (e * n_states + self.state[edges.earlier[e]]) * stride
            for k in range(n_states):
                gain[stride + k] = gain[k] + row[k]
            e += 1
            gain += stride
        # what is new to this node is new to the next one too
        self.changed[v + 1] = min(self.changed[v + 1], changed)
        self.changed[v] = <int32_t>v
        return gain

    cdef double offer(self, double score, Py_ssize_t n_nodes) except? -1 nogil:
        """Take in the current labelling; return the score that another has to exceed."""
        cdef int64_t place = 0
        cdef Py_ssize_t v
        for v in range(n_nodes):
            place = place * self.n_states + self.state[v]
        if <Py_ssize_t>self.best.size() == self.k:
            pop_heap(self.best.begin(), self.best.end())
            self.best.pop_back()
        self.best.push_back(pair[double, int64_t](-score, place))
        push_heap(self.best.begin(), self.best.end())
        return -self.best.front().first if <Py_ssize_t>self.best.size() == self.k else -INFINITY


def check_potentials(table, name):
    """Return potentials as a float64 array, checked to hold numbers and -inf only."""
    table = as_floats(table, name)
    wrong = np.argwhere(np.isnan(table) | (table == np.inf))
    if len(wrong):
        entry = tuple(wrong[0].tolist())
        raise ValueError(
            f"{name}[{', '.join(map(str, entry))}] is {table[entry]}, expected a number or -inf"
        )
    return table


def check_edges(edges, pairwise, n_nodes, n_states):
    """Return edges as int64 (n_edges, 2) and a table for each or for all, checked."""
    if (edges is None) != (pairwise is None):
        missing = "edges" if edges is None else "pairwise"
        raise ValueError(f"edges and pairwise go together, but {missing} is None")
    if edges is None:
        return np.zeros((0, 2), dtype=np.int64), np.zeros((n_states, n_states))
    edges = as_array(edges, "edges")
    if edges.shape in ((0,), (0, 2)):
        edges = np.zeros((0, 2), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError(
            "edges must be integers of shape (n_edges, 2), got shape "
            f"{edges.shape} and dtype {edges.dtype}"
        )
    wrong = np.flatnonzero(((edges < 0) | (edges >= n_nodes)).any(axis=1))
    if len(wrong):
        u, v = edges[wrong[0]]
        raise ValueError(
            f"edges[{wrong[0]}] is ({u}, {v}), expected nodes from 0 to {n_nodes - 1}"
        )
    wrong = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if len(wrong):
        raise ValueError(f"edges[{wrong[0]}] joins node {edges[wrong[0], 0]} to itself")
    pairwise = check_potentials(pairwise, "pairwise")
    shapes = (n_states, n_states), (len(edges), n_states, n_states)
    if pairwise.shape not in shapes:
        raise ValueError(
            f"pairwise must have shape {shapes[0]} or {shapes[1]} to go with {len(edges)} edges "
            f"and {n_states} states, got {pairwise.shape}"
        )
    return edges.astype(np.int64), pairwise


def earlier_edges(edges, pairwise, n_nodes, n_states):
    """Return edges as EarlierEdges wants them: first, earlier, table."""
    order = np.lexsort((edges.min(axis=1), edges.max(axis=1)))
    table = np.zeros((max(len(edges), 1), n_states, padded(n_states)))
    table[: len(edges), :, :n_states] = pairwise
    backward = edges[:, 0] > edges[:, 1]
    inner = table[: len(edges), :, :n_states]
    inner[backward] = inner[backward].transpose(0, 2, 1)
    table[: len(edges)] = table[order]
    earlier = np.zeros(max(len(edges), 1), dtype=np.int32)
    earlier[: len(edges)] = edges.min(axis=1)[order]
    first = np.searchsorted(edges.max(axis=1)[order], np.arange(n_nodes + 1))
    return first.astype(np.int64), earlier, table


def exhaustive(nodes, edges=None, pairwise=None, *, truth=None, cost=1.0, top_k=1,
               max_labellings=2**22):
    """Find the best labellings of a graph by trying all of them.

    Maximises ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u, v) = edges[e]``,
    plus, if `truth` is given, the loss ``sum_v cost_v [y_v != truth_v]``. Exact for any graph,
    but the time grows with the number of labellings, n_states^n_nodes, except for those that
    ``-inf`` rules out early. Meant for small structures, and for checking other oracles.

    Parameters
    ----------
    nodes : array-like of shape (n_nodes, n_states)
        Potentials of the nodes. ``-inf`` forbids a state.
    edges : array-like of int of shape (n_edges, 2), default=None
        The two nodes of each edge. Edges between the same two nodes add up. None means no edges.
    pairwise : array-like, (n_edges, n_states, n_states) or (n_states, n_states), default=None
        Potentials of the edges, from the state of the first node of the edge to that of the
        second; one table serves all edges. ``-inf`` forbids a pair.
    truth : array-like of shape (n_nodes,), default=None
        True states; None means no loss.
    cost : float or array-like of shape (n_nodes,), default=1.0
        Loss of a wrong state at each node, non-negative.
    top_k : int, default=1
        Number of labellings to find.
    max_labellings : int, default=2**22
        Refuse larger problems than this.

    Returns
    -------
    labels : ndarray of shape (n_nodes,) or, if top_k > 1, (m, n_nodes), int32
        A maximiser, or the m best labellings, best first; m is `top_k`, or the number of all
        allowed labellings if that is smaller. Of several with one score the lexicographically
        first comes first.
    score : float or, if top_k > 1, ndarray of shape (m,)
        The maximum, or the scores of the labellings.

    Raises
    ------
    ValueError
        If shapes do not match, a potential is NaN or +inf, an edge has a node that does not
        exist or joins a node to itself, a true state is out of range, a cost is negative, a
        number is not a positive integer, there are more than `max_labellings` labellings or
        none is allowed.

    References
    ----------
    Knuth (2011). The Art of Computer Programming 4A, section 7.2.1.1: generating all n-tuples.

    Examples
    --------
    >>> from sskit.oracles import exhaustive
    >>> triangle = [[0, 1], [1, 2], [2, 0]]
    >>> differ = [[-1, 0], [0, -1]]
    >>> exhaustive([[0, 0.5], [0, 0.25], [0, 0]], triangle, differ)
    (array([1, 1, 0], dtype=int32), -0.25)
    >>> labels, scores = exhaustive([[0, 0.5], [0, 0.25], [0, 0]], triangle, differ, top_k=2)
    >>> labels
    array([[1, 1, 0],
           [1, 0, 0]], dtype=int32)
    """
    nodes = check_potentials(nodes, "nodes")
    if nodes.ndim != 2 or 0 in nodes.shape:
        raise ValueError(
            f"nodes must have shape (n_nodes, n_states), both at least 1, got {nodes.shape}"
        )
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_states = nodes.shape[1], found
    edges, pairwise = check_edges(edges, pairwise, n_nodes, n_states)
    truth, cost = check_truth(truth, cost, n_nodes, n_states)
    top_k = check_count(top_k, "top_k")
    limit = check_count(max_labellings, "max_labellings", _MOST_LABELLINGS)
    n_labellings = int(n_states) ** min(int(n_nodes), 63)  # exact up to 2^62
    if n_labellings > limit:
        raise ValueError(
            f"{n_nodes} nodes with {n_states} states have {n_states}^{n_nodes} labellings, "
            f"more than max_labellings={limit}"
        )
    size = min(top_k, n_labellings)
    cdef Enumeration enumeration = Enumeration(n_states, size)
    first, earlier, table = earlier_edges(edges, pairwise, n_nodes, n_states)
    cdef const int64_t[::1] first_edges = first
    cdef const int32_t[::1] earlier_nodes = earlier
    cdef const double[:, :, ::1] tables = table
    cdef EarlierEdges graph
    graph.first = &first_edges[0]
    graph.earlier = &earlier_nodes[0]
    graph.table = &tables[0, 0, 0]
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const int32_t[::1] true_states = truth
    cdef const double[::1] costs = cost
    cdef const int32_t* true_state = NULL
    if truth is not None:
        true_state = &true_states[0]
    labels = np.empty((size, n_nodes), dtype=np.int32)
    scores = np.empty(size)
    cdef int32_t[:, ::1] labels_out = labels
    cdef double[::1] scores_out = scores
    with nogil:
        found = enumeration.decode(
            &node_rows[0, 0], n_nodes, &graph, true_state, &costs[0], 1.0, &labels_out[0, 0],
            &scores_out[0]
        )
    if found == 0:
        raise ValueError(f"no labelling of {n_nodes} nodes is allowed by the potentials")
    if top_k == 1:
        return labels[0], float(scores[0])
    return labels[:found].copy(), scores[:found].copy()
