from libc.stdint cimport int32_t, int64_t

from sskit.core.problem cimport Problem
from sskit.models.features cimport FeatureRows
from sskit.oracles.rankings.measure cimport Measure


cdef class RankingProblem(Problem):
    """Sets of rows, each labelled or ranked as a whole by scores that are linear in the features.

    Block i has the rows offsets[i] to offsets[i + 1] - 1. Statistic t is the coefficient of its
    row t; the potentials are the scores of the rows. The code of a plane says by how much each row
    is wrong, see `Measure`.
    Weights, flat: features (n_features,), then, with an intercept, the weight of a constant one.
    """

    cdef FeatureRows features
    cdef readonly bint intercept
    cdef const int64_t[::1] offsets     # (n_blocks + 1,)
    cdef const int32_t[::1] grades      # (n_rows,)
    cdef Measure measure
    cdef object name                    # of the loss, with its options
    cdef object arrays                  # offsets and grades
    cdef double[::1] image              # (n_features + 1,) zero but within sqnorm
