from libc.stdint cimport int32_t, int64_t

from sskit.core.decomposition cimport Factors
from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem
from sskit.models.features cimport FeatureRows, SequenceGrams


cdef class ChainProblem(Problem):
    """Linear chains: statistics, potentials and weights.

    With stride = padded(n_states), statistic a * stride + b counts the transition from a to b
    and statistic (n_states + t) * stride + k says that node t has state k; potentials likewise,
    so that theta is a padded transition table followed by the padded node potentials.

    Weights, flat: nodes (n_features, n_states), transitions (n_states, n_states), start
    (n_states,), end (n_states,). Start and end weights are features of the first and last node.
    """

    cdef FeatureRows features
    cdef object given                        # what it was made of
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t n_nodes         # of all sequences
    cdef Py_ssize_t stride
    cdef Py_ssize_t transition_weights       # where they begin; likewise the next two
    cdef Py_ssize_t start_weights
    cdef Py_ssize_t end_weights
    cdef const int64_t[::1] offsets          # (n_blocks + 1,) rows of the features
    cdef const int32_t[::1] labels           # (n_rows,) the truth
    cdef const double[::1] cost              # (n_rows,) loss of a wrong label at each node
    cdef readonly bint has_sets              # may nodes have several right labels?
    cdef const unsigned char[:, ::1] accepted  # (n_rows, n_states) which these are, if so
    cdef const double[:, ::1] forbidden      # (n_states, stride) 0 or -inf, added to transitions
    cdef const double[::1] forbidden_start   # (n_states,) 0 or -inf, likewise the next
    cdef const double[::1] forbidden_end
    cdef const int32_t[::1] weight_of        # (n_states * stride,) of a transition, in its table
    cdef public object slack_kind            # makes a slack oracle of the problem, or None
    cdef SequenceGrams grams                 # of blocks where they cost less than features
    # scratch
    cdef double[::1] value                   # Viterbi values
    cdef int32_t[::1] active                 # rows of a direction that are not zero
    cdef int32_t[::1] fresh                  # (longest,) row of node scores made for request ..
    cdef int32_t request
    cdef double[::1] node_scores             # as the node potentials
    cdef double[::1] image                   # (n_features * n_states,) zero between calls

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    # the best labelling under potentials of nodes, and of pairs in theta; truth may be NULL
    cdef double decode(
        self, Py_ssize_t i, const double* node, const double* theta, const int32_t* labels,
        const double* cost, double loss_weight, int32_t* code
    ) noexcept nogil
    # argmax where nodes may have several right labels
    cdef int argmax_of_sets(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) noexcept nogil
    # pointers into theta, a table for each step; NULL if the first table serves all
    cdef const double** steps(self, Py_ssize_t i, const double* theta) noexcept nogil
    # total + the nodes' part of ||B_i delta||^2; NaN if nobody has called prepare_steps
    cdef double add_node_sqnorm(
        self, Py_ssize_t i, Direction delta, double total
    ) noexcept nogil
    cdef double scatter_rest(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) noexcept nogil


cdef class ChainFactors(Factors):
    cdef FeatureRows features
    cdef const int64_t[::1] offsets
    cdef const int32_t[::1] labels
    cdef const double[::1] costs
    cdef const double[:, ::1] forbidden
    cdef const double[::1] forbidden_start
    cdef const double[::1] forbidden_end
    cdef double[::1] row_sqnorm              # (n_nodes,) of the features of a node
    cdef bint free                           # is nothing forbidden?
    cdef Py_ssize_t transition_weights
    cdef Py_ssize_t start_weights
    cdef Py_ssize_t end_weights
