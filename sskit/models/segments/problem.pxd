from libc.stdint cimport int32_t, int64_t

from sskit.core.direction cimport Direction
from sskit.core.problem cimport Problem
from sskit.models.chain.grams cimport SequenceGrams
from sskit.models.features cimport FeatureRows
from sskit.models.segments.losses cimport SegmentLoss
from sskit.models.segments.tables cimport SegmentTables
from sskit.models.segments.whole cimport WholeFeatures
from sskit.oracles.segments.max_sum cimport SegmentMaxSum


cdef class SegmentProblem(Problem):
    """Segments of sequences: statistics, potentials and weights.

    With the n_table weights that belong to no feature (see `SegmentTables`) statistic j < n_table
    counts what weight j of these is for, or sums features of whole segments, and statistic
    places + t * stride + c, places = padded(n_table), stride = padded(n_columns), says that token
    t has column c: state c for c < K; that it is the first token of a segment of state c - K; or
    the last one of state c - 2 K. Only states whose limit is above one have first and last tokens.

    Weights, flat: those of the features (n_features, n_columns), then the n_table others. Code: at
    the first token of each segment of state k 2 k + 1 and at its others 2 k.
    """

    cdef FeatureRows features
    cdef object given                        # what it was made of
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t n_columns       # K, or 3 K with weights of first and last tokens
    cdef readonly Py_ssize_t n_table
    cdef WholeFeatures whole                 # features of whole segments
    cdef Py_ssize_t stride
    cdef Py_ssize_t places
    cdef Py_ssize_t table_weights            # where they begin
    cdef const int64_t[::1] offsets          # (n_blocks + 1,) rows of the features
    cdef const int32_t[::1] codes            # (n_rows,) the truth
    cdef const int32_t[::1] limits           # (n_states,) longest segments
    cdef SegmentLoss loss
    cdef SequenceGrams grams                 # of blocks where they cost less than features
    # scratch
    cdef SegmentTables tables
    cdef SegmentMaxSum oracle
    cdef int32_t[::1] active                 # rows of a direction that are not zero
    cdef int32_t[::1] fresh                  # (longest,) row of token scores made for request ..
    cdef int32_t request
    cdef double[::1] token_scores            # as the potentials of tokens
    cdef double[::1] image                   # (n_features * n_columns,) zero between calls

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil
    # what one labelling counts and the other does not, times sign; returns the number of entries
    cdef Py_ssize_t count_apart(
        self, Py_ssize_t i, const int32_t* code, const int32_t* other, double sign, int32_t* index,
        double* value
    ) noexcept nogil
    cdef double scatter_table(self, Direction delta, double step, double* v) noexcept nogil
