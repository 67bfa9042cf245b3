from libc.stdint cimport int32_t

cdef extern from "swapped_pairs.hpp" namespace "sskit":
    # The ranking of a set of rows that violates most, by the fraction of its swapped pairs.
    #
    # A row has a grade: the higher, the further up it belongs. Pairs are those of rows of different
    # grades. The code of a row is how many pairs with rows of lower grade are in the wrong order,
    # less how many with rows of higher grade; the truth has zeros only. psi, the joint features of
    # the truth less those of the ranking, is sum_t psi_t x_t with the code over the number of all
    # pairs: the mean over the pairs that are wrong of the higher row less the lower one.
    #
    # Guaranteed to the implementer: 0 <= n <= max_rows, and grades from 0 to max(n, 1) - 1. One
    # object serves one thread.
    cdef cppclass SwappedPairs:
        SwappedPairs() noexcept nogil
        SwappedPairs(Py_ssize_t max_rows) except +
        # the code that maximises  loss_weight * loss - sum_t psi_t score[t * stride]; returns its
        # loss
        double find(
            Py_ssize_t n, const int32_t* grade, const double* score, Py_ssize_t stride,
            double loss_weight, int32_t* code
        ) noexcept nogil
        # psi of a code as (t * stride, psi_t) pairs of distinct rows; returns their number
        Py_ssize_t coefficients(
            Py_ssize_t n, const int32_t* grade, const int32_t* code, Py_ssize_t stride,
            int32_t* index, double* value
        ) noexcept nogil
        # is this a code that rows of these grades may have?
        bint knows(Py_ssize_t n, const int32_t* grade, const int32_t* code) noexcept nogil
