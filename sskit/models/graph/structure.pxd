from libc.stdint cimport int8_t, int32_t, int64_t
from libcpp.vector cimport vector

from sskit.core.vectors cimport Scratch
from sskit.models.feature_map cimport FeatureMap
from sskit.models.structure cimport Block, NodeLoss, Structure
from sskit.oracles.graph.potentials cimport PairForm, Potentials, Topologies


# See the header for what they do.
cdef extern from "labellings.hpp" namespace "sskit" nogil:
    void put_in_each(const Potentials& p, const int32_t* labels, double* out)
    Py_ssize_t graph_plane(
        const Potentials& p, int32_t node, int32_t pair, const int32_t* truth, const int32_t* code,
        int32_t* index, double* value
    )


cdef class GraphStructure(Structure):
    """Labellings of graphs, each of which has an oracle."""

    cdef FeatureMap map
    cdef PairForm form
    cdef const int32_t[:, ::1] ends
    cdef const int64_t[:] edge_first, edge_stop
    cdef Py_ssize_t pair_width               # places of a table
    cdef const int32_t[::1] table            # empty: each edge has its own row
    cdef readonly tuple oracles              # keeps the next ones alive
    cdef vector[void*] oracle_of
    cdef const int8_t[::1] choice
    cdef Topologies topologies               # the same in forks; None: oracles do without
    cdef const double[::1] forbidden         # (width,) 0 or -inf, added to all tables; empty: none
    cdef bint marginals_are_true
    # What is kept from call to call, also by forks: a graph is used by one thread at a time.
    cdef int32_t[::1] last                   # (n_nodes,) last labelling, -1: none; empty: none is
    cdef float[::1] messages
    cdef const int64_t[::1] message_offset   # (n_blocks,) where those of a graph begin, -1: none
    # scratch
    cdef Scratch[double] nodes               # potentials of nodes, with losses
    cdef Scratch[double] pairs               # of pairs, -inf where these are forbidden
    cdef Scratch[int32_t] labels
    cdef Scratch[double] counts              # expected, of the states of both ends of each edge

    # where the tables of a graph begin
    cdef inline Py_ssize_t pair_base(self, Py_ssize_t i) noexcept nogil:
        return 0 if self.map.head_rows else self.map.edge_base(i)

    cdef int load(self, const Block* b, Potentials* p) except -1 nogil
    # complete what oracles read: what follows from the edges, and forbidden pairs
    cdef int prepare(self, const Block* b, Potentials* p) except -1 nogil
    # potentials of nodes that may be written to
    cdef double* copy_nodes(self, Potentials* p) except NULL nogil
    # -inf at nodes becomes so low a number that the state is never chosen where that is needed
    cdef int make_finite(self, Potentials* p) except -1 nogil
    # the best labelling; `truth` is a good one to begin with, if there is one
    cdef int find(
        self, const Block* b, Potentials* p, const int32_t* truth, int32_t* code
    ) except -1 nogil
    # the same by one oracle, which starts from `labels`; sets `excess`
    cdef int run_oracle(
        self, Py_ssize_t k, const Potentials* p, int32_t* labels, float* messages
    ) except -1 nogil
    cdef int cut_marginals(self, Potentials* p, double* out) except -1
    # the scores of labellings that differ from the best one at one node
    cdef int put_in(self, const Block* b, Potentials* p, double* out) except -1 nogil
