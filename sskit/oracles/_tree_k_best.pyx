"""The k best labellings of trees: max-sum with lists in place of numbers."""

import numpy as np

from sskit.oracles._k_best import check_count

from libc.math cimport INFINITY
from libcpp.algorithm cimport partial_sort

from sskit.oracles._potentials cimport GraphPotentials
from sskit.oracles._tree cimport edge_score


cdef class TreeKBest:
    """The k best labellings of trees (Nilsson and Goldberger 2001, eager form).

    Parameters
    ----------
    k : int
        Number of labellings, at least 1.
    """

    def __init__(self, Py_ssize_t k):
        self.k = k
        self.forest = Forest()

    cdef Py_ssize_t decode(self, const Potentials* p, int32_t* labels, double* out) except -1:
        cdef Py_ssize_t i, j, n_states = p.n_states, found
        cdef int32_t parent, a
        cdef vector[int32_t] ranks
        self.forest.arrange(p.n_nodes, p.n_edges, p.ends)
        self.scores.resize(p.n_nodes * n_states)
        self.joined.resize(p.n_nodes * n_states)
        self.total.resize(1)
        ranks.resize(p.n_nodes)
        with nogil:
            self.total[0].assign(1, 0.0)
            for i in range(p.n_nodes):
                for a in range(n_states):
                    self.scores[i * n_states + a].assign(
                        1, p.node[self.forest.order[i] * p.stride + a]
                    )
            for i in range(p.n_nodes - 1, -1, -1):
                parent = self.forest.parent[i]
                if parent < 0:
                    self.join(p, i, 0, self.total[0])
                    continue
                for a in range(n_states):
                    self.join(p, i, a, self.scores[parent * n_states + a])
            found = self.total[0].size()
            for j in range(found):
                out[j] = self.total[0][j]
                self.trace(p, j, labels + j * p.n_nodes, ranks.data())
        return found

    cdef int join(
        self, const Potentials* p, Py_ssize_t place, int32_t state, vector[double]& into
    ) except -1 nogil:
        cdef Py_ssize_t n_states = p.n_states, b, r, i, j
        cdef int32_t e = self.forest.edge[place], node = self.forest.order[place]
        cdef double score
        cdef Joined entry
        cdef vector[Joined]* joined = &self.joined[place * n_states + state]
        # codes break ties: smaller states and earlier labellings come first
        self.waiting.clear()
        for b in range(n_states):
            score = 0.0 if e < 0 else edge_score(p, e, node, <int32_t>b, state)
            for r in range(<Py_ssize_t>self.scores[place * n_states + b].size()):
                if self.scores[place * n_states + b][r] + score > -INFINITY:
                    self.waiting.push_back(pair[double, int64_t](
                        -(self.scores[place * n_states + b][r] + score), b * self.k + r
                    ))
        r = min(self.k, <Py_ssize_t>self.waiting.size())
        partial_sort(self.waiting.begin(), self.waiting.begin() + r, self.waiting.end())
        self.heads.assign(self.waiting.begin(), self.waiting.begin() + r)
        # the k best sums have places i, j in the two lists with (i + 1) (j + 1) <= k
        self.waiting.clear()
        for i in range(<Py_ssize_t>into.size()):
            for j in range(min(<Py_ssize_t>self.heads.size(), self.k // (i + 1))):
                if into[i] > -INFINITY:
                    self.waiting.push_back(
                        pair[double, int64_t](self.heads[j].first - into[i], i * self.k + j)
                    )
        r = min(self.k, <Py_ssize_t>self.waiting.size())
        partial_sort(self.waiting.begin(), self.waiting.begin() + r, self.waiting.end())
        joined.clear()
        self.merged.clear()
        for i in range(r):
            j = self.waiting[i].second % self.k
            entry.score = -self.waiting[i].first
            entry.before = <int32_t>(self.waiting[i].second // self.k)
            entry.state = <int32_t>(self.heads[j].second // self.k)
            entry.rank = <int32_t>(self.heads[j].second % self.k)
            joined.push_back(entry)
            self.merged.push_back(entry.score)
        into.swap(self.merged)
        return 0

    cdef void trace(
        self, const Potentials* p, Py_ssize_t rank, int32_t* labels, int32_t* ranks
    ) noexcept nogil:
        """Write a labelling; ranks (n_nodes,) is scratch, by place."""
        cdef Py_ssize_t i, n_states = p.n_states
        cdef int32_t parent, state
        cdef int32_t above = <int32_t>rank
        cdef const Joined* entry
        # Children were joined from the last place to the first: so they are undone forwards, and
        # a place's rank is that of the labelling up to its next child.
        for i in range(p.n_nodes):
            parent = self.forest.parent[i]
            if parent < 0:
                entry = &self.joined[i * n_states][above]
                above = entry.before
            else:
                state = labels[self.forest.order[parent]]
                entry = &self.joined[i * n_states + state][ranks[parent]]
                ranks[parent] = entry.before
            labels[self.forest.order[i]] = entry.state
            ranks[i] = entry.rank


def tree_top_k(nodes, edges=None, pairwise=None, *, k):
    """Find the k best labellings of a tree, or of several trees.

    The score of a labelling is ``sum_v nodes[v, y_v] + sum_e pairwise[e, y_u, y_v]`` with ``(u,
    v) = edges[e]``. Exact; O(n_nodes (n_states^2 k + n_states k log k)).

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
    Nilsson and Goldberger (2001). Sequentially finding the N-best list in hidden Markov models.
    IJCAI.

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
    k = check_count(k, "k")
    cdef Py_ssize_t n_nodes = potentials.struct_.n_nodes
    n_states = int(potentials.struct_.n_states)
    # more than there are cost memory only; n_states^n_nodes itself may be astronomical
    k = min(k, n_states ** min(int(n_nodes), k.bit_length()))
    labels = np.empty((k, n_nodes), dtype=np.int32)
    scores = np.empty(k)
    cdef int32_t[:, ::1] labels_out = labels
    cdef double[::1] scores_out = scores
    cdef TreeKBest best = TreeKBest(k)
    found = best.decode(&potentials.struct_, &labels_out[0, 0], &scores_out[0])
    if found == 0:
        raise ValueError(f"no labelling of {n_nodes} nodes is allowed by the potentials")
    return labels[:found].copy(), scores[:found].copy()
