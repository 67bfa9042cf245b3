"""Roof duality: the linear relaxation of a binary pairwise model by one minimum cut."""

from libc.math cimport fabs
from libc.string cimport memcpy

from sskit.oracles.graph.potentials cimport ROUNDING, pair_score


cdef int32_t UNDECIDED = -1


cdef class RoofDual:
    """Scratch memory for roof duality; it grows with the graphs (see the .pxd)."""

    def __cinit__(self):
        self.cut = Cut()

    cdef int solve(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* halves
    ) except -1 nogil:
        cdef Py_ssize_t n_open
        cdef bint doubled
        self.gain.resize(n_labels)
        self.low.resize(n_labels)
        self.high.resize(n_labels)
        self.open.resize(n_edges)
        if n_labels:
            memcpy(self.gain.data(), label, n_labels * sizeof(double))
        n_open = self.decide(n_labels, n_edges, ends, pair, halves)
        if n_open:
            doubled = self.exchange(n_labels, n_open, ends, pair)
            self.network.n_nodes = (1 + doubled) * n_labels
            self.cut.reserve(self.network.n_nodes, (1 + doubled) * n_open)
            self.join(n_labels, n_open, ends, pair, halves, doubled)
            self.cut.send()
            self.read(n_labels, halves)
        return 0

    cdef Py_ssize_t decide(
        self, Py_ssize_t n_labels, Py_ssize_t n_edges, const int32_t* ends, const double* pair,
        int32_t* halves
    ) noexcept nogil:
        """Decide labels until no label has enough by itself; return how many edges are open."""
        cdef Py_ssize_t k, e, i, n_open = 0, n_kept
        cdef int32_t u, v
        cdef bint decided = True
        for k in range(n_labels):
            halves[k] = UNDECIDED
        for e in range(n_edges):
            if pair[e] != 0.0:
                self.open[n_open] = <int32_t>e
                n_open += 1
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
                if halves[k] == UNDECIDED:
                    if self.gain[k] + self.high[k] <= 0.0:
                        halves[k] = 0
                    elif self.gain[k] + self.low[k] >= 0.0:
                        halves[k] = 2
                    else:
                        continue
                    decided = True
            n_kept = 0
            for i in range(n_open):
                e = self.open[i]
                u, v = ends[2 * e], ends[2 * e + 1]
                if halves[u] == UNDECIDED and halves[v] == UNDECIDED:
                    self.open[n_kept] = <int32_t>e
                    n_kept += 1
                elif halves[u] == 2:
                    self.gain[v] += pair[e]
                elif halves[v] == 2:
                    self.gain[u] += pair[e]
            n_open = n_kept
        return n_open

    cdef bint exchange(
        self, Py_ssize_t n_labels, Py_ssize_t n_open, const int32_t* ends, const double* pair
    ) except -1 nogil:
        cdef Py_ssize_t k, e, i
        cdef int32_t u, v, a, b
        cdef bint differ, doubled = False
        self.above.resize(n_labels)
        self.differs.refill(n_labels, 0)
        self.odd.refill(n_labels, 0)
        for k in range(n_labels):
            self.above[k] = <int32_t>k
        for i in range(n_open):
            e = self.open[i]
            u, v = ends[2 * e], ends[2 * e + 1]
            a, b = self.find(u), self.find(v)
            differ = self.differs[u] ^ self.differs[v] ^ (pair[e] < 0.0)
            if a != b:
                self.above[b], self.differs[b] = a, differ
                self.odd[a] |= self.odd[b]
            elif differ:
                self.odd[a] = 1
        for i in range(n_open):
            doubled |= self.odd[self.find(ends[2 * self.open[i]])]
        return doubled

    cdef int32_t find(self, int32_t v) noexcept nogil:
        cdef int32_t root = v, above
        cdef char differs = 0, own
        while self.above[root] != root:
            differs ^= self.differs[root]
            root = self.above[root]
        while self.above[v] != root and v != root:
            above, own = self.above[v], self.differs[v]
            self.above[v], self.differs[v] = root, differs
            differs ^= own
            v = above
        return root

    cdef void join(
        self, Py_ssize_t n_labels, Py_ssize_t n_open, const int32_t* ends, const double* pair,
        const int32_t* halves, bint doubled
    ) noexcept nogil:
        """Fill the network; the second option of a node is its label, or if that is exchanged,
        the complement of it, and of the second node of a label too."""
        cdef int32_t* place = self.cut.place
        cdef Py_ssize_t k, e, i
        cdef int32_t u, v, shift = <int32_t>n_labels
        cdef double half
        for k in range(n_labels):
            place[k] = -(halves[k] != UNDECIDED)
            if doubled:
                place[k + shift] = -(
                    halves[k] != UNDECIDED or not self.odd[self.find(<int32_t>k)]
                )
        self.cut.begin(&self.network)
        for i in range(n_open):
            e = self.open[i]
            u, v, half = ends[2 * e], ends[2 * e + 1], 0.5 * fabs(pair[e])
            self.gain[u] += 0.5 * pair[e]
            self.gain[v] += 0.5 * pair[e]
            if not self.odd[self.find(u)]:
                self.cut.join(u, v, half)
            elif pair[e] > 0.0:
                self.cut.join(u, v, half)
                self.cut.join(u + shift, v + shift, half)
            else:
                self.cut.join(u, v + shift, half)
                self.cut.join(u + shift, v, half)
        for k in range(n_labels):
            if place[k] < 0:
                continue
            if self.odd[self.find(<int32_t>k)]:
                self.cut.gain[place[k]] = -self.gain[k]
                self.cut.gain[place[k + shift]] = self.gain[k]
            else:
                self.cut.gain[place[k]] = self.gain[k] if self.differs[k] else -self.gain[k]

    cdef void read(self, Py_ssize_t n_labels, int32_t* halves) noexcept nogil:
        cdef const unsigned char* sides = &self.cut.sides[0]
        cdef Py_ssize_t k
        cdef int32_t* place = self.cut.place
        for k in range(n_labels):
            if place[k] < 0:
                continue
            if self.odd[self.find(<int32_t>k)]:
                halves[k] = 1 + sides[place[k]] - sides[place[k + n_labels]]
            else:
                halves[k] = 2 * (sides[place[k]] ^ self.differs[k])

    cdef int compare(
        self, const Potentials* p, const int32_t* first, const int32_t* second
    ) except -1 nogil:
        cdef Py_ssize_t v, e
        cdef int32_t a, b
        cdef double neither, both, only_a, only_b, bend
        self.label.resize(p.n_nodes)
        self.pair.resize(p.n_edges)
        for v in range(p.n_nodes):
            self.label[v] = p.node[v * p.stride + second[v]] - p.node[v * p.stride + first[v]]
        for e in range(p.n_edges):
            a, b = p.ends[2 * e], p.ends[2 * e + 1]
            self.pair[e] = 0.0
            if first[a] == second[a] and first[b] == second[b]:
                continue
            neither = pair_score(p, e, first[a], first[b])
            only_a = pair_score(p, e, second[a], first[b])
            only_b = pair_score(p, e, first[a], second[b])
            both = pair_score(p, e, second[a], second[b])
            bend = (both - only_a) + (neither - only_b)
            # what is rounding must not set labels against each other
            if fabs(bend) > ROUNDING * (fabs(neither) + fabs(only_a) + fabs(only_b) + fabs(both)):
                self.pair[e] = bend
                self.label[a] += only_a - neither
                self.label[b] += only_b - neither
            else:  # in the middle of what it may be
                self.label[a] += 0.5 * ((only_a - neither) + (both - only_b))
                self.label[b] += 0.5 * ((only_b - neither) + (both - only_a))
        return 0

    cdef double optimum(self, const Potentials* p, const int32_t* halves) noexcept nogil:
        cdef Py_ssize_t v, e
        cdef int32_t a, b
        cdef double total = 0.0
        for v in range(p.n_nodes):
            total += self.label[v] * halves[v]
        for e in range(p.n_edges):
            a, b = halves[p.ends[2 * e]], halves[p.ends[2 * e + 1]]
            total += self.pair[e] * (min(a, b) if self.pair[e] > 0.0 else max(a + b - 2, 0))
        return 0.5 * total
