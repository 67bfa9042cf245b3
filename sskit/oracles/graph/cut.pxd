from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials

# See the header for what they do.
cdef extern from "networks.hpp" namespace "sskit" nogil:
    cppclass Network:
        Scratch[int32_t] place, node_of
        Py_ssize_t n_nodes, n_edges
        double* gain
        double* capacity
        int32_t* tail
        int32_t* head

    cppclass Choice:
        Scratch[double] label, pair
        void read(const Potentials& p, const int32_t* first, const int32_t* second) except +
        Py_ssize_t prepare(
            const Potentials& p, const int32_t* first, const int32_t* second, Network& to
        ) except +
        double optimum(const Potentials& p, const int32_t* halves)

    cppclass RoofDual:
        Py_ssize_t decide(
            Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
            const double* pair, int32_t* halves
        ) except +
        void prepare(const int32_t* halves, Network& to) except +
        void read(const Network& network, const unsigned char* sides, int32_t* halves)

    cppclass BinaryChoices:
        Scratch[int32_t] certain, trial, second
        void begin(const Potentials& p) except +
        void cut_off(const Potentials& p, int32_t k, Network& to)
        void keep(
            const Potentials& p, int32_t k, const Network& network, const unsigned char* sides
        )
        void options(const Potentials& p, bint swaps, Py_ssize_t m, const int32_t* labels)


cdef class Cut(GraphOracle):
    """The better of two options at every node, for all nodes at once, by one minimum cut.

    choose() between the states 0 and 1 of a graph of two states is the exact oracle; expansions
    of approximate oracles for more states are choices between a present and a new state.

    PyMaxflow 1.3.2 keeps the interpreter's lock in all that it does. It is called by send(), in
    turns, and by marginals() alone, and nothing else here takes the lock, but for more memory.
    """

    cdef Py_ssize_t max_nodes, max_edges
    cdef object graph
    cdef Network network
    cdef bint one_way                # do its edges go from tail to head only?
    cdef Choice choice               # the one at hand
    cdef RoofDual dual
    cdef Scratch[int32_t] last       # (n_nodes,) the last state
    cdef Scratch[int32_t] labelling  # (n_nodes,) a labelling
    cdef int32_t[:, ::1] ends        # memory of the network
    cdef double[::1] gain, capacity
    cdef const unsigned char[::1] sides  # by place: 1 where send() chose the second option
    cdef tuple arrays                # the same memory as NumPy arrays: see send()

    cdef int reserve(self, Py_ssize_t n_nodes, Py_ssize_t n_edges) except -1 nogil
    cdef int grow(self, Py_ssize_t n_nodes, Py_ssize_t n_edges) except -1
    # write the second option to `labels`, which holds the first, where it is chosen; where both
    # are as good the first stays
    cdef int choose(
        self, const Potentials* p, const int32_t* second, int32_t* labels
    ) except -1 nogil
    # the linear relaxation of a choice: halves (n_labels,) get twice the best value of each label
    cdef int relax(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* halves
    ) except -1 nogil
    # hand the network to the solver, fill `sides` and return its maximum flow
    cdef double send(self) except? -1 nogil
    cdef double run(self) except? -1
    # out[v * stride + k]: the best score of two states with state k at node v
    cdef int marginals(self, const Potentials* p, double* out) except -1


# scratch memory that a thread keeps from one cut to its next
cdef Cut take_cut()
cdef leave_cut(Cut cut)
