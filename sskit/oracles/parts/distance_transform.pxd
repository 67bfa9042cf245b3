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
