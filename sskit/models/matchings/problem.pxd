from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.models.weight_space cimport WeightSpaceProblem


# Features of one block; NULL where an array is empty
cdef struct MatchingRows:
    const double* pairs    # (n_left, n_right, n_pair_features)
    const double* left     # (n_left, n_left_features)
    const double* right    # (n_right, n_right_features)
    Py_ssize_t n_left
    Py_ssize_t n_right


cdef class MatchingProblem(WeightSpaceProblem):
    """Matchings between the left and the right items of each sample, bound to data.

    Weights, flat: coef (n_pair_features,), intercept (1,), left_coef (n_left_features,),
    right_coef (n_right_features,). phi(x, y) sums over the pairs of the matching: their
    features, a one, and minus the features of both items, which score those that stay alone.

    Code: the partner of each left item, -1 for none; of a block without left items -1 alone.
    """

    cdef readonly Py_ssize_t n_pair_features
    cdef readonly Py_ssize_t n_left_features
    cdef readonly Py_ssize_t n_right_features
    cdef readonly bint complete            # has every left item to have a partner?
    cdef readonly bint mean                # is the loss a share, or a number?
    cdef readonly object tables            # keeps the memory of the next alive
    cdef vector[MatchingRows] rows_of      # (n_blocks,)
    cdef const int32_t[::1] partners       # (n_left items of all blocks,) true ones
    cdef const int32_t[::1] starts         # (n_blocks + 1,) where those of the blocks begin
    # scratch
    cdef object room                       # ndarray, of which `table` is a view
    cdef double[::1] table                 # scores of pairs, and of staying alone
    cdef double[::1] alone                 # (n_right of any block,)
    cdef double[::1] psi                   # (n_weights,)

    # loss of a wrong partner
    cdef double unit(self, Py_ssize_t i) noexcept nogil
    # how much better each pair is than leaving both items alone, into rows of `stride` numbers
    cdef void gains(
        self, Py_ssize_t i, const double* w, double* out, Py_ssize_t stride
    ) noexcept nogil
    # psi += sign * what the pair adds to phi; j = -1 is none
    cdef void add_pair(
        self, Py_ssize_t i, Py_ssize_t k, Py_ssize_t j, double sign
    ) noexcept nogil
    # the best matching of the table, which lies in rows of n_columns numbers
    cdef int match_items(
        self, Py_ssize_t n_left, Py_ssize_t n_right, Py_ssize_t n_columns, int32_t* code
    ) except -1
