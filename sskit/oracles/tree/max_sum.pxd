from libc.stdint cimport int32_t

from sskit.core.vectors cimport Scratch
from sskit.oracles.chain.viterbi cimport LazyLists, Step
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials, Topology

cdef extern from "tree_lists.hpp" namespace "sskit":
    cdef cppclass TreeLists[P]:
        const P* p
        const int32_t* order
        const int32_t* parent
        const int32_t* edge
        const int32_t* first_child
        const int32_t* sibling
        const double* value
        const double* joined
        double* row
        double (*edge_score)(
            const P*, Py_ssize_t, int32_t, int32_t, int32_t
        ) noexcept nogil


cdef class TreeMaxSum(GraphOracle):
    """Max-sum on forests: the Viterbi recursion from the leaves to the roots.

    Rows of value and message are those of places in its order, padded(n_states) columns each;
    their padding is arbitrary.
    """

    cdef const Topology* forest     # at hand
    cdef Py_ssize_t stride
    cdef Step step
    cdef Scratch[double] value      # best score of a subtree by the state of its root
    cdef Scratch[double] message    # the same with the edge to the parent, by the parent's state
    cdef Scratch[double] beyond     # best score of the rest of the tree, by the state of the place
    # tables (n_states, stride) of edges, first node by second, or turned: of one edge at a time,
    # or, where edges share them, each once: that of row t from 2 t on
    cdef Scratch[double] tables
    cdef Scratch[char] ready        # which of them are made; empty if they are not kept
    cdef Scratch[double] row       # (2, stride) scratch, zeros
    cdef Scratch[double] bests     # (n_nodes,) by place: best score of the tree

    cdef int reserve(self, const Potentials* p) except -1 nogil
    # fill value and message
    cdef void ascend(self, const Potentials* p) noexcept nogil
    # out[b] = max over a of from_[a] + the score of the edge of a place with a at the place and b
    # at its parent, or, downwards, the other way round
    cdef void send(
        self, const Potentials* p, Py_ssize_t place, bint down, const double* from_, double* out
    ) noexcept nogil
    # out[v * stride + k]
    cdef int marginals(
        self, const Potentials* p, double* out, Py_ssize_t stride
    ) except -1 nogil
    cdef void descend(self, const Potentials* p) noexcept nogil
    # the table of an edge from the state of its first node, or if not forward its second, to that
    # of the other
    cdef const double* table(self, const Potentials* p, Py_ssize_t e, bint forward) noexcept nogil


cdef class TreeSumProduct(TreeMaxSum):
    """Sum-product on forests: what max-sum sends, with sums of exponentials in place of maxima.

    Probabilities of labellings are exp(score) / Z. Everything is kept in logarithms.
    """

    cdef Scratch[double] sums        # (4, stride)
    cdef double* pairs               # where probabilities of pairs are added; NULL: nowhere

    cdef void add_edge(
        self, const Potentials* p, Py_ssize_t place, const double* rest
    ) noexcept nogil
    # log Z, -inf if no labelling is possible, else also the marginals (n_nodes, stride) of the
    # nodes and, unless pairs is NULL, to which they are added, those of the edges, (n_edges,
    # n_states, stride), from the state of the first node to that of the second
    cdef double infer(
        self, const Potentials* p, double* marginals, double* pairs
    ) except? -1 nogil
    # a labelling drawn by n_nodes numbers of [0, 1), of the graph that `infer` was asked about last
    cdef void sample(
        self, const Potentials* p, const double* uniform, int32_t* labels
    ) noexcept nogil


cdef class TreeKBest:
    """The k best labellings of forests: lists in place of the numbers of max-sum, as asked for."""

    cdef readonly Py_ssize_t k
    cdef TreeMaxSum sums
    cdef Scratch[int32_t] first_child          # (n_nodes,) by place, -1: none
    cdef Scratch[int32_t] sibling              # (n_nodes,) of the next child of its parent, -1
    cdef LazyLists[TreeLists[Potentials]] lists

    # the best labellings, as many as are possible (> -inf) up to k, best first, to labels
    # (k, n_nodes) and out (k,); returns their number
    cdef Py_ssize_t decode(self, const Potentials* p, int32_t* labels, double* out) except -1
