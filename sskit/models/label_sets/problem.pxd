from libc.stdint cimport int32_t, int64_t

from sskit.core.problem cimport Problem
from sskit.models.features cimport FeatureRows
from sskit.oracles.label_sets.sets cimport LabelSetOracle, SetScores, SlackSets


cdef class MultilabelProblem(Problem):
    """A set of labels for every row of the features, with weights of pairs of labels.

    Statistic l < n_labels is y_l, whether label l is there; statistic stride + e is z_e, whether
    both labels of edge e are, with stride = padded(n_labels). Codes are the same numbers, without
    the padding, in units of the oracle: relaxations have fractions of labels, and their planes
    are those of the relaxed problem.
    Weights, flat: features (n_features, n_labels), then, with an intercept, (n_labels,), the
    weights of a constant feature, then pairs (n_edges,).

    Guaranteed to the implementer: 0 <= ends < n_labels; truths are 0 or 1, and among the sets of
    the oracle; costs are not negative.
    """

    cdef FeatureRows features
    cdef readonly LabelSetOracle oracle
    cdef SlackSets slack                   # or None
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t n_edges
    cdef readonly bint intercept
    cdef Py_ssize_t stride
    cdef Py_ssize_t constant_weights       # where those of the constant feature begin
    cdef Py_ssize_t pair_weights           # where those of the pairs begin
    cdef const unsigned char[:, ::1] truths  # (n_blocks, n_labels)
    cdef const double[::1] cost            # (n_labels,) loss of a wrong label
    cdef const int32_t[:, ::1] ends        # (n_edges + 1, 2), a spare one at the end
    cdef double[::1] row_sqnorm            # (n_blocks,) of the features and the constant
    cdef double[::1] augmented             # (n_labels,) scratch: scores of labels with the loss
    cdef SetScores asked                   # scratch: what the oracle is asked
    cdef object tight                      # of its factors; None if it has none
    cdef object whole                      # entries of the fingerprint

    # theta of the labels alone
    cdef void score_labels(self, Py_ssize_t i, const double* w, double* theta) noexcept nogil
    # z_e of the truth, 0 or 1
    cdef int32_t true_pair(self, Py_ssize_t i, Py_ssize_t e) noexcept nogil
    cdef double set_loss(self, Py_ssize_t i, const int32_t* code) noexcept nogil
