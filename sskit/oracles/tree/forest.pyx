"""Forests: the order in which max-sum visits the nodes of graphs without cycles."""

from libc.string cimport memcmp

from sskit.core.vectors cimport refill


cdef class Forest:
    """The nodes of a graph without cycles, from the roots to the leaves."""

    def __cinit__(self):
        self.n_nodes = -1  # no graph yet

    cdef int arrange(self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends) except -1:
        cdef Py_ssize_t e
        if n_nodes == self.n_nodes and n_edges == self.n_edges and (
            n_edges == 0 or not memcmp(ends, self.ends.data(), 2 * n_edges * sizeof(int32_t))
        ):
            return 0
        self.n_nodes = -1  # should memory end on the way
        e = closing_edge(n_nodes, n_edges, ends)
        if e >= 0:
            raise ValueError(
                f"edge {e} between the nodes {ends[2 * e]} and {ends[2 * e + 1]} closes a cycle; "
                "the edges must form a forest"
            )
        self.ends.assign(ends, ends + 2 * n_edges)
        arrange_forest(n_nodes, n_edges, ends, self.order, self.parent, self.edge)
        self.n_nodes, self.n_edges = n_nodes, n_edges
        return 0

    cdef int link(self, vector[int32_t]& first_child, vector[int32_t]& sibling) except -1 nogil:
        cdef Py_ssize_t i, root = -1
        cdef int32_t parent
        refill(first_child, self.n_nodes, <int32_t>-1)
        refill(sibling, self.n_nodes, <int32_t>-1)
        for i in range(self.n_nodes - 1, -1, -1):
            parent = self.parent[i]
            if parent < 0:
                sibling[i] = <int32_t>root
                root = i
            else:
                sibling[i] = first_child[parent]
                first_child[parent] = <int32_t>i
        return 0


cdef Py_ssize_t closing_edge(
    Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends
) except -2 nogil:
    """Return the first edge whose ends are connected by those before it, or -1."""
    cdef vector[int32_t] above  # union-find with path halving
    cdef Py_ssize_t v, e
    cdef int32_t a, b
    above.resize(n_nodes)
    for v in range(n_nodes):
        above[v] = <int32_t>v
    for e in range(n_edges):
        a, b = ends[2 * e], ends[2 * e + 1]
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


cdef int arrange_forest(
    Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends, vector[int32_t]& order,
    vector[int32_t]& parent, vector[int32_t]& edge
) except -1 nogil:
    """Visit all trees breadth first, each from its first node."""
    cdef vector[int32_t] first, incident, place
    cdef Py_ssize_t root, e, k, done = 0, n_found = 0
    cdef int32_t v, u
    # incident[first[v]:first[v + 1]] are the edges of node v, in their order
    first.resize(n_nodes + 2, 0)
    incident.resize(2 * n_edges)
    for e in range(2 * n_edges):
        first[ends[e] + 2] += 1
    for k in range(2, n_nodes + 2):
        first[k] += first[k - 1]
    for e in range(2 * n_edges):
        incident[first[ends[e] + 1]] = <int32_t>(e // 2)
        first[ends[e] + 1] += 1
    order.resize(n_nodes)
    parent.resize(n_nodes)
    edge.resize(n_nodes)
    place.resize(n_nodes, -1)
    for root in range(n_nodes):
        if place[root] >= 0:
            continue
        place[root] = <int32_t>n_found
        order[n_found] = <int32_t>root
        parent[n_found] = edge[n_found] = -1
        n_found += 1
        while done < n_found:
            v = order[done]
            for k in range(first[v], first[v + 1]):
                e = incident[k]
                u = ends[2 * e] + ends[2 * e + 1] - v
                if place[u] < 0:
                    place[u] = <int32_t>n_found
                    order[n_found] = u
                    parent[n_found] = <int32_t>done
                    edge[n_found] = <int32_t>e
                    n_found += 1
            done += 1
    return 0
