"""Moves that label the nodes of a forest at once, for tables that cuts cannot represent."""

from libc.math cimport fabs
from libc.string cimport memcpy

from sskit.oracles.graph.potentials cimport ROUNDING, labelling_score, pair_score, table_of

# After so many moves without a gain there is an end.
cdef Py_ssize_t PATIENCE = 20


cdef class ForestMoves(GraphOracle):
    """Give the nodes of random forests their best labels, as long as that raises the score.

    A swap changes nodes of two states, a node and its neighbours that have to go to different
    states together do not follow it. Most stars are part of some forest.

    Parameters
    ----------
    forest : GraphOracle
        Labels graphs without cycles.

    References
    ----------
    Hamze, de Freitas (2004). From fields to trees. UAI (forests in place of single nodes, in
    sampling).
    """

    def __cinit__(self, GraphOracle forest):
        self.forest = forest

    cpdef GraphOracle fork(self):
        return ForestMoves(self.forest.fork())

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil:
        cdef Py_ssize_t idle = 0
        cdef double score = labelling_score(p, labels), value
        if p.n_edges == 0:
            return 0
        self.prepare(p)
        while idle < PATIENCE:
            self.move(p, labels)
            value = labelling_score(p, self.trial.data())
            idle += 1
            if value > score + ROUNDING * fabs(score):
                score, idle = value, 0
                memcpy(labels, self.trial.data(), p.n_nodes * sizeof(int32_t))
        return 0

    cdef int prepare(self, const Potentials* p) except -1 nogil:
        cdef Py_ssize_t v, e, side
        self.first.refill(p.n_nodes + 1, 0)
        self.other.refill(2 * p.n_edges, 0)
        self.order.refill(p.n_nodes, 0)
        self.root.refill(p.n_nodes, -1)
        self.met.refill(p.n_nodes, -1)
        self.node.refill(p.n_nodes * p.stride, 0.0)
        self.ends.refill(2 * p.n_nodes, 0)
        self.table.refill(p.n_nodes, 0)
        self.trial.refill(p.n_nodes, 0)
        for e in range(2 * p.n_edges):
            self.first[p.ends[e] + 1] += 1
        for v in range(p.n_nodes):
            self.first[v + 1] += self.first[v]
            self.order[v] = <int32_t>v
        for e in range(p.n_edges):
            for side in range(2):
                v = p.ends[2 * e + side]
                self.other[self.first[v]] = p.ends[2 * e + 1 - side]
                self.first[v] += 1  # moved to where the next node begins
        for v in range(p.n_nodes, 0, -1):
            self.first[v] = self.first[v - 1]
        self.first[0] = 0
        # the same for each call: the same question has the same answer
        self.drawn = 1
        return 0

    cdef int move(self, const Potentials* p, const int32_t* labels) except -1 nogil:
        cdef Potentials part = p[0]
        cdef Py_ssize_t e, v, n_kept = 0
        cdef int32_t a, b, k
        cdef double* node = self.node.data()
        self.draw(p)
        memcpy(node, p.node, p.n_nodes * p.stride * sizeof(double))
        for e in range(p.n_edges):
            a, b = p.ends[2 * e], p.ends[2 * e + 1]
            if self.root[a] >= 0 and self.root[b] >= 0:
                self.ends[2 * n_kept], self.ends[2 * n_kept + 1] = a, b
                self.table[n_kept] = <int32_t>table_of(p, e)
                n_kept += 1
            elif self.root[a] >= 0:
                for k in range(<int32_t>p.n_states):
                    node[a * p.stride + k] += pair_score(p, e, k, labels[b])
            elif self.root[b] >= 0:
                for k in range(<int32_t>p.n_states):
                    node[b * p.stride + k] += pair_score(p, e, labels[a], k)
        part.node, part.n_edges = node, n_kept
        part.ends, part.table = self.ends.data(), self.table.data()
        part.potts = False  # their edges have no table but their own
        self.forest.improve(&part, self.trial.data())
        for v in range(p.n_nodes):
            if self.root[v] < 0:
                self.trial[v] = labels[v]
        return 0

    cdef void draw(self, const Potentials* p) noexcept nogil:
        cdef Py_ssize_t i, j
        cdef int32_t u, v, r
        cdef bint fits
        for i in range(p.n_nodes - 1, 0, -1):
            self.drawn = self.drawn * <uint64_t>6364136223846793005 + <uint64_t>1442695040888963407
            j = <Py_ssize_t>((self.drawn >> 33) % <uint64_t>(i + 1))
            v = self.order[i]
            self.order[i] = self.order[j]
            self.order[j] = v
        for i in range(p.n_nodes):
            self.root[i] = self.met[i] = -1
        for i in range(p.n_nodes):
            v, fits = self.order[i], True
            for j in range(self.first[v], self.first[v + 1]):
                u = self.other[j]
                if self.root[u] < 0:
                    continue
                r = find(self.root, u)
                fits = fits and self.met[r] != v  # a tree that is met twice would be a cycle
                self.met[r] = v
            if not fits:
                continue
            self.root[v] = v
            for j in range(self.first[v], self.first[v + 1]):
                u = self.other[j]
                if u != v and self.root[u] >= 0:
                    self.root[find(self.root, u)] = v
