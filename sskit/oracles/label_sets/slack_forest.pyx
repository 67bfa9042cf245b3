"""The loss-indexed dynamic programme on forests of labels."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal, check_indices
from sskit.core.vectors cimport Scratch
from sskit.oracles.tree.max_sum cimport Forest
from sskit.oracles.label_sets.oracle cimport ONE, write_pairs
from sskit.oracles.label_sets.slack cimport SetQuestion, SlackSets


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
    cdef Forest forest
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
        self.forest = Forest()
        self.has_product = self.has_cone = self.lock_free = True
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
        self.forest.arrange(q.n_labels, q.n_edges, q.ends)
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

    cdef bint best_product(self, const SetQuestion* q, int32_t* code) except -1 nogil:
        cdef Py_ssize_t e, units = 0
        cdef double best = 0.0
        self.solve(q)
        for e in range(1, self.stride):
            if e * self.margin[e] > best:
                units, best = e, e * self.margin[e]
        if units:
            self.descend(q, units, code)
        return units > 0

    cdef bint best_within(
        self, const SetQuestion* q, double loss_weight, double lower, double upper, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t e, units = 0
        cdef double best = -INFINITY, h, g
        self.solve(q)
        for e in range(1, self.stride):
            h, g = self.margin[e], e * self.unit
            if h > 0.0 and lower * h <= g < upper * h and h + loss_weight * g > best:
                units, best = e, h + loss_weight * g
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
        self.forest.arrange(q.n_labels, self.edges.shape[0] - 1, &self.edges[0, 0])
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
