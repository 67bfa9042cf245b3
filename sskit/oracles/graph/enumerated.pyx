"""Enumeration as an oracle of graphs (see the .pxd)."""

import numpy as np

from sskit.oracles.graph.exhaustive import exhaustive

from libc.stdint cimport int32_t

from sskit.oracles.graph.potentials cimport Potentials, pair_score


cdef class Enumerated(GraphOracle):
    """Exact for any potentials, for graphs that are small enough."""

    def __cinit__(self):
        self.exact = True

    cpdef GraphOracle fork(self):
        return Enumerated()

    cdef int improve(self, const Potentials* p, int32_t* labels) except -1:
        cdef Py_ssize_t v, e
        cdef int32_t a, b
        cdef double[:, ::1] nodes = np.empty((p.n_nodes, p.n_states))
        cdef int32_t[:, ::1] edges = np.empty((p.n_edges, 2), dtype=np.int32)
        cdef double[:, :, ::1] tables = np.empty((p.n_edges, p.n_states, p.n_states))
        for v in range(p.n_nodes):
            for a in range(p.n_states):
                nodes[v, a] = p.node[v * p.stride + a]
        for e in range(p.n_edges):
            edges[e, 0], edges[e, 1] = p.ends[2 * e], p.ends[2 * e + 1]
            for a in range(p.n_states):
                for b in range(p.n_states):
                    tables[e, a, b] = pair_score(p, e, a, b)
        cdef const int32_t[::1] best = exhaustive(nodes, edges, tables)[0]
        for v in range(p.n_nodes):
            labels[v] = best[v]
        return 0
