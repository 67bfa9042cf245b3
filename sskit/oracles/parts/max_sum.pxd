from libc.stdint cimport int32_t


# What a displacement t = p - q - mean along one axis costs: linear * t + square * t^2
cdef struct Spring:
    double linear
    double square
    double mean


cdef inline double spring_cost(const Spring* spring, Py_ssize_t p, Py_ssize_t q) noexcept nogil:
    cdef double t = p - q - spring.mean
    return t * (spring.linear + spring.square * t)


# the cost of q seen from p is then that of p seen from q
cdef inline Spring reversed_spring(const Spring* spring) noexcept nogil:
    cdef Spring other
    other.linear = -spring.linear
    other.square = spring.square
    other.mean = -spring.mean
    return other


cdef class DistanceTransform:
    """Generalised distance transforms of grids of at most max_height x max_width positions.

    One object serves one thread.
    """

    cdef Py_ssize_t max_height
    cdef Py_ssize_t max_width
    # of the longest line
    cdef int32_t[::1] root       # (n,) of the parabolas of the envelope
    cdef double[::1] height_of   # (n,) their scores
    cdef double[::1] start       # (n + 1,) where each of them begins
    cdef double[::1] reciprocal  # (n + 1,) of whole numbers
    cdef double[::1] row_best    # (max_height, max_width) after the rows
    cdef int32_t[::1] row_place  # likewise, the column where that best one is
    # some columns at a time, one after the other
    cdef double[::1] column      # (TILE, max_height)
    cdef double[::1] column_best
    cdef int32_t[::1] column_place

    # best[q] = max_p scores[p] - cost of p - q, and that p, for n positions; a score may be -inf,
    # and where all are, the place is -1. Of several p the smallest. O(n), or O(n^2) if
    # spring.square is not positive, or is subnormal
    cdef void line(
        self, const double* scores, Py_ssize_t n, const Spring* spring, double* best,
        int32_t* place
    ) noexcept nogil
    cdef void line_by_trial(
        self, const double* scores, Py_ssize_t n, const Spring* spring, double* best,
        int32_t* place
    ) noexcept nogil
    # the same for a grid by rows with a spring for each axis; places count by rows
    cdef void grid(
        self, const double* scores, Py_ssize_t height, Py_ssize_t width, const Spring* vertical,
        const Spring* horizontal, double* best, int32_t* place
    ) noexcept nogil


# Potentials of parts that stand on the cells of a grid and hang on springs from their parents.
# The score of places p and types t, to be maximised, is
#     sum_k node[k, p_k] + sum_k bias[k, t_k] - cost of p_k - p_parent(k) under springs[k, t_k]
# the second sum over parts that have a parent. Cells count by rows.
cdef struct PartPotentials:
    Py_ssize_t height
    Py_ssize_t width
    const double* node       # (n_parts, height * width)
    const double* bias       # (n_parts, n_types)
    const Spring* springs    # (n_parts, n_types, 2) vertical, horizontal


cdef class PartsMaxSum:
    """Max-sum over trees of parts: the tree, and scratch memory for one thread."""

    cdef readonly Py_ssize_t n_parts
    cdef readonly Py_ssize_t n_types
    cdef Py_ssize_t max_cells
    cdef const int32_t[::1] parents     # (n_parts,) -1: a root
    cdef const int32_t[::1] order       # (n_parts,) parents before their children
    cdef const int32_t[::1] types_of    # (n_parts,) number of types, from 1 to n_types
    cdef DistanceTransform transform
    cdef double[:, ::1] belief          # (n_parts, max_cells) best score of a part's subtree
    cdef double[:, ::1] message         # (n_parts, max_cells) its part of the parent's belief
    cdef int32_t[:, ::1] choice         # (n_parts, max_cells) where that puts the part,
    cdef int32_t[:, ::1] kind           # and of which type it is then
    cdef double[::1] best               # (max_cells,)
    cdef int32_t[::1] place             # (max_cells,)

    # beliefs and messages of all parts, children first
    cdef void collect(self, const PartPotentials* p) noexcept nogil
    # message[q] = the best over types and places of belief - cost + bias, `out` to the parent
    cdef void pass_on(
        self, const PartPotentials* p, Py_ssize_t k, bint out, const double* belief,
        double* message
    ) noexcept nogil
    # the best places (n_parts,) and types (n_parts,), 0 at roots; returns their score
    cdef double decode(
        self, const PartPotentials* p, int32_t* places, int32_t* types
    ) noexcept nogil
    # (n_parts, height * width) the best score with this part at this cell
    cdef void marginals(self, const PartPotentials* p, double* out) noexcept nogil
