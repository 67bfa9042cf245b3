"""The k best labellings of trees: max-sum with lists in place of numbers, computed lazily."""

import numpy as np

from sskit.oracles.gate import check_count

from libc.math cimport INFINITY

from sskit.oracles.graph.potentials cimport GraphPotentials
from sskit.oracles.tree.max_sum cimport edge_score


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
        cdef Py_ssize_t found = 0, root
        cdef vector[int32_t] ranks
        self.begin(p)
        ranks.resize(p.n_nodes)
        with nogil:
            self.open(p, -1, 0)
            root = self.link_of[0]
            if self.joined[root][0].score == -INFINITY:
                return 0
            while True:
                out[found] = self.joined[root][found].score
                self.trace(p, found, labels + found * p.n_nodes, ranks.data())
                found += 1
                if found == self.k:
                    break
                self.grow(p, 2 * root)
                if <Py_ssize_t>self.joined[root].size() == found:
                    break
        return found

    cdef int begin(self, const Potentials* p) except -1:
        cdef Py_ssize_t i, k
        cdef double* top
        self.sums.reserve(p)
        self.sums.ascend(p)
        self.sums.forest.link(self.first_child, self.sibling)
        self.n_links = 0
        self.link_of.refill(p.n_nodes * p.n_states, -1)
        for i in range(p.n_nodes):
            if self.sums.forest.parent[i] < 0:  # a message to the node above, with its one state
                top = &self.sums.message[i * self.sums.stride]
                top[0] = self.sums.value[i * self.sums.stride]
                for k in range(1, p.n_states):
                    top[0] = max(top[0], self.sums.value[i * self.sums.stride + k])
        return 0

    cdef int open(self, const Potentials* p, Py_ssize_t place, int32_t state) except -1 nogil:
        cdef Py_ssize_t first = 0 if place < 0 else self.first_child[place], i, link, n = 0
        cdef double score = 0.0
        cdef Joined entry
        i = first
        while i >= 0:
            n += 1
            i = self.sibling[i]
        self.make_room(self.n_links + n)
        i = first
        for link in range(self.n_links, self.n_links + n):
            self.link_of[i * p.n_states + state] = <int32_t>link
            self.place_of[link], self.state_of[link] = <int32_t>i, state
            i = self.sibling[i]
        self.n_links += n
        if place >= 0:
            score = p.node[self.sums.forest.order[place] * p.stride + state]
        # in the order in which max-sum adds them, so that the sums are the same to the last bit
        for link in range(self.n_links - 1, self.n_links - n - 1, -1):
            score += self.sums.message[self.place_of[link] * self.sums.stride + state]
            entry.score, entry.before, entry.head = score, 0, 0
            self.joined[link].clear()
            self.joined[link].push_back(entry)
            self.heads[link].clear()
            self.candidates[link] = priority_queue[Candidate]()
            self.finished[2 * link] = self.finished[2 * link + 1] = False
        return 0

    cdef int make_room(self, Py_ssize_t n_links) except -1 nogil:
        """Let lists that earlier trees have left keep their memory."""
        if <Py_ssize_t>self.finished.size() < 2 * n_links:
            self.joined.resize(n_links)
            self.heads.resize(n_links)
            self.waiting.resize(n_links)
            self.candidates.resize(n_links)
            self.place_of.resize(n_links)
            self.state_of.resize(n_links)
            self.finished.resize(2 * n_links)   # last: it says whether all have grown
        return 0

    cdef int open_heads(self, const Potentials* p, Py_ssize_t link) except -1 nogil:
        self.waiting[link].clear()
        self.waiting[link].resize(p.n_states)
        self.take_head(p, link)
        return 0

    cdef Py_ssize_t subtree(
        self, const Potentials* p, Py_ssize_t place, int32_t state
    ) except -2 nogil:
        cdef Py_ssize_t child = self.first_child[place]
        if child < 0:
            return -1
        if self.link_of[child * p.n_states + state] < 0:
            self.open(p, place, state)
        return self.link_of[child * p.n_states + state]

    cdef int grow(self, const Potentials* p, Py_ssize_t list_) except -1 nogil:
        """Add an entry; a stack of its own, since trees may be deeper than that of calls."""
        cdef Py_ssize_t needed, link
        cdef bint more
        self.stack.clear()
        self.stack.push_back(<int32_t>list_)
        while self.stack.size() > 0:
            list_ = self.stack.back()
            link = list_ // 2
            needed = self.expand_heads(p, link) if list_ % 2 else self.expand_joined(p, link)
            if needed >= 0:
                self.stack.push_back(<int32_t>needed)
                continue
            more = self.take_head(p, link) if list_ % 2 else self.take_joined(link)
            self.finished[list_] = not more
            self.stack.pop_back()
        return 0

    cdef Py_ssize_t expand_heads(self, const Potentials* p, Py_ssize_t link) except -2 nogil:
        """Let the labelling of the subtree after that of the last head wait."""
        cdef Head last
        cdef Py_ssize_t below
        if self.heads[link].empty():
            self.open_heads(p, link)
        last = self.heads[link].back()
        below = self.subtree(p, self.place_of[link], last.state)
        if below < 0:  # a leaf in this state is one labelling
            self.waiting[link][last.state] = -1
        elif <Py_ssize_t>self.joined[below].size() > last.rank + 1:
            self.waiting[link][last.state] = last.rank + 1
        elif self.finished[2 * below]:
            self.waiting[link][last.state] = -1
        else:
            return 2 * below
        return -1

    cdef bint take_head(self, const Potentials* p, Py_ssize_t link) except -1 nogil:
        """Add the best of the labellings that wait, one for each state of the child."""
        cdef Py_ssize_t place = self.place_of[link], b, below
        cdef int32_t e = self.sums.forest.edge[place], node = self.sums.forest.order[place], rank
        cdef Head head
        cdef double score
        head.state, head.score = -1, -INFINITY
        for b in range(p.n_states):
            rank = self.waiting[link][b]
            if rank < 0:
                continue
            score = self.sums.value[place * self.sums.stride + b]
            if rank > 0:
                below = self.link_of[self.first_child[place] * p.n_states + b]
                score = self.joined[below][rank].score
            if e >= 0:
                score += edge_score(p, e, node, <int32_t>b, self.state_of[link])
            if score > head.score:
                head.score, head.state, head.rank = score, <int32_t>b, rank
        if head.state >= 0:
            self.heads[link].push_back(head)
        return head.state >= 0

    cdef Py_ssize_t expand_joined(self, const Potentials* p, Py_ssize_t link) except -2 nogil:
        """Make candidates of the two labellings that may follow the last one.

        They are (before, head + 1), and, if head is the first, (before + 1, head): so each of all
        comes once, after one that is no worse.
        """
        cdef Joined last = self.joined[link].back()
        cdef Py_ssize_t place = self.place_of[link], before = link + 1, heads = 2 * link + 1
        cdef bint alone = self.sibling[place] < 0  # the parent was, before this child
        cdef int32_t parent = self.sums.forest.parent[place]
        cdef double base = 0.0
        if <Py_ssize_t>self.heads[link].size() <= last.head + 1 and not self.finished[heads]:
            return heads
        if not alone:
            if last.head == 0 and not self.finished[2 * before]:
                if <Py_ssize_t>self.joined[before].size() <= last.before + 1:
                    return 2 * before
            base = self.joined[before][last.before].score
        elif parent >= 0:
            base = p.node[self.sums.forest.order[parent] * p.stride + self.state_of[link]]
        if <Py_ssize_t>self.heads[link].size() > last.head + 1:
            self.propose(link, base, last.before, last.head + 1)
        if last.head == 0 and not alone:
            if <Py_ssize_t>self.joined[before].size() > last.before + 1:
                base = self.joined[before][last.before + 1].score
                self.propose(link, base, last.before + 1, 0)
        return -1

    cdef int propose(
        self, Py_ssize_t link, double base, int32_t before, int32_t head
    ) except -1 nogil:
        """Make a candidate of a labelling; of equal ones that with the earlier parts is first."""
        self.candidates[link].push(
            Candidate(base + self.heads[link][head].score, pair[int32_t, int32_t](-before, -head))
        )
        return 0

    cdef bint take_joined(self, Py_ssize_t link) except -1 nogil:
        """Add the best candidate."""
        cdef Candidate best
        cdef Joined entry
        if self.candidates[link].empty():
            return False
        best = self.candidates[link].top()
        self.candidates[link].pop()
        entry.score = best.first
        entry.before, entry.head = -best.second.first, -best.second.second
        self.joined[link].push_back(entry)
        return True

    cdef int trace(
        self, const Potentials* p, Py_ssize_t rank, int32_t* labels, int32_t* ranks
    ) except -1 nogil:
        """Write a labelling; ranks (n_nodes,) is scratch, by place."""
        cdef Py_ssize_t i, link
        cdef int32_t parent, state, above = <int32_t>rank
        cdef Joined entry
        cdef Head head
        # a place's rank is that of its labelling up to the child that comes next
        for i in range(p.n_nodes):
            parent = self.sums.forest.parent[i]
            state = 0 if parent < 0 else labels[self.sums.forest.order[parent]]
            link = self.link_of[i * p.n_states + state]
            if link < 0:
                self.open(p, parent, state)
                link = self.link_of[i * p.n_states + state]
            if self.heads[link].empty():
                self.open_heads(p, link)
            entry = self.joined[link][above if parent < 0 else ranks[parent]]
            if parent < 0:
                above = entry.before
            else:
                ranks[parent] = entry.before
            head = self.heads[link][entry.head]
            labels[self.sums.forest.order[i]] = head.state
            ranks[i] = head.rank
        return 0


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
