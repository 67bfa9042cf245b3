from libc.stdint cimport int32_t
from libcpp.vector cimport vector


cdef class Forest:
    """The nodes of a graph without cycles, from the roots to the leaves.

    Place i of `order` has its parent at place parent[i] < i; children of one node are at places
    next to each other, and stand behind those of all earlier nodes. The root of a tree is its
    first node. The last graph is kept: a graph with the same edges costs one comparison.
    """

    cdef readonly Py_ssize_t n_nodes
    cdef Py_ssize_t n_edges
    cdef vector[int32_t] ends       # (2 n_edges,) of the graph at hand
    cdef vector[int32_t] order      # (n_nodes,) the node at a place
    cdef vector[int32_t] parent     # (n_nodes,) place of its parent; -1: a root
    cdef vector[int32_t] edge       # (n_nodes,) the edge to its parent; -1: a root

    # raises ValueError, which names the first edge that closes a cycle
    cdef int arrange(self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends) except -1
    # for each place that of its first child and of the next child of its parent, -1: none; roots
    # are siblings
    cdef int link(self, vector[int32_t]& first_child, vector[int32_t]& sibling) except -1 nogil
