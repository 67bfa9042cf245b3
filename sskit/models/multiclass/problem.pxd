from libc.stdint cimport int32_t, int64_t

from sskit.core.problem cimport Problem
from sskit.models.features cimport FeatureRows


cdef class MulticlassProblem(Problem):
    """One label of n_classes for every row of the features (Crammer & Singer 2001).

    Statistic k says that the label is k; the potentials are the scores of the classes.
    Weights, flat: features (n_features, n_classes), then, with an intercept, (n_classes,), the
    weights of a constant feature.
    """

    cdef FeatureRows features
    cdef readonly Py_ssize_t n_classes
    cdef readonly bint intercept
    cdef const int32_t[::1] labels      # (n_blocks,)
    cdef double[::1] row_sqnorm         # (n_blocks,) of the features and the constant
