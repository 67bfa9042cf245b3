from libc.stdint cimport int32_t, int64_t

from sskit.core.problem cimport Problem
from sskit.models.features cimport FeatureRows


cdef class MulticlassProblem(Problem):
    """One label of n_classes for every row of the features (Crammer & Singer 2001).

    Statistic k says that the label is k; the potentials are the scores of the classes.
    Weights, flat: features (n_features, n_classes), then, with an intercept, (n_classes,), the
    weights of a constant feature.

    Where classes have several components the labels are states, (class, component): only the class
    counts for the loss.
    """

    cdef FeatureRows features
    cdef readonly Py_ssize_t n_classes
    cdef readonly bint intercept
    cdef const int32_t[::1] labels      # (n_blocks,)
    cdef bint has_components
    cdef const int32_t[::1] class_of    # (n_classes,) of each state, if there are components
    cdef double[::1] row_sqnorm         # (n_blocks,) of the features and the constant

    cdef int argmax_of_components(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) noexcept nogil
