from libc.stdint cimport int32_t
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from sskit.core.vectors cimport Scratch, priority_queue
from sskit.oracles.graph.potentials cimport GraphOracle, Potentials, Topology


cdef class TreeMaxSum(GraphOracle):
    """Max-sum on forests: the Viterbi recursion from the leaves to the roots.

    Rows of value and message are those of places in its order, padded(n_states) columns each;
    their padding is arbitrary.
    """

    cdef const Topology* forest     # at hand
    cdef Py_ssize_t stride
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
    # out (n_nodes, n_states)
    cdef int marginals(self, const Potentials* p, double* out) except -1 nogil
    cdef void descend(self, const Potentials* p) noexcept nogil
    # the table of an edge from the state of its first node, or if not forward its second, to that
    # of the other
    cdef const double* table(self, const Potentials* p, Py_ssize_t e, bint forward) noexcept nogil


# the score of an edge with this state at one of its nodes, the other at the other
cdef double edge_score(
    const Potentials* p, Py_ssize_t e, int32_t node, int32_t state, int32_t other
) noexcept nogil


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


# A labelling of a subtree with the edge to its parent: which state its root has, and which of the
# labellings of the subtree with that state it is
cdef struct Head:
    double score
    int32_t state
    int32_t rank


# A labelling of a node and of the subtrees of some of its children: which of the labellings with
# one child less it goes on from, and which head of this child it adds
cdef struct Joined:
    double score
    int32_t before
    int32_t head


ctypedef pair[double, pair[int32_t, int32_t]] Candidate   # score, then -before and -head for ties


cdef class TreeKBest:
    """The k best labellings of forests: lists in place of the numbers of max-sum, as asked for.

    A *link* is a child together with a state of its parent. It has two lists, best first: heads,
    and joined labellings of the parent in this state with this child and those after it. Before
    the last child stands the parent alone; the list of the first child is that of the whole
    subtree of the parent. The roots are children of one node above them, with the single state 0.

    Max-sum knows the first entries of all lists. Links are opened, all children of a node at
    once, when a labelling uses the state of their parent, and lists grow by one entry when it is
    asked for: what may follow their last entry becomes a candidate, and the best one is taken.
    """

    cdef readonly Py_ssize_t k
    cdef TreeMaxSum sums
    cdef Py_ssize_t n_links
    # (n_nodes, n_states) by place and state of the parent, -1: none
    cdef Scratch[int32_t] link_of
    cdef vector[int32_t] place_of              # of a link, and the state of its parent
    cdef vector[int32_t] state_of
    cdef Scratch[int32_t] first_child          # (n_nodes,) by place, -1: none
    cdef Scratch[int32_t] sibling              # (n_nodes,) of the next child of its parent, -1
    cdef vector[vector[Head]] heads
    cdef vector[vector[Joined]] joined
    cdef vector[vector[int32_t]] waiting       # by state: the rank of the head that is next, -1
    cdef vector[priority_queue[Candidate]] candidates
    cdef vector[int32_t] stack                 # lists that are growing: 2 link, heads: + 1
    cdef vector[char] finished                 # per list, with the same numbers: is that all?

    # the best labellings, as many as are possible (> -inf) up to k, best first, to labels
    # (k, n_nodes) and out (k,); returns their number
    cdef Py_ssize_t decode(self, const Potentials* p, int32_t* labels, double* out) except -1
    cdef int begin(self, const Potentials* p) except -1
    # open the links of a node, -1 for that above the roots, in a state
    cdef int open(self, const Potentials* p, Py_ssize_t place, int32_t state) except -1 nogil
    cdef int make_room(self, Py_ssize_t n_links) except -1 nogil
    cdef int open_heads(self, const Potentials* p, Py_ssize_t link) except -1 nogil
    # the list of joined labellings of the whole subtree of a node in a state; -1 if it is a leaf
    cdef Py_ssize_t subtree(
        self, const Potentials* p, Py_ssize_t place, int32_t state
    ) except -2 nogil
    # add one more entry to a list, unless it is finished
    cdef int grow(self, const Potentials* p, Py_ssize_t list_) except -1 nogil
    # each returns a list that must grow before, or -1
    cdef Py_ssize_t expand_heads(self, const Potentials* p, Py_ssize_t link) except -2 nogil
    cdef Py_ssize_t expand_joined(self, const Potentials* p, Py_ssize_t link) except -2 nogil
    cdef int propose(
        self, Py_ssize_t link, double base, int32_t before, int32_t head
    ) except -1 nogil
    # each returns whether there was one
    cdef bint take_head(self, const Potentials* p, Py_ssize_t link) except -1 nogil
    cdef bint take_joined(self, Py_ssize_t link) except -1 nogil
    cdef int trace(
        self, const Potentials* p, Py_ssize_t rank, int32_t* labels, int32_t* ranks
    ) except -1 nogil
