from libc.stdint cimport int32_t, int64_t

from sskit.core.capabilities cimport PlaneStore
from sskit.core.problem cimport Problem, SlackGoal
from sskit.core.vectors cimport Scratch
from sskit.models.feature_map cimport FeatureMap


cdef struct Block:
    Py_ssize_t i                             # its number
    Py_ssize_t n                             # number of labels, by default one for each node
    Py_ssize_t first                         # number of its first label among all blocks
    const double* theta                      # potentials, laid out by the FeatureMap


cdef class NodeLoss:
    """The loss of a labelling as a sum over nodes, and the known labels of nodes.

    The loss of state k at node j is zero if k is right; else it is cost[j] or, with a table,
    cost[j] * table[truth[j], k], or cost[j] * table[j, k] if the table is by node; with several
    right states it is the least of these.
    """

    cdef dict given                          # arguments of its constructor
    cdef readonly Py_ssize_t n_states
    cdef const int32_t[::1] truth            # (n_nodes,) one right state of each
    cdef const double[::1] cost              # (n_nodes,) 0: no label; empty: up to the structure
    cdef const double[:, ::1] table          # (K, K) true by predicted, or (n_nodes, K), or empty
    cdef readonly bint by_node               # has the table a row for each node?
    cdef const unsigned char[:, ::1] right   # (n_nodes, K) all right states; empty: only the truth
    cdef const unsigned char[:, ::1] possible  # (n_nodes, K) empty: all states
    cdef const unsigned char[::1] labelled   # (n_nodes,) empty: all nodes; others have only state 0
    # is it cost[j] for all states but one, and are all possible? Then a programme can treat it
    # as a bonus of that state, without a copy of the potentials.
    cdef readonly bint is_bonus
    cdef bint has_masks                      # is a state impossible at some node?

    # potentials of nodes `stride` apart += weight * loss, up to a constant; -inf for impossible
    # states
    cdef void add(
        self, Py_ssize_t first, Py_ssize_t n, double weight, double* node, Py_ssize_t stride
    ) noexcept nogil
    # -inf for impossible states
    cdef void forbid(
        self, Py_ssize_t first, Py_ssize_t n, double* node, Py_ssize_t stride
    ) noexcept nogil
    cdef double at(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    # out[k] = the loss of state k at node j
    cdef void write(self, Py_ssize_t j, double* out) noexcept nogil
    cdef double of(self, Py_ssize_t first, Py_ssize_t n, const int32_t* code) noexcept nogil
    cdef void prefetch(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil


cdef class Structure:
    """The labellings of a block: the best one for given potentials, and their statistics.

    A subclass implements best, plane and knows. It may use scratch memory of the object: two
    threads need two objects (fork), which have the same arguments. `code` is a labelling, by
    default a state for each node.
    """

    cdef tuple args                          # positional arguments, and those by keyword
    cdef dict given
    cdef readonly bint exact                 # does `best` always find the maximum?
    cdef readonly bint bounds                # if not, does it set `excess`?
    cdef readonly bint costly                # does `best` take far longer than scores?
    cdef readonly bint lock_free             # do all methods run without the interpreter's lock?
    cdef readonly bint takes_turns
    cdef readonly double excess              # see `Problem`
    cdef readonly PlaneStore plane_store     # if codes are only numbers; else None
    cdef readonly Py_ssize_t max_code_length
    cdef readonly Py_ssize_t max_support     # entries of a plane, with repetitions
    cdef readonly Py_ssize_t n_labels        # of each block; 0: one for each node of the map
    cdef const SlackGoal* goal               # goal of candidates, which may then be fewer
    cdef Scratch[double] h                   # of candidates, `n_candidates` of them; also g
    cdef Scratch[double] g

    # offsets of the labels of each block, (n_blocks + 1,)
    cdef const int64_t[::1] offsets(self, FeatureMap map)

    # a labelling that maximises  weight * loss + <theta, m(y)>
    cdef int best(self, const Block* b, NodeLoss loss, double weight, int32_t* code) except -1 nogil
    # writes m(truth) - m(code) as (index, value) pairs; returns their number; indices may repeat
    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil
    # is this the code of a labelling of the block?
    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil

    # to be overridden if codes are not one state for each node
    cdef Py_ssize_t code_length(self, const Block* b) noexcept nogil
    cdef void truth_code(self, const Block* b, const int32_t* truth, int32_t* code) noexcept nogil
    cdef double loss_of(self, const Block* b, NodeLoss loss, const int32_t* code) noexcept nogil

    # Optional methods; structures without them raise NotImplementedError.
    # For slack rescaling: h[c] = <theta, m(y_c) - m(truth)> and g[c] = loss(y_c) of labellings
    # y_c, one of which
    # maximises any function that grows with both; returns their number. h[c] = -inf or g[c] = 0
    # do not count; those that miss the present goal may be left out. `take` writes y_c.
    cdef Py_ssize_t candidates(
        self, const Block* b, NodeLoss loss, double* h, double* g
    ) except -1 nogil
    cdef int take(
        self, const Block* b, NodeLoss loss, Py_ssize_t candidate, int32_t* code
    ) except -1 nogil
    # the best candidate for a goal; False, and the code of the truth, if none counts
    cdef bint choose(
        self, const Block* b, NodeLoss loss, const SlackGoal* goal, int32_t* code
    ) except -1 nogil
    # the k best labellings by decreasing score, (k, n); returns their number
    cdef Py_ssize_t k_best(
        self, const Block* b, Py_ssize_t k, int32_t* codes, double* scores
    ) except -1 nogil
    # out[t * stride + k] = the best score of a labelling with state k at node t
    cdef int max_marginals(self, const Block* b, double* out) except -1 nogil
    # <theta, m(code)>, or -inf if it is not a labelling of the block
    cdef double score(self, const Block* b, const int32_t* code) except? -1 nogil
    # Returns the logarithm of the sum of exp(score) over all labellings, -inf if there is none.
    # Writes the probabilities of states to `nodes`, (n, stride), and adds those of pairs to
    # `pairs`, with the layout of theta, unless these are NULL; pairs need nodes.
    cdef double marginals(self, const Block* b, double* nodes, double* pairs) except? -1 nogil
    # writes m(code) as (index, value) pairs, at most max_support; returns their number
    cdef Py_ssize_t statistics(
        self, const Block* b, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil
    # a labelling drawn by n numbers of [0, 1), for the block of the last call of marginals
    cdef int sample(self, const Block* b, const double* uniform, int32_t* code) except -1 nogil
    cdef int lacks(self, str name) except -1 nogil
    cpdef Structure fork(self)


cdef class StructuredProblem(Problem):
    """A feature map, a structure and a loss: every compiled problem is one of these."""

    cdef readonly FeatureMap map
    cdef readonly Structure structure
    cdef readonly NodeLoss loss
    cdef const int64_t[::1] offsets          # of the structure
    cdef Py_ssize_t each                     # labels of every block, or 0: they differ

    cdef inline Block block(self, Py_ssize_t i, const double* theta) noexcept nogil:
        cdef Block b
        b.i, b.theta = i, theta
        # what is not read is not waited for
        b.first, b.n = i * self.each, self.each
        if not self.each:
            b.first = self.offsets[i]
            b.n = self.offsets[i + 1] - b.first
        return b
