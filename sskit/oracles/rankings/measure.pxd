from libc.stdint cimport int32_t
from libcpp.vector cimport vector


cdef extern from "sorting.hpp" namespace "sskit":
    struct Scored:
        double score
        int32_t row
    Scored scored(double score, int32_t row) noexcept nogil
    void sort_down(Scored* rows, Py_ssize_t n) noexcept nogil


cdef class Measure:
    """A loss of a whole set of rows, and the labelling or ranking that violates it most.

    A row has a grade, 0 or 1 unless `graded`: the higher, the further up it belongs. What is
    predicted for n rows is known by its code, n whole numbers that say by how much each row is
    wrong; the truth has zeros only. From it and the grades follow the coefficients of the rows in
    psi, the joint features of the truth less those of the prediction: sum_t psi_t x_t.

    Guaranteed to the implementer: 0 <= n <= max_rows, and grades from 0 to max(n, 2) - 1. One
    object serves one thread.
    """

    cdef readonly Py_ssize_t max_rows
    cdef readonly bint shifts            # does a constant that is added to all scores matter?
    cdef readonly bint graded            # may there be more grades than two?
    cdef vector[Scored] high             # rows of grade 1, and how many; the highest score first
    cdef vector[Scored] low              # rows of grade 0
    cdef Py_ssize_t n_high
    cdef Py_ssize_t n_low
    cdef vector[double] high_sum         # (n_high + 1,) sums of the first scores
    cdef vector[double] low_sum

    # the code that maximises  loss_weight * loss - sum_t psi_t score_t; returns its loss
    cdef double find(
        self, Py_ssize_t n, const int32_t* grade, const double* score, double loss_weight,
        int32_t* code
    ) noexcept nogil
    # psi of a code as (index, value) pairs of distinct rows; returns their number
    cdef Py_ssize_t coefficients(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code, int32_t* index,
        double* value
    ) noexcept nogil
    # is this a code that rows of these grades may have?
    cdef bint knows(
        self, Py_ssize_t n, const int32_t* grade, const int32_t* code
    ) noexcept nogil
    cdef void split(
        self, Py_ssize_t n, const int32_t* grade, const double* score
    ) noexcept nogil
    cdef void add_up(self) noexcept nogil
    cpdef Measure fork(self, Py_ssize_t max_rows)
