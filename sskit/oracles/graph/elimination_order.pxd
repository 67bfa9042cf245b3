from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch

# no width is larger than this: of two states that would be 2^63 numbers
cdef Py_ssize_t MOST_WIDTH


cdef class EliminationOrder:
    """An order to eliminate the nodes of a graph in, such that few neighbours are joined.

    The neighbours of an eliminated node are joined with each other. The next node is one that
    needs the fewest new edges for that (minimum fill), which finds the width of chains, trees,
    series-parallel and chordal graphs. The last graph is kept: a graph with the same edges costs
    one comparison.
    """

    cdef readonly Py_ssize_t n_nodes     # -1: no graph yet
    cdef readonly Py_ssize_t width       # largest number of neighbours at an elimination, or ..
    cdef Py_ssize_t most                 # .. this + 1, if it is larger than this
    cdef Py_ssize_t n_edges
    cdef Scratch[int32_t] ends           # (2 n_edges,) of the graph at hand
    cdef Scratch[int32_t] order          # (n_nodes,) the node at a place
    cdef Scratch[int32_t] place          # (n_nodes,) of a node; -1: not eliminated yet
    # by place: joined[first[i]:first[i + 1]] are the neighbours at the elimination, by place
    cdef Scratch[int32_t] first          # (n_nodes + 1,)
    cdef Scratch[int32_t] joined
    # on the way there: the present neighbours of v, by number, are
    # pool[start[v]:start[v] + size[v]], and there is room for so many
    cdef Scratch[int32_t] pool
    cdef Scratch[Py_ssize_t] start
    cdef Scratch[int32_t] size
    cdef Scratch[int32_t] room
    # nodes with the same number of missing edges are queued: on grids this is better than to take
    # the last one first; the last number: too many neighbours
    cdef Scratch[int32_t] head
    cdef Scratch[int32_t] tail
    cdef Scratch[int32_t] next
    cdef Scratch[int32_t] previous
    cdef Scratch[int32_t] fill           # (n_nodes,)

    # find the order, if the width is no larger than `most`; returns `width`
    cdef Py_ssize_t arrange(
        self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends, Py_ssize_t most
    ) except -1 nogil
    # list the neighbours of all nodes
    cdef int load(
        self, Py_ssize_t n_nodes, Py_ssize_t n_edges, const int32_t* ends
    ) except -1 nogil
    cdef void sort(self) noexcept nogil
    # eliminate a node; its neighbours are listed in `joined`
    cdef int eliminate(self, int32_t v) except -1 nogil
    # where u stands, or would stand, among the neighbours of v
    cdef Py_ssize_t seek(self, int32_t v, int32_t u) noexcept nogil
    cdef bint adjacent(self, int32_t v, int32_t u) noexcept nogil
    cdef int insert(self, int32_t v, int32_t u) except -1 nogil
    # u and v have been joined: of what other nodes miss, one edge is there
    cdef void credit(self, int32_t u, int32_t v) noexcept nogil
    # count the edges that a node misses, and link it with those that miss as many
    cdef void count(self, int32_t v) noexcept nogil
    cdef void link(self, int32_t v, int32_t fill) noexcept nogil
    cdef void unlink(self, int32_t v) noexcept nogil
