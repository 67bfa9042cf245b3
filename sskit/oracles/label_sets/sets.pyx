"""Oracles of label sets, and of relaxed ones, by the signs of the edges (see the .pxd)."""

import numpy as np

from sskit.inputs.edges import parents_first

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset
from libcpp cimport bool as cbool

from sskit.core.problem cimport SlackGoal, goal_value
from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.cut cimport Cut
from sskit.oracles.graph.potentials cimport Topology

cdef extern from "enumeration.hpp" namespace "sskit" nogil:
    cppclass AllSets:
        cbool find(
            int n, const double* label, const double* weight, Py_ssize_t stride, double size,
            unsigned int* best
        ) except +

ONE = 1 << 30
MAX_EXHAUSTIVE = 20


cdef class LabelSetOracle:
    """Base of all; a subclass sets `exact` and overrides the methods that it has."""

    cdef int find(self, const SetScores* s, int32_t* code) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement find")

    cpdef LabelSetOracle fork(self):
        return type(self)()

    cdef Py_ssize_t candidates(
        self, const SetScores* s, const int32_t* truth, const SlackGoal* goal, double* h, double* g
    ) except -1 nogil:
        return 0

    cdef void take(self, Py_ssize_t candidate, int32_t* code) noexcept nogil:
        pass


cdef void write_pairs(const SetScores* s, int32_t* code) noexcept nogil:
    """Complete the code of the labels by that of the edges: products, as labels are integral."""
    cdef Py_ssize_t e
    for e in range(s.n_edges):
        code[s.n_labels + e] = code[s.ends[2 * e]] & code[s.ends[2 * e + 1]]


cdef void write_labels(Py_ssize_t n_labels, unsigned int chosen, int32_t* code) noexcept nogil:
    """Write the code of a set by the bits of a number."""
    cdef Py_ssize_t k
    for k in range(n_labels):
        code[k] = ONE if chosen >> k & 1 else 0


cdef class EnumeratedSets(LabelSetOracle):
    """The best of all sets of up to 20 labels, by depth-first search.

    A step of the search decides one label and keeps, for each undecided one, what having it
    would add to the set so far; half of the steps have nothing left to keep, so that a set
    costs O(1) on average. A branch is left where even all that the undecided labels could
    add does not reach the best set so far.
    """

    cdef double[:, ::1] weights    # (L, L) pairs, symmetric
    cdef double[::1] positive      # (L,) sums over the earlier labels of positive weights
    cdef double[:, ::1] gain       # (L + 1, L) row k: of the undecided labels before k
    cdef double best
    cdef unsigned int best_set
    cdef AllSets all_sets

    def __cinit__(self):
        self.exact = self.lock_free = True
        self.weights = np.empty((MAX_EXHAUSTIVE, MAX_EXHAUSTIVE))
        self.positive = np.empty(MAX_EXHAUSTIVE)
        self.gain = np.empty((MAX_EXHAUSTIVE + 1, MAX_EXHAUSTIVE))

    cdef int find(self, const SetScores* s, int32_t* code) except -1 nogil:
        self.load(s)
        if not self.compares_all(s):
            self.best, self.best_set = 0.0, 0  # the empty set
            self.search(s.n_labels, 0.0, 0)
        write_labels(s.n_labels, self.best_set, code)
        write_pairs(s, code)
        return 0

    # False where several sets are as good, but for rounding: these have an order
    cdef bint compares_all(self, const SetScores* s) except -1 nogil:
        cdef double size = 0.0
        cdef Py_ssize_t k
        for k in range(s.n_labels):
            size += fabs(s.label[k])
        for k in range(s.n_edges):
            size += fabs(s.pair[k])
        return self.all_sets.find(
            <int>s.n_labels, s.label, &self.weights[0, 0], self.weights.shape[1], size,
            &self.best_set
        )

    # scores of labels in gain[n_labels], and weights of pairs
    cdef void load(self, const SetScores* s) noexcept nogil:
        cdef Py_ssize_t e, k, j, n_labels = s.n_labels
        cdef int32_t u, v
        for k in range(n_labels):
            self.gain[n_labels, k] = s.label[k]
            memset(&self.weights[k, 0], 0, n_labels * sizeof(double))
        for e in range(s.n_edges):
            u, v = s.ends[2 * e], s.ends[2 * e + 1]
            self.weights[u, v] += s.pair[e]
            self.weights[v, u] += s.pair[e]
        for k in range(n_labels):
            self.positive[k] = 0.0
            for j in range(k):
                self.positive[k] += max(self.weights[k, j], 0.0)

    # decide the labels before k; the others have been, and score `score`
    cdef void search(self, Py_ssize_t k, double score, unsigned int chosen) noexcept nogil:
        cdef Py_ssize_t j, _j
        cdef const double* gain = &self.gain[k, 0]
        cdef double reach = score
        cdef bint has
        if score > self.best:
            self.best, self.best_set = score, chosen
        for j in range(k):
            reach += max(gain[j] + self.positive[j], 0.0)
        if not reach > self.best:    # nor where a score is not a number
            return
        k -= 1
        # first the choice that scores more by itself: good sets early let more branches be left
        has = gain[k] > 0.0
        for _j in range(2):
            self.decide(k, has)
            self.search(k, score + gain[k] if has else score, chosen | (<unsigned int>has << k))
            has = not has

    # what the labels before k add, with label k or without
    cdef void decide(self, Py_ssize_t k, bint has) noexcept nogil:
        cdef Py_ssize_t j
        cdef const double* gain = &self.gain[k + 1, 0]
        cdef double* after = &self.gain[k, 0]
        if has:
            for j in range(k):
                after[j] = gain[j] + self.weights[k, j]
        else:
            memcpy(after, gain, k * sizeof(double))


cdef class DagClosure(LabelSetOracle):
    """The best set of labels on a directed acyclic graph that is closed under ancestors.

    A maximum closure (Picard 1976): one minimum cut. Labels are chosen on the side of the sink;
    an arc from parent to child, of a larger capacity than any cut needs, rules out that a child is
    chosen and its parent is not. Of several best sets the smallest.

    Parameters
    ----------
    edges : ndarray of shape (n_edges, 2), int32
        Child and parent of each edge.
    """

    cdef const int32_t[:, ::1] edges
    cdef Cut cut

    def __cinit__(self, const int32_t[:, ::1] edges):
        self.exact, self.edges, self.cut = True, edges, Cut()
        self.cut.one_way = True

    cdef int find(self, const SetScores* s, int32_t* code) except -1 nogil:
        cdef double enough = 1.0
        cdef Py_ssize_t v, e, n_edges = self.edges.shape[0]
        self.cut.reserve(s.n_labels, n_edges)
        for v in range(s.n_labels):
            self.cut.network.gain[v] = -s.label[v]
            enough += fabs(s.label[v])
        for e in range(n_edges):
            self.cut.network.head[e], self.cut.network.tail[e] = self.edges[e, 0], self.edges[e, 1]
            self.cut.network.capacity[e] = enough
        self.cut.network.n_nodes, self.cut.network.n_edges = s.n_labels, n_edges
        self.cut.send()
        for v in range(s.n_labels):
            code[v] = ONE * self.cut.sides[v]
        return 0

    cpdef LabelSetOracle fork(self):
        return DagClosure(self.edges)


cdef class TreeSets(LabelSetOracle):
    """The best set where the edges form a forest, or of a hierarchy that is one, by max-sum.

    A label at place k, parents first, scores lift[k] more where its parent is there, and `low` more
    where not. Of several best sets of a hierarchy the smallest.

    Parameters
    ----------
    parents : ndarray of shape (n_labels,), int32, default=None
        The parent of each label in a hierarchy, -1 for a root; None: the edges make the forest.
    """

    cdef readonly object parents
    cdef const int32_t[:, ::1] places   # (2, n_labels) order and parent of a hierarchy
    cdef Topology forest
    cdef const int32_t* order           # (n_labels,) label at a place
    cdef const int32_t* parent          # (n_labels,) earlier place of its parent; -1: a root
    cdef double low
    cdef Scratch[double] lift
    # (n_labels,) by place: of a label over its absence, with the subtree below
    cdef Scratch[double] gain

    def __cinit__(self, parents=None, *others):
        self.exact = self.lock_free = True
        self.parents = parents
        if parents is not None:
            self.places = parents_first(parents)
            self.lift.resize(len(parents))
            self.low = -INFINITY
            if len(parents):
                self.order, self.parent = &self.places[0, 0], &self.places[1, 0]

    cdef int arrange(self, const SetScores* s) except -1 nogil:
        cdef Py_ssize_t k
        cdef int32_t e
        if self.low == 0.0:
            self.forest.take(s.n_labels, s.n_edges, s.ends)
            self.forest.make_forest()
            self.order, self.parent = self.forest.order.data(), self.forest.parent.data()
            self.lift.resize(s.n_labels)
            for k in range(s.n_labels):
                e = self.forest.edge[k]
                self.lift[k] = s.pair[e] if e >= 0 else 0.0
        return 0

    cdef int find(self, const SetScores* s, int32_t* code) except -1 nogil:
        cdef Py_ssize_t k, n_labels = s.n_labels
        cdef int32_t parent
        cdef double alone, low = self.low
        cdef double* gain
        cdef double* lift
        self.arrange(s)
        self.gain.resize(n_labels)
        gain, lift = self.gain.data(), self.lift.data()
        for k in range(n_labels):
            gain[k] = s.label[self.order[k]]
        # gain[k] = label[k] + sum over the children j of max(0, gain[j] + lift[j]) - max(0, gain[j]
        # + low): a subtree scores max(0, gain + low) without the parent, max(0, gain + lift) with
        # it; if low is -inf, gain may have overflown
        for k in range(n_labels - 1, -1, -1):
            parent = self.parent[k]
            if parent >= 0:
                alone = max(gain[k], 0.0) if low == 0.0 else 0.0
                gain[parent] += max(gain[k] + lift[k], 0.0) - alone
        for k in range(n_labels):
            parent = self.parent[k]
            if parent >= 0:
                gain[k] += lift[k] if code[self.order[parent]] else low
            code[self.order[k]] = ONE if gain[k] > 0.0 else 0
        write_pairs(s, code)
        return 0

    cpdef LabelSetOracle fork(self):
        return TreeSets(self.parents)


cdef class RoofDuality(LabelSetOracle):
    """The best point of the local polytope, with labels in {0, 1/2, 1}; any signs of pairs.

    Maximises sum_l label[l] y_l + sum_e pair[e] z_e over 0 <= y <= 1 and max(0, y_k + y_l - 1)
    <= z_e <= min(y_k, y_l); see `RoofDual`. Where no pair is negative, the best set.
    """

    cdef Cut dual

    def __cinit__(self):
        self.exact = True
        self.dual = Cut()

    cdef int find(self, const SetScores* s, int32_t* code) except -1 nogil:
        cdef Py_ssize_t k, e
        cdef int32_t u, v
        self.dual.relax(s.n_labels, s.label, s.n_edges, s.ends, s.pair, code)
        for k in range(s.n_labels):
            code[k] *= ONE // 2
        for e in range(s.n_edges):
            # the best that an edge can be, given its ends
            u, v = code[s.ends[2 * e]], code[s.ends[2 * e + 1]]
            code[s.n_labels + e] = min(u, v) if s.pair[e] > 0.0 else max(u + (v - ONE), 0)
        return 0


# h of the empty set
cdef double less_truth(const SetScores* s, const int32_t* truth) noexcept nogil:
    cdef Py_ssize_t k
    cdef double total = 0.0
    for k in range(s.n_labels):
        total -= s.label[k] * truth[k]
    for k in range(s.n_edges):
        total -= s.pair[k] * (truth[s.ends[2 * k]] & truth[s.ends[2 * k + 1]])
    return total


cdef class EnumeratedSlack(EnumeratedSets):
    """The best of all sets of up to 20 labels, by depth-first search.

    As `EnumeratedSets`; a branch is left where its bounds on h, g and a sum of both show that no
    set there is better than the best one so far, or none that counts.

    Parameters
    ----------
    cost : ndarray of shape (n_labels,), float64
        Loss of a wrong label.
    """

    cdef const double[::1] cost
    cdef const int32_t* truth
    # of the search that is going on
    cdef SlackGoal goal
    cdef double slope                   # branches are bounded by h + slope g
    cdef double best_h, best_g

    def __cinit__(self, cost):
        self.cost, self.n_candidates = cost, 1

    cdef Py_ssize_t candidates(
        self, const SetScores* s, const int32_t* truth, const SlackGoal* goal, double* h, double* g
    ) except -1 nogil:
        self.load(s)
        self.truth, self.goal, self.slope = truth, goal[0], goal.loss_weight
        self.best = 0.0     # sets that count have more
        self.search_slack(s.n_labels, less_truth(s, truth), 0.0, 0)
        h[0], g[0] = self.best_h, self.best_g
        return self.best > 0.0

    # decide the labels before k; the others have been, and have these h and g
    cdef void search_slack(
        self, Py_ssize_t k, double h, double g, unsigned int chosen
    ) noexcept nogil:
        cdef Py_ssize_t j, _j
        cdef const double* gain = &self.gain[k, 0]
        cdef double margin = self.goal.offset + h, most_h = margin, most_g = g, more
        cdef double most = margin + self.slope * g
        cdef bint has
        if k == 0:
            more = goal_value(&self.goal, margin, g)
            if more > self.best:
                self.best, self.best_h, self.best_g, self.best_set = more, h, g, chosen
                if self.goal.product:
                    self.slope = margin / g   # where the bound by sums is tight for this set
            return
        for j in range(k):
            more = gain[j] + self.positive[j]
            most_h += max(more, 0.0)
            most_g += self.cost[j]
            # with the label, without it
            if self.truth[j]:
                most += max(more, self.slope * self.cost[j])
            else:
                most += max(more + self.slope * self.cost[j], 0.0)
        if most_h <= 0.0 or most_g <= 0.0 or g >= self.goal.upper * most_h or most <= 0.0:
            return
        if self.goal.product:
            most = min(most_h * most_g, most * most / (4.0 * self.slope))
        if most <= self.best:
            return
        k -= 1
        # first the choice with the higher bound: good sets early let more branches be left
        has = gain[k] + self.slope * self.cost[k] * (1 - 2 * self.truth[k]) > 0.0
        for _j in range(2):
            self.decide(k, has)
            self.search_slack(
                k, h + gain[k] if has else h, g + self.cost[k] if has != self.truth[k] else g,
                chosen | (<unsigned int>has << k),
            )
            has = not has

    cdef void take(self, Py_ssize_t candidate, int32_t* code) noexcept nogil:
        write_labels(self.cost.shape[0], self.best_set, code)

    cpdef LabelSetOracle fork(self):
        return EnumeratedSlack(self.cost)


cdef class CountedSlack(TreeSets):
    """The best set for each loss, where edges or a hierarchy form a forest and losses are counts.

    The programme of Bauer et al. (2014) for chains, on trees. V_k(s, e) is the best score of the
    label at place k and those below it, with e units of loss among them, the label being there
    (s = 1) or not. Children are joined to their parent one after the other, roots to a root of
    all that is never there; the tables before each of these are kept, for the way back. Joining
    tables that reach a and b units takes a b steps: O(E^2) in all for a largest loss of E, in
    O(n_labels E) memory.

    Parameters
    ----------
    parents : ndarray of shape (n_labels,), int32, or None
        As `TreeSets` takes them.
    levels : ndarray of shape (n_labels,), int32
        Loss of a wrong label, in units, not negative.
    unit : float
        The unit.
    """

    cdef const int32_t[::1] levels
    cdef double unit
    cdef Py_ssize_t stride            # numbers of a row of the tables: E + 1
    cdef Scratch[double] value         # (L + 1, 2, stride) V
    cdef Scratch[double] before        # (L, 2, stride) V of the parent before it was joined
    cdef Scratch[int32_t] reach        # (L + 1,) largest loss in V
    cdef Scratch[int32_t] reached      # (L,) in `before`
    cdef Scratch[double] message       # (stride,) scratch
    cdef Scratch[int32_t] state        # (L + 1,) of the way back
    cdef Scratch[int32_t] units        # (L + 1,) losses that are still to be shared out

    def __cinit__(self, parents, levels, double unit):
        n_labels = len(levels)
        self.levels, self.unit = levels, unit
        self.n_candidates = self.stride = int(np.sum(levels)) + 1
        self.value.resize(2 * (n_labels + 1) * self.stride)
        self.before.resize(2 * n_labels * self.stride)
        self.reach.resize(n_labels + 1)
        self.reached.resize(n_labels)
        self.message.resize(self.stride)
        self.state.resize(n_labels + 1)
        self.units.resize(n_labels + 1)

    cdef Py_ssize_t candidates(
        self, const SetScores* s, const int32_t* truth, const SlackGoal* goal, double* h, double* g
    ) except -1 nogil:
        cdef Py_ssize_t k, has, e, n_labels = s.n_labels
        cdef int32_t v, level, parent
        cdef double less
        cdef double* row
        self.arrange(s)
        for k in range(n_labels):
            v = self.order[k]
            self.reach[k] = level = self.levels[v]
            for has in range(2):
                row = &self.value[(2 * k + has) * self.stride]
                for e in range(level + 1):
                    row[e] = -INFINITY
                row[level if has != truth[v] else 0] = has * s.label[v]
        row = &self.value[2 * n_labels * self.stride]
        self.reach[n_labels], row[0] = 0, 0.0
        for k in range(n_labels - 1, -1, -1):
            parent = self.above(k)
            self.reached[k] = self.reach[parent]
            self.reach[parent] += self.reach[k]
            for has in range(1 + (parent < n_labels)):
                self.join(k, parent, has)
        less = less_truth(s, truth)
        for e in range(self.stride):
            h[e], g[e] = less + row[e], e * self.unit
        return self.stride

    # the place of the parent, for roots that of the root of all
    cdef int32_t above(self, Py_ssize_t k) noexcept nogil:
        return self.parent[k] if self.parent[k] >= 0 else <int32_t>self.levels.shape[0]

    # best score of the part at place k with this loss, its label being there, for a state of its
    # parent
    cdef double present(self, Py_ssize_t k, Py_ssize_t s, Py_ssize_t e) noexcept nogil:
        cdef double more = 0.0
        if self.parent[k] >= 0:
            more = self.lift[k] if s else self.low
        return self.value[(2 * k + 1) * self.stride + e] + more

    # whether the label is there or not
    cdef double part(self, Py_ssize_t k, Py_ssize_t s, Py_ssize_t e) noexcept nogil:
        return max(self.value[2 * k * self.stride + e], self.present(k, s, e))

    cdef void join(self, Py_ssize_t k, Py_ssize_t parent, Py_ssize_t s) noexcept nogil:
        cdef double* after = &self.value[(2 * parent + s) * self.stride]
        cdef double* before = &self.before[(2 * k + s) * self.stride]
        cdef Py_ssize_t e, rest
        for e in range(self.reach[k] + 1):
            self.message[e] = self.part(k, s, e)
        memcpy(before, after, (self.reached[k] + 1) * sizeof(double))
        for e in range(self.reached[k] + self.reach[k] + 1):
            after[e] = -INFINITY
        for rest in range(self.reached[k] + 1):
            for e in range(self.reach[k] + 1):
                after[rest + e] = max(after[rest + e], before[rest] + self.message[e])

    cdef void take(self, Py_ssize_t candidate, int32_t* code) noexcept nogil:
        cdef Py_ssize_t k, e, rest, parent, s, taken, n_labels = self.levels.shape[0]
        cdef double top, score
        cdef double* before
        self.state[n_labels], self.units[n_labels] = 0, <int32_t>candidate
        # what was joined last comes apart first
        for k in range(n_labels):
            parent = self.above(k)
            s = self.state[parent]
            before = &self.before[(2 * k + s) * self.stride]
            top, taken = -INFINITY, -1
            for e in range(min(self.reach[k], self.units[parent]) + 1):
                rest = self.units[parent] - e
                if rest > self.reached[k]:
                    continue
                score = before[rest] + self.part(k, s, e)
                if taken < 0 or score > top:
                    top, taken = score, e
            self.units[parent] -= <int32_t>taken
            self.units[k] = <int32_t>taken
            self.state[k] = self.present(k, s, taken) > self.value[2 * k * self.stride + taken]
            code[self.order[k]] = ONE * self.state[k]

    cpdef LabelSetOracle fork(self):
        return CountedSlack(self.parents, self.levels, self.unit)


def find_label_set(LabelSetOracle oracle, gains, edges, pairwise):
    """Ask an oracle for a set of labels.

    Parameters
    ----------
    oracle : LabelSetOracle
        The oracle.
    gains : ndarray of shape (n_labels,), float64
        Scores of the labels.
    edges : ndarray of shape (n_edges, 2), int32
        Pairs of different labels.
    pairwise : ndarray of shape (n_edges,), float64
        Scores of the pairs.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
        The answer's y, between 0 and 1.
    pairs : ndarray of shape (n_edges,)
        Its z.
    """
    cdef SetScores s
    # spare ones, so that each has a first
    cdef const double[::1] label = np.append(gains, 0.0), pair = np.append(pairwise, 0.0)
    cdef const int32_t[:, ::1] ends = np.concatenate([edges, np.zeros((1, 2), dtype=np.int32)])
    s.n_labels, s.n_edges = len(gains), len(edges)
    s.label, s.pair, s.ends = &label[0], &pair[0], &ends[0, 0]
    code = np.zeros(s.n_labels + s.n_edges + 1, dtype=np.int32)
    cdef int32_t[::1] out = code
    if s.n_labels:
        with nogil:
            oracle.find(&s, &out[0])
    values = code[:-1] / float(ONE)
    return values[:s.n_labels], values[s.n_labels:]
