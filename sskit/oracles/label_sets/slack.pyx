"""Oracles of label sets for slack rescaling (see the .pxd)."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.checks cimport check_equal, check_indices
from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport Topology
from sskit.oracles.label_sets.exact cimport EnumeratedSets
from sskit.oracles.label_sets.oracle cimport ONE, write_pairs


cdef class SlackSets:
    """Base of all; a subclass overrides every method."""

    cdef bint best(
        self, const SetQuestion* q, const SlackGoal* goal, int32_t* code
    ) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement best")

    cpdef SlackSets fork(self):
        raise NotImplementedError(f"{type(self).__name__} must implement fork")


cdef class EnumeratedSlack(SlackSets):
    """The best of all sets of up to 20 labels, by depth-first search.

    As `EnumeratedSets`; a branch is left where its bounds on h, g and a sum of both show that no
    set there is better than the best one so far, or none that counts.
    """

    cdef EnumeratedSets sets      # scores of the labels on the way
    cdef const SetQuestion* q
    # of the search that is going on
    cdef SlackGoal goal           # branches are bounded by h + loss_weight g
    cdef double best_value
    cdef unsigned int best_set

    def __cinit__(self):
        self.sets = EnumeratedSets()

    cdef bint best(
        self, const SetQuestion* q, const SlackGoal* goal, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t k, n_labels = q.n_labels
        self.sets.check(n_labels)
        self.q, self.goal = q, goal[0]
        self.sets.load(n_labels, q.label, q.n_edges, q.ends, q.pair)
        self.best_value = 0.0     # sets that count have more
        self.search(n_labels, q.offset, 0.0, 0)
        if self.best_value > 0.0:
            for k in range(n_labels):
                code[k] = ONE if self.best_set >> k & 1 else 0
            write_pairs(n_labels, q.n_edges, q.ends, code)
        return self.best_value > 0.0

    # decide the labels before k; the others have been, and have the margin h and the loss g
    cdef void search(
        self, Py_ssize_t k, double h, double g, unsigned int chosen
    ) noexcept nogil:
        cdef Py_ssize_t j, _j
        cdef const double* gain = &self.sets.gain[k, 0]
        cdef double* after
        cdef double most_h = h, most_g = g, most = h + self.goal.loss_weight * g, more
        cdef bint has
        if k == 0:
            if h > 0.0 < g and self.goal.lower * h <= g < self.goal.upper * h:
                self.meet(h, g, chosen)
            return
        for j in range(k):
            more = gain[j] + self.sets.positive[j]
            most_h += max(more, 0.0)
            most_g += self.q.cost[j]
            # with the label, without it
            if self.q.truth[j]:
                most += max(more, self.goal.loss_weight * self.q.cost[j])
            else:
                most += max(more + self.goal.loss_weight * self.q.cost[j], 0.0)
        if (
            most_h <= 0.0 or most_g <= 0.0 or g >= self.goal.upper * most_h or most <= 0.0
            or self.reach(most_h, most_g, most) <= self.best_value
        ):
            return
        k -= 1
        after = &self.sets.gain[k, 0]
        # first the choice that promises more: good sets early let more branches be left
        has = gain[k] + self.goal.loss_weight * self.q.cost[k] * (1 - 2 * self.q.truth[k]) > 0.0
        for _j in range(2):
            more = self.q.cost[k] if has != self.q.truth[k] else 0.0
            if has:
                self.sets.take(k, gain, after)
                self.search(k, h + gain[k], g + more, chosen | (<unsigned int>1 << k))
            else:
                memcpy(after, gain, k * sizeof(double))
                self.search(k, h, g + more, chosen)
            has = not has

    # become the best if that is better
    cdef void meet(self, double h, double g, unsigned int chosen) noexcept nogil:
        cdef double value = g * h if self.goal.product else h + self.goal.loss_weight * g
        if value > self.best_value:
            self.best_value, self.best_set = value, chosen
            if self.goal.product:
                self.goal.loss_weight = h / g   # where the bound by sums is tight for this set

    # bound on the value of sets, from bounds on their h, g and h + lam g
    cdef double reach(self, double h, double g, double total) noexcept nogil:
        if self.goal.product:
            return min(h * g, total * total / (4.0 * self.goal.loss_weight))
        return total

    cpdef SlackSets fork(self):
        return EnumeratedSlack()


cdef class CountedForest(SlackSets):
    """The best set for each loss, where edges form a forest and losses are counts.

    The programme of Bauer et al. (2014) for chains, on trees. V_k(s, e) is the best score of the
    label at place k and those below it, with e units of loss among them, the label being there
    (s = 1) or not. Children are joined to their parent one after the other, roots to a root of
    all that is never there; the tables before each of these are kept, for the way back. Joining
    tables that reach a and b units takes a b steps: O(E^2) in all for a largest loss of E, in
    O(n_labels E) memory.

    Of the sets with one loss only the best can maximise what grows with the margin, so these are
    all candidates, in a cone too.

    Parameters
    ----------
    levels : ndarray of shape (n_labels,), int32
        Loss of a wrong label, in units.
    unit : float
        The unit.
    """

    cdef const int32_t[::1] levels
    cdef double unit
    cdef Py_ssize_t stride            # numbers of a row of the tables: E + 1
    cdef Topology forest
    cdef Scratch[double] joint         # (L, 2, 2) by place: scores by the parent's state, its own
    cdef Scratch[double] value         # (L + 1, 2, stride) V
    cdef Scratch[double] before        # (L, 2, stride) V of the parent before it was joined
    cdef Scratch[int32_t] reach        # (L + 1,) largest loss in V
    cdef Scratch[int32_t] reached      # (L,) in `before`
    cdef Scratch[double] message       # (stride,) scratch
    cdef Scratch[double] margin        # (stride,) h by loss
    cdef Scratch[int32_t] state        # (L + 1,) of the way back
    cdef Scratch[int32_t] units        # (L + 1,) losses that are still to be shared out

    def __cinit__(self, levels, double unit, *args):
        if np.min(levels, initial=0) < 0:
            raise ValueError(f"levels must not be negative, got {levels}")
        self.levels, self.unit = levels, unit
        self.stride = int(np.sum(levels)) + 1
        n_labels = len(levels)
        self.joint.resize(4 * n_labels)
        self.reach.resize(n_labels + 1)
        self.reached.resize(n_labels)
        self.message.resize(self.stride)
        self.margin.resize(self.stride)
        self.state.resize(n_labels + 1)
        self.units.resize(n_labels + 1)

    # the edges as a forest, and `joint`
    cdef int load(self, const SetQuestion* q) except -1 nogil:
        cdef Py_ssize_t k
        self.forest.take(q.n_labels, q.n_edges, q.ends)
        self.forest.make_forest()
        for k in range(q.n_labels):
            self.joint[4 * k] = self.joint[4 * k + 1] = self.joint[4 * k + 2] = 0.0
            self.joint[4 * k + 3] = (
                q.pair[self.forest.edge[k]] if self.forest.edge[k] >= 0 else 0.0
            )
        return 0

    # h of the best set by loss, in `margin`
    cdef int solve(self, const SetQuestion* q) except -1 nogil:
        cdef Py_ssize_t e, n = q.n_labels
        if n != self.levels.shape[0]:
            with gil:
                check_equal(n, self.levels.shape[0], "the number of labels")
        self.load(q)
        self.value.resize(2 * (n + 1) * self.stride)
        self.before.resize(2 * n * self.stride)
        self.climb(q)
        for e in range(self.stride):
            self.margin[e] = q.offset + self.value[2 * n * self.stride + e]
        return 0

    cdef void climb(self, const SetQuestion* q) noexcept nogil:
        cdef Py_ssize_t k, s, e, n = q.n_labels, parent
        cdef int32_t v, level
        cdef double* row
        for k in range(n + 1):
            v = self.forest.order[k] if k < n else 0
            level = self.levels[v] if k < n else 0
            self.reach[k] = level
            for s in range(2):
                row = &self.value[(2 * k + s) * self.stride]
                for e in range(level + 1):
                    row[e] = -INFINITY
                if k < n:
                    row[level if s != q.truth[v] else 0] = s * q.label[v]
                elif s == 0:
                    row[0] = 0.0
        for k in range(n - 1, -1, -1):
            parent = self.forest.parent[k] if self.forest.parent[k] >= 0 else n
            self.reached[k] = self.reach[parent]
            self.reach[parent] += self.reach[k]
            for s in range(1 + (parent < n)):
                self.join(k, parent, s)

    # best score of the part at place k with this loss, for a state of its parent
    cdef double part(self, Py_ssize_t k, Py_ssize_t s, Py_ssize_t e) noexcept nogil:
        return max(
            self.value[2 * k * self.stride + e] + self.joint[4 * k + 2 * s],
            self.value[(2 * k + 1) * self.stride + e] + self.joint[4 * k + 2 * s + 1],
        )

    cdef void join(self, Py_ssize_t k, Py_ssize_t parent, Py_ssize_t s) noexcept nogil:
        cdef double* after = &self.value[(2 * parent + s) * self.stride]
        cdef double* before = &self.before[(2 * k + s) * self.stride]
        cdef Py_ssize_t e, rest
        for e in range(self.reach[k] + 1):
            self.message[e] = self.part(k, s, e)
        for rest in range(self.reached[k] + 1):
            before[rest] = after[rest]
        for e in range(self.reached[k] + self.reach[k] + 1):
            after[e] = -INFINITY
        for rest in range(self.reached[k] + 1):
            for e in range(self.reach[k] + 1):
                after[rest + e] = max(after[rest + e], before[rest] + self.message[e])

    # the best set with this loss
    cdef void descend(self, const SetQuestion* q, Py_ssize_t loss, int32_t* code) noexcept nogil:
        cdef Py_ssize_t k, e, rest, parent, share, n = q.n_labels
        cdef double top, score
        cdef double* before
        self.state[n], self.units[n] = 0, <int32_t>loss
        # what was joined last comes apart first
        for k in range(n):
            parent = self.forest.parent[k] if self.forest.parent[k] >= 0 else n
            before = &self.before[(2 * k + self.state[parent]) * self.stride]
            top, share = -INFINITY, -1
            for e in range(min(self.reach[k], self.units[parent]) + 1):
                rest = self.units[parent] - e
                if rest > self.reached[k]:
                    continue
                score = before[rest] + self.part(k, self.state[parent], e)
                if share < 0 or score > top:
                    top, share = score, e
            self.units[parent] -= <int32_t>share
            self.units[k] = <int32_t>share
            self.state[k] = (
                self.value[(2 * k + 1) * self.stride + share]
                + self.joint[4 * k + 2 * self.state[parent] + 1]
                > self.value[2 * k * self.stride + share]
                + self.joint[4 * k + 2 * self.state[parent]]
            )
            code[self.forest.order[k]] = ONE * self.state[k]
        write_pairs(n, q.n_edges, q.ends, code)

    cdef bint best(
        self, const SetQuestion* q, const SlackGoal* goal, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t e, units = 0
        cdef double best = 0.0, h, g, value
        self.solve(q)
        for e in range(1, self.stride):
            h, g = self.margin[e], e * self.unit
            value = g * h if goal.product else h + goal.loss_weight * g
            if h > 0.0 and goal.lower * h <= g < goal.upper * h and value > best:
                units, best = e, value
        if units:
            self.descend(q, units, code)
        return units > 0

    cpdef SlackSets fork(self):
        return CountedForest(self.levels, self.unit)


cdef class CountedClosure(CountedForest):
    """The same for the sets on a forest that hold, with each label, all its ancestors.

    Parameters
    ----------
    levels : ndarray of shape (n_labels,), int32
        Loss of a wrong label, in units.
    unit : float
        The unit.
    edges : ndarray of shape (n_edges, 2), int32
        Child and parent of each edge; no label has two parents.
    """

    cdef const int32_t[:, ::1] edges  # with a spare one at the end
    cdef object given

    def __cinit__(self, levels, double unit, edges):
        check_indices(edges, len(levels), "label")
        self.given = edges
        self.edges = np.concatenate([edges, np.zeros((1, 2), dtype=np.int32)])

    cdef int load(self, const SetQuestion* q) except -1 nogil:
        cdef Py_ssize_t k, edge
        self.forest.take(q.n_labels, self.edges.shape[0] - 1, &self.edges[0, 0])
        self.forest.make_forest()
        for k in range(q.n_labels):
            for edge in range(4):
                self.joint[4 * k + edge] = 0.0
            edge = self.forest.edge[k]
            # the forest has roots of its own: here the parent may be what is above in the
            # hierarchy, or below
            if edge >= 0 and self.edges[edge, 0] == self.forest.order[k]:
                self.joint[4 * k + 1] = -INFINITY
            elif edge >= 0:
                self.joint[4 * k + 2] = -INFINITY
        return 0

    cpdef SlackSets fork(self):
        return CountedClosure(self.levels, self.unit, self.given)


def find_slack_set(SlackSets oracle, gains, edges, pairwise, truth, cost, double offset, cone=None):
    """Ask an oracle for a set of labels.

    Parameters
    ----------
    oracle : SlackSets
        The oracle.
    gains : ndarray of shape (n_labels,), float64
        Scores of the labels, at least one.
    edges : ndarray of shape (n_edges, 2), int32
        Pairs of different labels.
    pairwise : ndarray of shape (n_edges,), float64
        Scores of the pairs.
    truth : ndarray of shape (n_labels,), uint8
        The true set, 0 or 1.
    cost : ndarray of shape (n_labels,), float64
        Loss of a wrong label.
    offset : float
        h of the empty set.
    cone : tuple (loss_weight, lower, upper), default=None
        Ask for the best sum within a cone; None asks for the best product.

    Returns
    -------
    labels : ndarray of shape (n_labels,) or None
        The answer's y, between 0 and 1; None if no set counts.
    pairs : ndarray of shape (n_edges,) or None
        Its z.
    """
    cdef SetQuestion q
    check_indices(edges, len(gains), "label")
    check_equal(len(pairwise), len(edges), "the number of pairs")
    check_equal(len(truth), len(gains), "the number of true labels")
    check_equal(len(cost), len(gains), "the number of losses")
    cdef const double[::1] label = gains, pair = np.append(pairwise, 0.0), costs = cost
    cdef const int32_t[:, ::1] ends = np.concatenate([edges, np.zeros((1, 2), dtype=np.int32)])
    cdef const unsigned char[::1] right = truth
    q.n_labels, q.n_edges = len(gains), len(edges)
    q.label, q.pair, q.ends = &label[0], &pair[0], &ends[0, 0]
    q.truth, q.cost, q.offset = &right[0], &costs[0], offset
    code = np.zeros(q.n_labels + q.n_edges, dtype=np.int32)
    cdef int32_t[::1] out = code
    cdef SlackGoal goal = product_goal()
    if cone is not None:
        goal = sum_goal(cone[0], cone[1], cone[2])
    if not oracle.best(&q, &goal, &out[0]):
        return None, None
    values = code / float(ONE)
    return values[: q.n_labels], values[q.n_labels :]
