"""Label sets, and relaxed ones, whose best one is found exactly, by what is known of the edges."""

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.cut cimport Cut
from sskit.oracles.label_sets.oracle cimport ONE, LabelSetOracle, write_pairs
from sskit.oracles.graph.potentials cimport Potentials, Topology
from sskit.oracles.graph.roof_dual cimport RoofDual

MAX_ENUMERATED = 20
cdef Py_ssize_t MOST_LABELS = MAX_ENUMERATED


cdef class IndependentSets(LabelSetOracle):
    """The labels whose scores are positive, where there are no edges."""

    def __cinit__(self):
        self.exact = self.lock_free = True

    cdef int find(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t k
        if n_edges:
            with gil:
                raise ValueError(f"labels with {n_edges} edges are not independent")
        for k in range(n_labels):
            code[k] = ONE if label[k] > 0.0 else 0
        return 0

    cpdef LabelSetOracle fork(self):
        return IndependentSets()


cdef class EnumeratedSets(LabelSetOracle):
    """The best of all sets of up to 20 labels, by depth-first search (see the .pxd)."""

    def __cinit__(self):
        self.exact = self.lock_free = True
        self.weights = np.empty((MAX_ENUMERATED, MAX_ENUMERATED))
        self.positive = np.empty(MAX_ENUMERATED)
        self.gain = np.empty((MAX_ENUMERATED + 1, MAX_ENUMERATED))

    cdef int find(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t k
        self.check(n_labels)
        if n_labels == 0:
            return 0
        self.load(n_labels, label, n_edges, ends, pair)
        self.best, self.best_set = 0.0, 0  # the empty set
        self.search(n_labels, 0.0, 0)
        for k in range(n_labels):
            code[k] = ONE if self.best_set >> k & 1 else 0
        write_pairs(n_labels, n_edges, ends, code)
        return 0

    cdef int check(self, Py_ssize_t n_labels) except -1 nogil:
        if n_labels > MOST_LABELS:
            with gil:
                raise ValueError(
                    f"{n_labels} labels have too many sets to enumerate, expected at most "
                    f"{MAX_ENUMERATED}"
                )
        return 0

    cdef void load(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair
    ) noexcept nogil:
        cdef Py_ssize_t e, k, j
        for k in range(n_labels):
            self.gain[n_labels, k] = label[k]
            memset(&self.weights[k, 0], 0, n_labels * sizeof(double))
        for e in range(n_edges):
            self.weights[ends[2 * e], ends[2 * e + 1]] += pair[e]
            self.weights[ends[2 * e + 1], ends[2 * e]] += pair[e]
        for k in range(n_labels):
            self.positive[k] = 0.0
            for j in range(k):
                self.positive[k] += max(self.weights[k, j], 0.0)

    cdef void search(self, Py_ssize_t k, double score, unsigned int chosen) noexcept nogil:
        cdef Py_ssize_t j, _j
        cdef const double* gain = &self.gain[k, 0]
        cdef double* after
        cdef double reach = score
        cdef bint has
        if score > self.best:
            self.best, self.best_set = score, chosen
        for j in range(k):
            reach += max(gain[j] + self.positive[j], 0.0)
        if not reach > self.best:    # nor where a score is not a number
            return
        k -= 1
        after = &self.gain[k, 0]
        # first the choice that scores more by itself: good sets early let more branches be left
        has = gain[k] > 0.0
        for _j in range(2):
            if has:
                self.take(k, gain, after)
                self.search(k, score + gain[k], chosen | (<unsigned int>1 << k))
            else:
                memcpy(after, gain, k * sizeof(double))
                self.search(k, score, chosen)
            has = not has

    cdef void take(self, Py_ssize_t k, const double* gain, double* after) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(k):
            after[j] = gain[j] + self.weights[k, j]

    cpdef LabelSetOracle fork(self):
        return EnumeratedSets()


cdef class CutSets(LabelSetOracle):
    """The best set where no pair has a negative score, by one minimum cut."""

    cdef Cut cut
    cdef Scratch[double] node       # (n_labels, 2) scores without and with a label
    cdef Scratch[int32_t] column    # (2, 2) the pair's number counts where both labels
    cdef Scratch[double] factor     # are there

    def __cinit__(self):
        self.exact = True
        self.cut = Cut()
        self.column.refill(4, 0)
        self.factor.refill(4, 0.0)
        self.factor[3] = 1.0

    cdef int find(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* code
    ) except -1 nogil:
        cdef Potentials potentials
        cdef Py_ssize_t k
        if n_labels == 0:
            return 0
        self.node.refill(2 * n_labels, 0.0)
        for k in range(n_labels):
            self.node[2 * k + 1] = label[k]
        potentials.n_nodes, potentials.n_edges = n_labels, n_edges
        potentials.n_states = potentials.stride = 2
        potentials.width = 1
        potentials.node, potentials.ends, potentials.pair = self.node.data(), ends, pair
        potentials.n_tables = n_edges
        potentials.table = NULL
        potentials.column, potentials.factor = self.column.data(), self.factor.data()
        potentials.potts = False
        self.cut.improve(&potentials, code)
        for k in range(n_labels):
            code[k] *= ONE
        write_pairs(n_labels, n_edges, ends, code)
        return 0

    cpdef LabelSetOracle fork(self):
        return CutSets()


cdef class TreeSets(LabelSetOracle):
    """The best set where the edges form a forest, by max-sum."""

    cdef Topology forest
    cdef Scratch[double] gain       # (n_labels,) by place: of a label over its absence, with the
    cdef Scratch[double] lift       # subtree below; what its parent adds to that by being there

    def __cinit__(self):
        self.exact = self.lock_free = True

    cdef int find(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t k
        self.forest.take(n_labels, n_edges, ends)
        self.forest.make_forest()
        self.gain.resize(n_labels)
        self.lift.resize(n_labels)
        for k in range(n_labels):
            self.gain[k] = label[self.forest.order[k]]
            self.lift[k] = pair[self.forest.edge[k]] if self.forest.edge[k] >= 0 else 0.0
        self.choose(n_labels, code)
        write_pairs(n_labels, n_edges, ends, code)
        return 0

    cdef void choose(self, Py_ssize_t n_labels, int32_t* code) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t parent
        # a subtree scores max(0, gain) without the parent, max(0, gain + lift) with it
        for k in range(n_labels - 1, -1, -1):
            parent = self.forest.parent[k]
            if parent >= 0:
                self.gain[parent] += (
                    max(self.gain[k] + self.lift[k], 0.0) - max(self.gain[k], 0.0)
                )
        for k in range(n_labels):
            parent = self.forest.parent[k]
            if parent >= 0 and code[self.forest.order[parent]]:
                self.gain[k] += self.lift[k]
            code[self.forest.order[k]] = ONE if self.gain[k] > 0.0 else 0

    cpdef LabelSetOracle fork(self):
        return TreeSets()


cdef class RoofDuality(LabelSetOracle):
    """The best point of the local polytope, with labels in {0, 1/2, 1}; any signs of pairs.

    Maximises sum_l label[l] y_l + sum_e pair[e] z_e over 0 <= y <= 1 and max(0, y_k + y_l - 1)
    <= z_e <= min(y_k, y_l); see `RoofDual`.
    """

    cdef RoofDual dual

    def __cinit__(self):
        self.exact = True
        self.dual = RoofDual()

    cdef int find(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t k, e
        self.dual.solve(n_labels, label, n_edges, ends, pair, code)
        for k in range(n_labels):
            code[k] *= ONE // 2
        for e in range(n_edges):
            code[n_labels + e] = pair_code(code[ends[2 * e]], code[ends[2 * e + 1]], pair[e])
        return 0

    cpdef LabelSetOracle fork(self):
        return RoofDuality()


cdef int32_t pair_code(int32_t u, int32_t v, double pair) noexcept nogil:
    """The best that an edge can be, given its ends."""
    if pair > 0.0:
        return min(u, v)
    return max(u + (v - ONE), 0)
