"""Roof duality: the LP relaxation of a binary pairwise model by one minimum cut."""

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.cut cimport Cut
from sskit.oracles.label_sets.oracle cimport ONE, LabelSetOracle
from sskit.oracles.graph.potentials cimport Potentials


cdef int32_t UNDECIDED = -1


cdef class RoofDuality(LabelSetOracle):
    """The best point of the local polytope, with labels in {0, 1/2, 1}; any signs of pairs.

    Maximises sum_l label[l] y_l + sum_e pair[e] z_e over 0 <= y <= 1 and max(0, y_k + y_l - 1)
    <= z_e <= min(y_k, y_l). Every label l has two nodes in the network, one for l, one for its
    complement, which stand for the means (y_l + 1 - complement_l) / 2 (Boros and Hammer 2002;
    Kolmogorov and Rother 2007). With each edge counted half in either copy, its score is, but for
    parts that are linear in each end, -|pair| / 4 times
        |y_k - y_l| + |complement_k - complement_l|      for pair > 0
        |y_k - complement_l| + |complement_k - y_l|      for pair < 0
    and all of that is one cut. Where no pair is negative, the two copies are independent
    of each other, and one will do.

    Labels whose own score outweighs all pairs in one direction are decided before, which leaves
    most calls little to cut. Ties are decided against the label here, and for 1/2 in the cut.
    """

    cdef Cut cut
    cdef Potentials network         # only its sizes are read
    cdef Scratch[double] gain        # (n_labels,) scores of labels given the decided ones
    cdef Scratch[double] low         # (n_labels,) sums of negative, of positive pairs
    cdef Scratch[double] high
    cdef Scratch[int32_t] open       # the edges between undecided labels

    def __cinit__(self):
        self.exact = True
        self.cut = Cut()

    cdef int find(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t n_open, e
        cdef bint doubled
        self.gain.resize(n_labels)
        self.low.resize(n_labels)
        self.high.resize(n_labels)
        self.open.resize(n_edges)
        if n_labels:
            memcpy(self.gain.data(), label, n_labels * sizeof(double))
        n_open = self.decide(n_labels, n_edges, ends, pair, code)
        if n_open:
            doubled = False
            for e in range(n_open):
                doubled |= pair[self.open[e]] < 0.0
            self.network.n_nodes = (1 + doubled) * n_labels
            self.cut.reserve(self.network.n_nodes, (1 + doubled) * n_open)
            self.join(self.cut, n_labels, n_open, ends, pair, code, doubled)
            self.cut.send()
            self.read(n_labels, code, doubled)
        for e in range(n_edges):
            code[n_labels + e] = pair_code(code[ends[2 * e]], code[ends[2 * e + 1]], pair[e])
        return 0

    cpdef LabelSetOracle fork(self):
        return RoofDuality()

    cdef Py_ssize_t decide(
        self, Py_ssize_t n_labels, Py_ssize_t n_edges, const int32_t* ends, const double* pair,
        int32_t* code
    ) noexcept nogil:
        """Decide labels until no label has enough by itself; return how many edges are open."""
        cdef Py_ssize_t k, e, i, n_open = n_edges, n_kept
        cdef int32_t u, v
        cdef bint decided = True
        for k in range(n_labels):
            code[k] = UNDECIDED
        for e in range(n_edges):
            self.open[e] = <int32_t>e
        while decided:
            decided = False
            for k in range(n_labels):
                self.low[k] = self.high[k] = 0.0
            for i in range(n_open):
                e = self.open[i]
                for k in range(2 * e, 2 * e + 2):
                    if pair[e] > 0.0:
                        self.high[ends[k]] += pair[e]
                    else:
                        self.low[ends[k]] += pair[e]
            for k in range(n_labels):
                if code[k] == UNDECIDED:
                    if self.gain[k] + self.high[k] <= 0.0:
                        code[k] = 0
                    elif self.gain[k] + self.low[k] >= 0.0:
                        code[k] = ONE
                    else:
                        continue
                    decided = True
            n_kept = 0
            for i in range(n_open):
                e = self.open[i]
                u, v = ends[2 * e], ends[2 * e + 1]
                if code[u] == UNDECIDED and code[v] == UNDECIDED:
                    self.open[n_kept] = <int32_t>e
                    n_kept += 1
                elif code[u] == ONE:
                    self.gain[v] += pair[e]
                elif code[v] == ONE:
                    self.gain[u] += pair[e]
            n_open = n_kept
        return n_open

    cdef void join(
        self, Cut cut, Py_ssize_t n_labels, Py_ssize_t n_open, const int32_t* ends,
        const double* pair, const int32_t* code, bint doubled
    ) noexcept nogil:
        """Fill the network; the second option of a node is that its label is there."""
        cdef Py_ssize_t k, e, i
        cdef int32_t u, v, shift = <int32_t>n_labels if doubled else 0
        for k in range(n_labels):
            cut.place[k] = -(code[k] != UNDECIDED)
            if doubled:
                cut.place[k + shift] = cut.place[k]
        cut.begin(&self.network)
        for i in range(n_open):
            e = self.open[i]
            u, v = ends[2 * e], ends[2 * e + 1]
            self.gain[u] += 0.5 * pair[e]
            self.gain[v] += 0.5 * pair[e]
            if pair[e] > 0.0:
                cut.join(u, v, 0.5 * pair[e])
                if doubled:
                    cut.join(u + shift, v + shift, 0.5 * pair[e])
            elif pair[e] < 0.0:
                cut.join(u, v + shift, -0.5 * pair[e])
                cut.join(u + shift, v, -0.5 * pair[e])
        for k in range(n_labels):
            if cut.place[k] >= 0:
                cut.gain[cut.place[k]] = -self.gain[k]
                if doubled:
                    cut.gain[cut.place[k + shift]] = self.gain[k]

    cdef void read(self, Py_ssize_t n_labels, int32_t* code, bint doubled) noexcept nogil:
        cdef const unsigned char* sides = &self.cut.sides[0]
        cdef Py_ssize_t k
        cdef int32_t* place = self.cut.place
        for k in range(n_labels):
            if place[k] < 0:
                continue
            if doubled:
                code[k] = (ONE // 2) * (1 + sides[place[k]] - sides[place[k + n_labels]])
            else:
                code[k] = ONE * sides[place[k]]


cdef int32_t pair_code(int32_t u, int32_t v, double pair) noexcept nogil:
    """The best that an edge can be, given its ends."""
    if pair > 0.0:
        return min(u, v)
    return max(u + (v - ONE), 0)
