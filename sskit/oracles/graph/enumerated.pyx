"""Enumeration as an oracle of graphs (see the .pxd)."""

from libc.math cimport INFINITY
from libc.string cimport memcpy

from sskit.core.lanes cimport padded
from sskit.oracles.graph.potentials cimport pair_score

# Graphs with more labellings are refused.
cdef double MOST_LABELLINGS = 2.0**22


cdef class Enumerated(GraphOracle):
    """Exact for any potentials, for graphs that are small enough."""

    def __cinit__(self):
        self.exact = self.lock_free = True
        self.enumeration = Enumeration(1, 1)

    cpdef GraphOracle fork(self):
        return Enumerated()

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1 nogil:
        cdef Py_ssize_t stride = padded(p.n_states)
        cdef EarlierEdges edges
        cdef double score
        self.check_size(p)
        if p.n_nodes == 0:
            return 0
        self.load_nodes(p, stride)
        self.load_edges(p, stride)
        edges.first, edges.earlier = self.first.data(), self.earlier.data()
        edges.table = self.table.data()
        self.enumeration.set_states(p.n_states)
        if not self.enumeration.decode(
            self.node.data(), p.n_nodes, &edges, NULL, NULL, 0.0, labels, &score
        ):
            with gil:
                raise ValueError(
                    f"no labelling of {p.n_nodes} nodes is allowed by the potentials"
                )
        return 0

    cdef int check_size(self, const Potentials* p) except -1 nogil:
        cdef Py_ssize_t _v
        cdef double n = 1.0
        for _v in range(p.n_nodes):
            n *= p.n_states
            if n > MOST_LABELLINGS:
                with gil:
                    raise ValueError(
                        f"{p.n_nodes} nodes with {p.n_states} states have "
                        f"{p.n_states}^{p.n_nodes} labellings, more than {MOST_LABELLINGS:.0f}"
                    )
        return 0

    cdef int load_nodes(self, const Potentials* p, Py_ssize_t stride) except -1 nogil:
        cdef Py_ssize_t v, k
        cdef double* node
        self.node.refill(p.n_nodes * stride, 0.0)
        for v in range(p.n_nodes):
            node = &self.node[v * stride]
            memcpy(node, p.node + v * p.stride, p.n_states * sizeof(double))
            for k in range(p.n_states):
                check_potential(node[k], "nodes")
        return 0

    cdef int load_edges(self, const Potentials* p, Py_ssize_t stride) except -1 nogil:
        cdef Py_ssize_t v, e, k, n_states = p.n_states
        cdef int32_t a, b, early, late
        cdef double* table
        self.first.refill(p.n_nodes + 1, 0)
        self.end.resize(p.n_nodes)
        self.earlier.resize(p.n_edges)
        self.edge.resize(p.n_edges)
        self.table.refill(p.n_edges * n_states * stride, 0.0)
        for e in range(p.n_edges):
            self.first[max(p.ends[2 * e], p.ends[2 * e + 1]) + 1] += 1
        for v in range(p.n_nodes):
            self.end[v] = self.first[v]
            self.first[v + 1] += self.first[v]
        for e in range(p.n_edges):
            early, late = p.ends[2 * e], p.ends[2 * e + 1]
            if early > late:
                early, late = late, early
            k = self.end[late]
            self.end[late] += 1
            while k > self.first[late] and self.earlier[k - 1] > early:
                self.earlier[k], self.edge[k] = self.earlier[k - 1], self.edge[k - 1]
                k -= 1
            self.earlier[k], self.edge[k] = early, <int32_t>e
        for k in range(p.n_edges):
            e = self.edge[k]
            table = &self.table[k * n_states * stride]
            for a in range(<int32_t>n_states):
                for b in range(<int32_t>n_states):
                    if p.ends[2 * e] < p.ends[2 * e + 1]:
                        table[a * stride + b] = pair_score(p, e, a, b)
                    else:
                        table[a * stride + b] = pair_score(p, e, b, a)
                    check_potential(table[a * stride + b], "pairwise")
        return 0


cdef int check_potential(double potential, str name) except -1 nogil:
    if not potential < INFINITY:  # nor where it is not a number
        with gil:
            raise ValueError(f"{name} holds {potential}, expected numbers or -inf")
    return 0
