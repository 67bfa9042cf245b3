from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from sskit.models.rows cimport Rows


# Hot loops on feature rows and statistics (see row_kernels.hpp and statistics_kernels.hpp):

# out (count, padded(n_states)) = rows[first : first + count] @ weights (n_features, n_states)
cdef void score_rows(
    const Rows* rows, Py_ssize_t first, Py_ssize_t count, const double* weights,
    Py_ssize_t n_states, double* out
) noexcept nogil

# the same with rows of `out` that are `stride` apart: padded(n_states), or 1 for one state
cdef void score_rows_apart(
    const Rows* rows, Py_ssize_t first, Py_ssize_t count, const double* weights,
    Py_ssize_t n_states, double* out, Py_ssize_t stride
) noexcept nogil

# weights += step * outer(row t, direction) for every t of `active`, counted from `first`
cdef void add_rows(
    const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
    double step, const double* direction, Py_ssize_t n_states, double* weights
) noexcept nogil

# the same for the columns low .. high - 1 alone, further ones with the first: no other weights are
# touched; returns by how much the squared norm of the weights grows
cdef double add_rows_between(
    const Rows* rows, Py_ssize_t first, const int32_t* active, Py_ssize_t n_active,
    double step, const double* direction, Py_ssize_t n_states, Py_ssize_t low, Py_ssize_t high,
    double* weights
) noexcept nogil

# w += change; by how much w^2 grows
cdef inline double grow(double* w, double change) noexcept nogil:
    cdef double old = w[0]
    w[0] = old + change
    return change * (old + old + change)

# out (n_states, padded(n_states)) = table (n_states, n_states) + mask (padded as out)
cdef void masked_table(
    const double* table, const double* mask, Py_ssize_t n_states, double* out
) noexcept nogil

# the rows of `direction` (count, stride) that are not all zero; returns how many
cdef Py_ssize_t active_rows(
    const double* direction, Py_ssize_t count, Py_ssize_t stride, int32_t* active
) noexcept nogil

# sum of <direction_t, scores_t> over the active rows
cdef double dot_rows(
    const int32_t* active, Py_ssize_t n_active, const double* direction,
    const double* scores, Py_ssize_t stride
) noexcept nogil


cdef class FeatureRows:
    """A matrix of feature rows, dense or CSR, that compiled code reads row by row.

    Checked when made: the arrays have the right lengths and every column index is in range, so
    that no index from a user reaches the kernels unchecked. Never written to.
    """

    cdef Rows rows
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_features      # the further columns included
    cdef readonly Py_ssize_t n_entries       # stored ones, without the further columns
    cdef readonly object n_jobs              # of threads for what is computed of all rows at once
    # one of these, by type, and empty if there are no entries
    cdef const double[::1] values
    cdef const float[::1] singles
    cdef const uint16_t[::1] halves
    # one of these
    cdef const int32_t[::1] indices
    cdef const int64_t[::1] long_indices
    cdef const int64_t[::1] indptr
    cdef const uint8_t[::1] marks

    cdef int set_entries(self, entries) except -1
    cdef int set_indices(self, indices) except -1
    # entries stored in the rows first .. first + count - 1
    cdef Py_ssize_t entries(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    # hint: these rows will be read soon
    cdef void prefetch(self, Py_ssize_t first, Py_ssize_t count) noexcept nogil


cdef class SequenceGrams:
    """Packed Gram matrices of the features of each sequence's tokens, for those that have one.

    Start and end weights count as one more feature of the first and of the last token.
    """

    cdef int64_t[::1] offset         # (n_sequences,) where a matrix begins; -1: there is none
    cdef double[::1] numbers
    # in place of them, if all are whole numbers below 256, as those of counts are: passes over
    # CoNLL-2000 take 2 % longer without
    cdef uint8_t[::1] small
    cdef bint is_small

    cdef bint has(self, Py_ssize_t i) noexcept nogil
    # || sum_t outer(x_t, direction_t) ||^2 over the active tokens of sequence i, which has one
    cdef double sqnorm(
        self, Py_ssize_t i, const int32_t* active, Py_ssize_t n_active, const double* direction,
        Py_ssize_t stride
    ) noexcept nogil
    # <x_s, x_t> of sequence i, which has a matrix
    cdef double at(self, Py_ssize_t i, Py_ssize_t s, Py_ssize_t t) noexcept nogil
    # hint: that of sequence i, of so many tokens, will be read soon
    cdef void prefetch(self, Py_ssize_t i, Py_ssize_t count) noexcept nogil


cdef class RowScores:
    """Scores <coef[k], x_t> of all states at feature rows, for one request.

    Weights stay where they are: those of the features that occur in sparse rows are gathered, a
    column for each stored entry, unless there are more of those than features. So no more weights
    are read than products are made of them, however many the model has, and whatever was written
    into them a moment ago counts.
    """

    cdef FeatureRows features                # keeps the memory of the rows alive
    cdef Rows rows                           # with columns that are those of the weights
    cdef int32_t[::1] columns
    cdef double[::1] weights                 # (n_columns * n_states + LANES,)
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_states
    cdef readonly Py_ssize_t n_columns       # of the weights that the rows use
    cdef readonly Py_ssize_t n_read          # weights
    cdef readonly bint gathers               # are the weights those of the entries alone?

    # out (count, padded(n_states)) = scores of the rows first .. first + count - 1
    cdef void write(self, Py_ssize_t first, Py_ssize_t count, double* out) noexcept nogil
    # do all features and weights have sizes such that no sum of products overflows?
    cdef bint modest(self) noexcept nogil


# are n numbers below 1e100, so that sums of products of two of them do not overflow? NaN is not
cdef bint are_modest(const double* values, Py_ssize_t n) noexcept nogil
