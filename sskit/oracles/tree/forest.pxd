from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch


cdef class Forest:
    """The nodes of a graph without cycles, from the roots to the leaves.

    Place i of `order` has its parent at place parent[i] < i; children of one node are at places
    next to each other, and stand behind those of all earlier nodes. The root of a tree is its
    first node. The last graph is kept: a graph with the same edges costs one comparison.
    """

    cdef readonly Py_ssize_t n_nodes
    cdef Py_ssize_t n_edges
    cdef Scratch[int32_t] ends      # (2 n_edges,) of the graph at hand
    cdef Scratch[int32_t] order     # (n_nodes,) the node at a place
    cdef Scratch[int32_t] parent    # (n_nodes,) place of its parent; -1: a root
    cdef Scratch[int32_t] edge      # (n_nodes,) the edge to its parent; -1: a root
    # on the way there
    cdef Scratch[int32_t] above     # (n_nodes,) union-find
    cdef Scratch[int32_t] first     # (n_nodes + 2,) where the edges of a node begin ..
    cdef Scratch[int32_t] incident  # (2 n_edges,) .. here
    cdef Scratch[int32_t] place     # (n_nodes,) of a node; -1: none yet

    # raises ValueError, which names the first edge that closes a cycle
    cdef int arrange(
        self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends
    ) except -1 nogil
    # the first edge whose ends are connected by those before it, or -1
    cdef Py_ssize_t closing_edge(
        self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends
    ) except -2 nogil
    # visit all trees breadth first, each from its first node
    cdef int visit(
        self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends
    ) except -1 nogil
    # for each place that of its first child and of the next child of its parent, -1: none; roots
    # are siblings
    cdef int link(self, Scratch[int32_t]& first_child, Scratch[int32_t]& sibling) except -1 nogil
