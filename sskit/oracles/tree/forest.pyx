"""Forests: the order in which max-sum visits the nodes of graphs without cycles."""

from libc.string cimport memcmp, memcpy


cdef class Forest:
    """The nodes of a graph without cycles, from the roots to the leaves."""

    def __cinit__(self):
        self.n_nodes = -1  # no graph yet

    cdef int arrange(
        self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends
    ) except -1 nogil:
        cdef Py_ssize_t e
        if n_nodes == self.n_nodes and n_edges == self.n_edges and (
            n_edges == 0 or not memcmp(ends, self.ends.data(), 2 * n_edges * sizeof(int32_t))
        ):
            return 0
        self.n_nodes = -1  # should memory end on the way
        e = self.closing_edge(n_nodes, n_edges, ends)
        if e >= 0:
            with gil:
                raise ValueError(
                    f"edge {e} between the nodes {ends[2 * e]} and {ends[2 * e + 1]} closes a "
                    "cycle; the edges must form a forest"
                )
        self.ends.resize(2 * n_edges)
        if n_edges:
            memcpy(self.ends.data(), ends, 2 * n_edges * sizeof(int32_t))
        self.visit(n_nodes, n_edges, ends)
        self.n_nodes, self.n_edges = n_nodes, n_edges
        return 0

    cdef Py_ssize_t closing_edge(
        self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends
    ) except -2 nogil:
        cdef int32_t* above
        cdef Py_ssize_t v, e
        cdef int32_t a, b
        self.above.resize(n_nodes)
        above = self.above.data()
        for v in range(n_nodes):
            above[v] = <int32_t>v
        for e in range(n_edges):
            a, b = ends[2 * e], ends[2 * e + 1]
            # path halving
            while above[a] != a:
                above[a] = above[above[a]]
                a = above[a]
            while above[b] != b:
                above[b] = above[above[b]]
                b = above[b]
            if a == b:
                return e
            above[a] = b
        return -1

    cdef int visit(
        self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends
    ) except -1 nogil:
        cdef Py_ssize_t root, e, k, done = 0, n_found = 0
        cdef int32_t v, u
        # incident[first[v]:first[v + 1]] are the edges of node v, in their order
        self.first.refill(n_nodes + 2, 0)
        self.incident.resize(2 * n_edges)
        for e in range(2 * n_edges):
            self.first[ends[e] + 2] += 1
        for k in range(2, n_nodes + 2):
            self.first[k] += self.first[k - 1]
        for e in range(2 * n_edges):
            self.incident[self.first[ends[e] + 1]] = <int32_t>(e // 2)
            self.first[ends[e] + 1] += 1
        self.order.resize(n_nodes)
        self.parent.resize(n_nodes)
        self.edge.resize(n_nodes)
        self.place.refill(n_nodes, -1)
        for root in range(n_nodes):
            if self.place[root] >= 0:
                continue
            self.place[root] = <int32_t>n_found
            self.order[n_found] = <int32_t>root
            self.parent[n_found] = self.edge[n_found] = -1
            n_found += 1
            while done < n_found:
                v = self.order[done]
                for k in range(self.first[v], self.first[v + 1]):
                    e = self.incident[k]
                    u = ends[2 * e] + ends[2 * e + 1] - v
                    if self.place[u] < 0:
                        self.place[u] = <int32_t>n_found
                        self.order[n_found] = u
                        self.parent[n_found] = <int32_t>done
                        self.edge[n_found] = <int32_t>e
                        n_found += 1
                done += 1
        return 0

    cdef int link(
        self, Scratch[int32_t]& first_child, Scratch[int32_t]& sibling
    ) except -1 nogil:
        cdef Py_ssize_t i, root = -1
        cdef int32_t parent
        first_child.refill(self.n_nodes, -1)
        sibling.refill(self.n_nodes, -1)
        for i in range(self.n_nodes - 1, -1, -1):
            parent = self.parent[i]
            if parent < 0:
                sibling[i] = <int32_t>root
                root = i
            else:
                sibling[i] = first_child[parent]
                first_child[parent] = <int32_t>i
        return 0
