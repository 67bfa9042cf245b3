from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.vectors cimport Scratch
from sskit.losses.batch cimport Batch, BatchTask, Truths
from sskit.oracles.graph.potentials cimport GraphOracle, PairForm, Potentials, Topology
from sskit.oracles.tree.max_sum cimport TreeMaxSum


cdef class GraphWorker:
    """Scratch memory and oracles of one thread."""

    cdef Batch batch
    cdef PairForm form
    cdef bint forests                # is a cycle an error?
    cdef TreeMaxSum tree
    cdef list oracles                # by their numbers in the rule of choice
    cdef vector[void*] oracle_of
    cdef Topology topology           # of the edges at hand
    cdef bint has_table              # the one of all
    cdef Py_ssize_t of               # the sample at hand
    cdef Potentials p                # of it
    cdef Potentials rest             # of its nodes without a label
    cdef Scratch[double] node
    cdef Scratch[double] pair
    cdef Scratch[int32_t] table      # zeros: all edges have the first table
    cdef Scratch[int32_t] place      # of a node among those without a label, -1: it has one
    cdef Scratch[double] rest_node
    cdef Scratch[double] rest_pair
    cdef Scratch[int32_t] rest_table
    cdef Scratch[int32_t] rest_ends
    cdef Scratch[int32_t] rest_label

    # the potentials of a sample
    cdef int load(self, Py_ssize_t i) except -1 nogil
    cdef void take_form(self, Potentials* p) noexcept nogil
    # A best labelling, if the oracle is exact; `labels` has one to begin with. Is it certain?
    cdef bint improve(self, Potentials* p, int32_t* labels) except -1 nogil
    # improve by an oracle, which may find that nothing is allowed
    cdef int ask_carefully(
        self, GraphOracle oracle, const Potentials* p, int32_t* labels
    ) except -1
    # can a cut represent all edges of two states?
    cdef bint takes_cuts(self, const Potentials* p) noexcept nogil
    # are all numbers so, and their sums?
    cdef bint is_finite(self, const Potentials* p) noexcept nogil
    # take the edges, which must form a forest
    cdef int take_forest(self, Potentials* p) except -1 nogil
    # The best labelling that agrees with what is known. Is that certain?
    cdef bint complete(self, Truths truths, int32_t* labels) except -1 nogil
    # the potentials of the nodes without a label, given the labels of the others
    cdef int reduce(self, Py_ssize_t n_hidden, const int32_t* labels) except -1 nogil
    # how much more a labelling scores than another one
    cdef double advantage(self, const int32_t* labels, const int32_t* others) noexcept nogil


cdef class GraphTask(BatchTask):
    """Graphs, and a worker of its own for each thread."""

    cdef list workers
    cdef vector[void*] worker_of     # GraphWorker by its number
