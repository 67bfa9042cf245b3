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

    cdef dict arguments                      # arguments of its constructor
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

    A subclass implements `best`, `plane` and `knows`, and sets `max_code_length` and
    `max_support` in its constructor. It may override all other methods. A *code* is a labelling
    as whole numbers, by default a state for each node. m(y) are the statistics of a labelling y,
    and theta the potentials of the block: <theta, m(y)> is its score.

    Every method can rely on this:

    - b describes a block of the map that the structure was made for. b.theta holds
      map.max_statistics numbers, laid out as `FeatureMap` says; where a method does not need
      potentials (`plane`, `knows`, `code_length`, `truth_code`, `loss_of`) it may be NULL.
    - `code` holds max_code_length numbers, `index` and `value` hold max_support.
    - A code that is read is one that the structure wrote or that `knows` accepted, except by
      `knows` itself.
    - No two threads call methods of one object at once: it may have scratch memory. Another
      thread has another object (`fork`), which is made by the same arguments.

    No method may call Python without the interpreter's lock; one that takes it sets `lock_free`
    to False. A negative result of -1 (except -1) means that a Python error is set.
    """

    cdef tuple arguments                     # positional arguments, and those by keyword
    cdef dict options
    cdef readonly bint exact                 # does `best` always find the maximum?
    cdef readonly bint bounds                # if not, does it set `excess`?
    cdef readonly bint costly                # does `best` take far longer than scores?
    cdef readonly double work                # of `best`, in visits to stored planes; 0: not known
    cdef readonly bint lock_free             # do all methods run without the interpreter's lock?
    cdef readonly bint takes_turns           # or take it for a part of their time, in turns?
    cdef readonly double excess              # see `Problem`
    cdef readonly PlaneStore plane_store     # if codes are only numbers; else None
    cdef readonly Py_ssize_t max_code_length
    cdef readonly Py_ssize_t max_support     # entries of a plane, with repetitions
    cdef readonly Py_ssize_t n_labels        # of each block; 0: one for each node of the map
    cdef const SlackGoal* goal               # goal of candidates, which may then be fewer
    cdef Scratch[double] h                   # of candidates, `n_candidates` of them; also g
    cdef Scratch[double] g

    # ---- what every structure must have ------------------------------------------------------

    # requires  weight >= 0; loss is that of the block's map
    # ensures   code is a labelling that maximises  weight * loss(y) + <theta, m(y)>  over all y
    #           whose states are possible (`loss.add` makes the others -inf); any code, if none is.
    #           If not `exact`, it may be a worse one. If `bounds`, excess >= 0 is at least what
    #           the maximum exceeds the value of this code by.
    cdef int best(self, const Block* b, NodeLoss loss, double weight, int32_t* code) except -1 nogil

    # requires  truth are the block's entries of `loss.truth`, one for each label
    # ensures   m(truth) - m(code) is the sum of value[e] at statistic index[e] over e < the
    #           returned number, which is at most max_support. An index may repeat, and equal
    #           parts of both labellings need no entries.
    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil

    # requires  nothing of the numbers in code, which may come from a file
    # ensures   True if and only if code is a labelling of the block
    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil

    # ---- what a structure must have if a code is not one state for each node ------------------

    # ensures   offsets (n_blocks + 1,) of the labels of each block in `loss.truth`, from 0 on;
    #           by default those of the nodes, or n_labels for each block
    cdef const int64_t[::1] offsets(self, FeatureMap map)

    # ensures   0 <= the length of every code of the block <= max_code_length; by default b.n
    cdef Py_ssize_t code_length(self, const Block* b) noexcept nogil

    # requires  truth as in `plane`
    # ensures   code is the code of the truth; by default a copy
    cdef void truth_code(self, const Block* b, const int32_t* truth, int32_t* code) noexcept nogil

    # ensures   the loss of the labelling, >= 0, and 0 for the truth; by default the sum over nodes
    cdef double loss_of(self, const Block* b, NodeLoss loss, const int32_t* code) noexcept nogil

    # ---- what a structure may have: those without it raise NotImplementedError ----------------

    # For slack rescaling, of structures whose `n_candidates(loss)` is positive.
    # requires  h and g hold n_candidates(loss) numbers; `goal` is the present goal
    # ensures   h[c] = <theta, m(y_c) - m(truth)> and g[c] = loss(y_c) of labellings y_c, c < the
    #           returned number, one of which maximises any function that grows with both. Those
    #           with h[c] = -inf or g[c] = 0 do not count; those that miss the goal may be left out.
    cdef Py_ssize_t candidates(
        self, const Block* b, NodeLoss loss, double* h, double* g
    ) except -1 nogil
    # requires  the last call of `candidates` was for this block, and returned more than candidate
    # ensures   code is the labelling y_c of c = candidate
    cdef int take(
        self, const Block* b, NodeLoss loss, Py_ssize_t candidate, int32_t* code
    ) except -1 nogil
    # ensures   code is that of the best candidate for a goal; that of the truth, and False is
    #           returned, if none counts. By default from `candidates` and `take`.
    cdef bint choose(
        self, const Block* b, NodeLoss loss, const SlackGoal* goal, int32_t* code
    ) except -1 nogil

    # requires  k is at most what `prepare_k_best` returned; codes (k, n); scores (k,)
    # ensures   the best different labellings and their scores, the highest first; returns their
    #           number, which is less than k if the block has no more
    cdef Py_ssize_t k_best(
        self, const Block* b, Py_ssize_t k, int32_t* codes, double* scores
    ) except -1 nogil

    # requires  `prepare_marginals` was called with potentials whose head and tail are those of
    #           theta; out (n, stride), the stride of the map's nodes
    # ensures   out[t * stride + k] = the highest score of a labelling with state k at node t;
    #           -inf if there is none
    cdef int max_marginals(self, const Block* b, double* out) except -1 nogil

    # requires  one state for each node, 0 <= state < K, that need not be a labelling
    # ensures   <theta, m(code)>, or -inf if it is not a labelling of the block
    cdef double score(self, const Block* b, const int32_t* code) except? -1 nogil

    # requires  `prepare_marginals` as above; nodes (n, stride) or NULL; pairs with the layout of
    #           theta or NULL, and not without nodes
    # ensures   log Z = the logarithm of the sum of exp <theta, m(y)> over all labellings, -inf if
    #           there is none, which writes nothing; nodes are the probabilities of states, and
    #           those of pairs are added to `pairs`
    cdef double marginals(self, const Block* b, double* nodes, double* pairs) except? -1 nogil

    # requires  `prepare_marginals` was called before
    # ensures   `marginals` of blocks whose theta has other head and tail than until now may follow
    cdef void change_tables(self, const Block* b) noexcept nogil

    # ensures   m(code) is the sum of value[e] at statistic index[e]; returns the number of entries,
    #           at most max_support
    cdef Py_ssize_t statistics(
        self, const Block* b, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil

    # requires  the last call of `marginals` was for this block and not -inf; n numbers uniform in
    #           [0, 1)
    # ensures   code is a labelling, drawn with probability exp(score) / Z
    cdef int sample(self, const Block* b, const double* uniform, int32_t* code) except -1 nogil

    # ensures   the same structure with its own scratch memory, for another thread; by default the
    #           constructor with the same arguments
    cpdef Structure fork(self)

    # raises NotImplementedError, which names the class and the method
    cdef int lacks(self, str name) except -1 nogil

    # Methods in Python, to be overridden too: n_candidates, prepare_k_best, prepare_marginals,
    # bound_to, digest and digests; see structure.pyx.


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
        # memory that is not read costs no time
        b.first, b.n = i * self.each, self.each
        if not self.each:
            b.first = self.offsets[i]
            b.n = self.offsets[i + 1] - b.first
        return b


cdef class StateStructure(Structure):
    cdef readonly Py_ssize_t n_states
