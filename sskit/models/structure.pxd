from libc.stdint cimport int32_t, int64_t

from sskit.core.capabilities cimport PlaneStore
from sskit.core.problem cimport Problem, SlackGoal
from sskit.core.vectors cimport Scratch
from sskit.models.feature_map cimport FeatureMap


cdef struct Block:
    Py_ssize_t i                             # its number
    Py_ssize_t n                             # labels: one for each node, or as the structure says
    Py_ssize_t first                         # the first of them, among those of all blocks
    const double* theta                      # potentials, laid out as the FeatureMap says


cdef class NodeLoss:
    """The loss of a labelling as a sum over nodes, and what is known of their labels.

    The loss of state k at node j is zero where k is right; else cost[j] or, with a table,
    cost[j] * table[truth[j], k], or cost[j] * table[j, k] if it is by node; with several right
    states the least of these.
    """

    cdef dict given                          # what it was made of
    cdef readonly Py_ssize_t n_states
    cdef const int32_t[::1] truth            # (n_nodes,) a right state of each
    cdef const double[::1] cost              # (n_nodes,) 0: no label; empty: the structure knows
    cdef const double[:, ::1] table          # (K, K) true by predicted, or (n_nodes, K), or empty
    cdef readonly bint by_node               # has the table a row for each node?
    cdef const unsigned char[:, ::1] right   # (n_nodes, K) all right states; empty: the truth alone
    cdef const unsigned char[:, ::1] possible  # (n_nodes, K) empty: all states are
    cdef const unsigned char[::1] labelled   # (n_nodes,) empty: all nodes are; else state 0 alone
    # is it cost[j] for all states but one, and are all possible? Then a programme takes it as a
    # bonus of that state, and no potentials are copied.
    cdef readonly bint is_bonus
    cdef bint has_masks                      # is not every state possible everywhere?

    # potentials of nodes `stride` apart += weight * loss, but for a constant; -inf where a state
    # is impossible
    cdef void add(
        self, Py_ssize_t first, Py_ssize_t n, double weight, double* node, Py_ssize_t stride
    ) noexcept nogil
    # -inf where a state is impossible
    cdef void forbid(
        self, Py_ssize_t first, Py_ssize_t n, double* node, Py_ssize_t stride
    ) noexcept nogil
    cdef double at(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    # out[k] = the loss of state k at node j
    cdef void write(self, Py_ssize_t j, double* out) noexcept nogil
    cdef double of(self, Py_ssize_t first, Py_ssize_t n, const int32_t* code) noexcept nogil
    cdef void prefetch(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil


cdef class Structure:
    """What labellings there are: from potentials to the best of them, and to their statistics.

    A subclass fills best, plane and knows. It may use scratch memory of the object: two threads
    need two objects (fork), which are made of the same arguments. `code` is a labelling, a state
    for each node, unless a subclass says otherwise.
    """

    cdef tuple args                          # what it was made of; likewise the next one
    cdef dict given
    cdef readonly bint exact                 # does best truly maximise?
    cdef readonly bint bounds                # if not, does it set `excess`?
    cdef readonly bint costly                # does it take far longer than scores?
    cdef readonly bint lock_free             # does no method ever take the interpreter's lock?
    cdef readonly bint takes_turns
    cdef readonly double excess              # see `Problem`
    cdef readonly PlaneStore plane_store     # where codes are mere numbers; else None
    cdef readonly Py_ssize_t max_code_length
    cdef readonly Py_ssize_t max_support     # entries of any plane, repeated ones counted
    cdef readonly Py_ssize_t n_labels        # of each block; 0: one for each node of the map
    cdef const SlackGoal* goal               # what candidates are for, which may be fewer then
    cdef Scratch[double] h                   # of candidates, as `n_candidates` says; likewise g
    cdef Scratch[double] g

    # where the labels of each block begin, (n_blocks + 1,)
    cdef const int64_t[::1] offsets(self, FeatureMap map)

    # a labelling that maximises  weight * loss + <theta, m(y)>
    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil
    # m(truth) - m(code) as (index, value) pairs, an index may repeat; returns their number
    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil
    # is this the code of a labelling of the block?
    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil

    # what is other than usual where codes are not one state for each node
    cdef Py_ssize_t code_length(self, const Block* b) noexcept nogil
    cdef void truth_code(
        self, const Block* b, const int32_t* truth, int32_t* code
    ) noexcept nogil
    cdef double loss_of(self, const Block* b, NodeLoss loss, const int32_t* code) noexcept nogil

    # What some structures offer besides; others raise NotImplementedError.
    # slack rescaling: h[c] = <theta, m(y_c) - m(truth)> and g[c] = loss of labellings of which one
    # maximises
    # whatever grows with both; returns their number. Those with h[c] = -inf or g[c] = 0 do not
    # count, and what misses the present goal may be left out. `take` gives the labelling of one.
    cdef Py_ssize_t candidates(
        self, const Block* b, NodeLoss loss, double* h, double* g
    ) except -1 nogil
    cdef int take(
        self, const Block* b, NodeLoss loss, Py_ssize_t candidate, int32_t* code
    ) except -1 nogil
    # the one that reaches a goal best; False, and the code of the truth, if none counts
    cdef bint choose(
        self, const Block* b, NodeLoss loss, const SlackGoal* goal, int32_t* code
    ) except -1 nogil
    # the k best labellings by falling score, (k, n); returns how many there are
    cdef Py_ssize_t k_best(
        self, const Block* b, Py_ssize_t k, int32_t* codes, double* scores
    ) except -1 nogil
    # out[t * stride + k] = the best score of a labelling with state k at node t
    cdef int max_marginals(self, const Block* b, double* out) except -1 nogil
    # <theta, m(code)>, of no labelling of the block -inf
    cdef double score(self, const Block* b, const int32_t* code) except? -1 nogil
    # The logarithm of the sum of exp(score) over all labellings, -inf if none is possible. Else
    # the probabilities of states are written to `nodes`, (n, stride), and those of pairs of
    # neighbours added to `pairs`, which is laid out as theta; each unless NULL, pairs with nodes.
    cdef double marginals(self, const Block* b, double* nodes, double* pairs) except? -1 nogil
    # a labelling drawn by n numbers of [0, 1), of the block whose sum was asked for last, alone
    cdef int sample(self, const Block* b, const double* uniform, int32_t* code) except -1 nogil
    cdef int lacks(self, str name) except -1 nogil
    cpdef Structure fork(self)


cdef class StructuredProblem(Problem):
    """A feature map, a structure and a loss: every compiled problem is one of these."""

    cdef readonly FeatureMap map
    cdef readonly Structure structure
    cdef readonly NodeLoss loss
    cdef const int64_t[::1] offsets          # of the structure
    cdef bint is_single                      # has every block one label? Then they are its number

    cdef inline Block block(self, Py_ssize_t i, const double* theta) noexcept nogil:
        cdef Block b
        b.i, b.theta = i, theta
        b.first, b.n = i, 1
        if not self.is_single:
            b.first = self.offsets[i]
            b.n = self.offsets[i + 1] - b.first
        return b
