"""What losses of whole sets have in common (see the .pxd)."""

from sskit.core.checks cimport check_least


cdef class Measure:
    """Base of the losses.

    Parameters
    ----------
    max_rows : int
        Number of rows of the largest set.
    """

    def __cinit__(self, Py_ssize_t max_rows, *args):
        check_least(max_rows, 0, "max_rows")
        self.max_rows = max_rows
        self.high.resize(max_rows + 1)
        self.low.resize(max_rows + 1)
        self.high_sum.resize(max_rows + 1)
        self.low_sum.resize(max_rows + 1)

    cdef double find(
        self, Py_ssize_t n, const int32_t* grade, const double* score, double loss_weight,
        int32_t* code
    ) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(n):
            code[t] = 0
        return 0.0

    cdef Py_ssize_t coefficients(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code, int32_t* index,
        double* value
    ) noexcept nogil:
        return 0

    cdef bint knows(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code
    ) noexcept nogil:
        return False

    # rows of each grade, the highest score first
    cdef void split(
        self, Py_ssize_t n, const int32_t* grade, const double* score
    ) noexcept nogil:
        cdef Py_ssize_t t
        self.n_high = self.n_low = 0
        for t in range(n):
            if grade[t]:
                self.high[self.n_high] = scored(score[t], <int32_t>t)
                self.n_high += 1
            else:
                self.low[self.n_low] = scored(score[t], <int32_t>t)
                self.n_low += 1
        sort_down(self.high.data(), self.n_high)
        sort_down(self.low.data(), self.n_low)

    # sums of the scores of the first rows of each grade
    cdef void add_up(self) noexcept nogil:
        cdef Py_ssize_t t
        self.high_sum[0] = self.low_sum[0] = 0.0
        for t in range(self.n_high):
            self.high_sum[t + 1] = self.high_sum[t] + self.high[t].score
        for t in range(self.n_low):
            self.low_sum[t + 1] = self.low_sum[t] + self.low[t].score

    cpdef Measure fork(self, Py_ssize_t max_rows):
        """Return the same loss with scratch memory of its own, for sets of so many rows."""
        raise NotImplementedError(f"{type(self).__name__} must implement fork")
