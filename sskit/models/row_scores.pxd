from libc.stdint cimport int32_t

from sskit.models.features cimport FeatureRows
from sskit.models.rows cimport Rows


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
    cdef readonly Py_ssize_t n_read          # weights, 0 if those of other rows serve
    cdef readonly bint gathers               # are the weights those of the entries alone?

    # out (count, padded(n_states)) = scores of the rows first .. first + count - 1
    cdef void write(self, Py_ssize_t first, Py_ssize_t count, double* out) noexcept nogil
    # do all features and weights have sizes such that no sum of products overflows?
    cdef bint modest(self) noexcept nogil
