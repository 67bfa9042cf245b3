"""Messages between neighbouring nodes, and tables packed for passes over a graph (see the .pxd)."""

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from sskit.oracles.graph.potentials cimport table_of

cdef extern from "lanes.hpp" namespace "sskit":
    const Py_ssize_t HALF

cdef extern from "messages.hpp" namespace "sskit" nogil:
    struct MessageGraph:
        Py_ssize_t n_nodes
        Py_ssize_t n_states
        Py_ssize_t stride
        const double* node
        const int32_t* first_later
        const int32_t* first_earlier
        const int32_t* earlier_edge
        const int32_t* later
        const int32_t* earlier
        const double* tables
        const int64_t* table_at
        const double* potts
        double* message
        double* belief
        double* value

    struct PassSums:
        double bound
        double size
        double score

    PassSums pass_to_last(const MessageGraph& g, int32_t* labels) noexcept
    PassSums pass_to_first(const MessageGraph& g) noexcept
    double decode_to_last(const MessageGraph& g, int32_t* labels) noexcept
    void move_forest(
        const MessageGraph& g, uint64_t* random, bint to_last, int32_t* parent, double* value,
        int32_t* labels
    ) noexcept


cdef class Messages:
    """Scratch memory for one graph after the other; it grows with them."""

    cdef int load(self, const Potentials* p, const float* messages) except -1 nogil:
        cdef Py_ssize_t v, e, k, n_states = p.n_states
        cdef Py_ssize_t stride = (n_states + HALF - 1) // HALF * HALF
        cdef double* row
        self.n_nodes, self.n_edges, self.n_states = p.n_nodes, p.n_edges, n_states
        self.stride, self.is_potts = stride, p.potts
        self.arrange(p)
        self.row.refill(2 * stride, 0.0)
        self.node.resize(p.n_nodes * stride)
        for v in range(p.n_nodes):
            row = &self.node[v * stride]
            memcpy(row, p.node + v * p.stride, n_states * sizeof(double))
            for k in range(n_states, stride):
                row[k] = -INFINITY
        self.load_tables(p)
        self.message.refill(p.n_edges * stride, 0.0)
        if messages == NULL:
            return 0
        for e in range(p.n_edges):
            for k in range(n_states):
                if isfinite(messages[e * n_states + k]):  # any number will do, as to the bound
                    self.message[e * stride + k] = messages[e * n_states + k]
        return 0

    cdef void save(self, float* messages) noexcept nogil:
        cdef Py_ssize_t e, k
        cdef double most
        cdef double* row
        for e in range(self.n_edges):
            row, most = &self.message[e * self.stride], -INFINITY
            for k in range(self.n_states):
                most = max(most, row[k])
            for k in range(self.n_states):
                messages[e * self.n_states + k] = <float>(row[k] - most)

    cdef Pass to_last(self, int32_t* labels) noexcept nogil:
        cdef MessageGraph graph
        self.point(&graph)
        cdef PassSums sums = pass_to_last(graph, labels)
        return Pass(sums.bound, sums.size, sums.score)

    cdef Pass to_first(self) noexcept nogil:
        cdef MessageGraph graph
        self.point(&graph)
        cdef PassSums sums = pass_to_first(graph)
        return Pass(sums.bound, sums.size, sums.score)

    cdef double decode(self, int32_t* labels) noexcept nogil:
        cdef MessageGraph graph
        self.point(&graph)
        return decode_to_last(graph, labels)

    cdef int move_forests(self, Py_ssize_t n_moves, int32_t* labels) except -1 nogil:
        cdef MessageGraph graph
        cdef uint64_t random = 1  # the same question has the same answer
        cdef Py_ssize_t m
        if self.n_edges == 0:
            return 0
        self.parent.resize(self.n_nodes)
        self.value.resize(self.n_nodes * self.stride)
        self.point(&graph)
        for m in range(n_moves):
            move_forest(
                graph, &random, m % 2 == 0, self.parent.data(), self.value.data(), labels
            )
        return 0

    cdef void point(self, void* to) noexcept nogil:
        cdef MessageGraph* graph = <MessageGraph*>to
        graph.n_nodes, graph.n_states, graph.stride = self.n_nodes, self.n_states, self.stride
        graph.first_later, graph.first_earlier = (
            self.first_later.data(), self.first_earlier.data()
        )
        graph.earlier_edge = self.earlier_edge.data()
        graph.later, graph.earlier = self.later.data(), self.earlier.data()
        graph.node, graph.message = self.node.data(), self.message.data()
        graph.tables, graph.table_at = self.tables.data(), self.table_at.data()
        graph.potts = self.potts.data() if self.is_potts else NULL
        graph.belief, graph.value = self.row.data(), self.row.data() + self.stride

    cdef int arrange(self, const Potentials* p) except -1 nogil:
        cdef Py_ssize_t e, k, v
        cdef int32_t a, b
        self.first_later.refill(p.n_nodes + 1, 0)
        self.first_earlier.refill(p.n_nodes + 1, 0)
        self.earlier_edge.resize(p.n_edges)
        self.later.resize(p.n_edges)
        self.earlier.resize(p.n_edges)
        self.given.resize(p.n_edges)
        # counting sort by the earlier node, and of the sorted edges by the later one
        for e in range(p.n_edges):
            a, b = p.ends[2 * e], p.ends[2 * e + 1]
            self.first_later[min(a, b) + 1] += 1
            self.first_earlier[max(a, b) + 1] += 1
        for v in range(p.n_nodes):
            self.first_later[v + 1] += self.first_later[v]
            self.first_earlier[v + 1] += self.first_earlier[v]
        for e in range(p.n_edges):
            a, b = p.ends[2 * e], p.ends[2 * e + 1]
            k = self.first_later[min(a, b)]
            self.first_later[min(a, b)] += 1  # moved to where the next node begins
            self.earlier[k], self.later[k], self.given[k] = min(a, b), max(a, b), <int32_t>e
        for k in range(p.n_edges):
            b = self.later[k]
            self.earlier_edge[self.first_earlier[b]] = <int32_t>k
            self.first_earlier[b] += 1
        for v in range(p.n_nodes, 0, -1):
            self.first_later[v] = self.first_later[v - 1]
            self.first_earlier[v] = self.first_earlier[v - 1]
        self.first_later[0] = self.first_earlier[0] = 0
        return 0

    cdef int load_tables(self, const Potentials* p) except -1 nogil:
        cdef Py_ssize_t k, e, t, stride = self.stride, size = p.n_states * stride
        cdef bint shared = p.table != NULL and 2 * p.n_tables <= p.n_edges
        cdef bint plain = True, turned
        if p.potts:
            self.potts.resize(p.n_edges)
            for k in range(p.n_edges):
                self.potts[k] = p.pair[self.given[k] * p.width]
            return 0
        for k in range(p.n_states * p.n_states):
            plain = plain and p.column[k] == k and p.factor[k] == 1.0
        self.table_at.resize(p.n_edges)
        self.tables.resize((2 * p.n_tables if shared else p.n_edges) * size)
        if shared:
            for t in range(p.n_tables):
                pack(p, t, plain, False, &self.tables[2 * t * size], stride)
                pack(p, t, plain, True, &self.tables[(2 * t + 1) * size], stride)
        for k in range(p.n_edges):
            e = self.given[k]
            turned = p.ends[2 * e] > p.ends[2 * e + 1]
            if shared:
                self.table_at[k] = (2 * table_of(p, e) + turned) * size
            else:
                self.table_at[k] = k * size
                pack(p, table_of(p, e), plain, turned, &self.tables[k * size], stride)
        return 0


cdef void pack(
    const Potentials* p, Py_ssize_t t, bint plain, bint turned, double* out, Py_ssize_t stride
) noexcept nogil:
    """Write a table, or turned, the transpose of it, in padded rows; plain: it stands as it is."""
    cdef Py_ssize_t a, b, k, n_states = p.n_states
    cdef const double* pair = p.pair + t * p.width
    for a in range(n_states):
        if plain and not turned:
            memcpy(out, pair + a * n_states, n_states * sizeof(double))
        else:
            for b in range(n_states):
                k = b * n_states + a if turned else a * n_states + b
                out[b] = p.factor[k] * pair[p.column[k]]
        for b in range(n_states, stride):
            out[b] = -INFINITY
        out += stride
