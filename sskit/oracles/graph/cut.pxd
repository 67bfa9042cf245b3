from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials


cdef class Cut(GraphOracle):
    """The better of two options at every node, for all nodes at once, by one minimum cut.

    choose() between the states 0 and 1 of a graph of two states is the exact oracle; the moves
    of approximate oracles for more states are choices between a present and a new state.

    Node v is on the side of the source with its first option. Its edge from the source has the
    capacity gain[v], what the first option scores more than the second; it may be negative.
    Nodes whose options are the same are not in the network.

    PyMaxflow 1.3.2 keeps the interpreter's lock in all that it does. It is asked by send(), in
    turns, and by marginals() alone, and nothing else here takes the lock, but for more memory.
    """

    cdef Py_ssize_t max_nodes
    cdef Py_ssize_t max_edges
    cdef object graph
    cdef Scratch[int32_t] place      # (max_nodes,) of a node in the network; -1: not in it
    cdef Scratch[int32_t] node_of    # the inverse
    cdef Scratch[int32_t] option     # second options, for those who make them here
    cdef double[::1] gain            # (max_nodes,) by place
    # of the choice at hand
    cdef Scratch[double] label       # (n_nodes,) what the second option scores more
    cdef Scratch[double] pair        # (n_edges,) what it scores more at both ends than at each
    cdef int32_t[:, ::1] ends        # (2, max_edges) memory of the next two
    cdef int32_t* tail               # (max_edges,) edges of the network, by place
    cdef int32_t* head
    cdef double[::1] capacity        # (max_edges,) of either direction
    cdef const unsigned char[::1] sides  # by place: 1 where send() chose the second option
    cdef tuple arrays                # the same memory as NumPy arrays: see send()
    cdef Py_ssize_t n_nodes          # of the network
    cdef Py_ssize_t n_edges

    cdef int reserve(self, Py_ssize_t n_nodes, Py_ssize_t n_edges) except -1 nogil
    cdef int grow(self, Py_ssize_t n_nodes, Py_ssize_t n_edges) except -1
    # Write the second option to `labels`, which holds the first, where it is chosen; returns at
    # how many nodes. Where both are as good the first stays.
    cdef Py_ssize_t choose(
        self, const Potentials* p, const int32_t* second, int32_t* labels
    ) except -1 nogil
    # fill label and pair with a choice
    cdef int read(
        self, const Potentials* p, const int32_t* first, const int32_t* second
    ) except -1 nogil
    # the network of a choice; returns an edge that no cut can represent, or -1
    cdef Py_ssize_t prepare(
        self, const Potentials* p, const int32_t* first, const int32_t* second
    ) except -2 nogil
    # a network of the nodes with place[v] >= 0 is begun by begin(); then gain and join() fill it
    cdef void begin(self, Py_ssize_t n_nodes) noexcept nogil
    cdef inline void join(self, int32_t u, int32_t v, double capacity) noexcept nogil:
        self.tail[self.n_edges] = self.place[u]
        self.head[self.n_edges] = self.place[v]
        self.capacity[self.n_edges] = capacity
        self.n_edges += 1
    # hand the network to the solver, fill `sides` and return its maximum flow
    cdef double send(self) except? -1 nogil
    cdef double run(self) except? -1
    # After prepare() of the choice between the states 0 and 1, and with the best score in all
    # places of `out` (n_nodes, 2): the max-marginals.
    cdef int marginals(self, double[:, ::1] out) except -1


# An empty flow network with room for so many; the one door to PyMaxflow.
cdef object flow_graph(Py_ssize_t n_nodes, Py_ssize_t n_edges)
# scratch memory that a thread keeps from one cut to its next
cpdef Cut take_cut()
cpdef leave_cut(Cut cut)
