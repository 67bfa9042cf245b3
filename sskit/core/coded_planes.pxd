from libc.stdint cimport int32_t

from sskit.core.direction cimport Direction


cdef class CodedPlanes:
    """Products of planes of a block with its potentials, straight from the codes of the planes.

    A problem has one if that takes less time than the sparse vectors of the planes. The terms of a
    product are added up in the order in which `Problem.plane` has them, so that no bit differs.
    Codes lie one after the other.
    """

    # the potentials at w that n planes need; theta: all potentials if they are known, else NULL
    cdef int take_scores(
        self, Py_ssize_t i, const double* w, const double* theta, const int32_t* codes,
        Py_ssize_t n
    ) except -1 nogil
    # B_i^T B_i delta in their place
    cdef int take_products(
        self, Py_ssize_t i, Direction delta, const int32_t* codes, Py_ssize_t n
    ) except -1 nogil
    # out[r] -= <what was taken, psi_r>
    cdef void subtract(
        self, Py_ssize_t i, const int32_t* codes, Py_ssize_t n, double* out
    ) noexcept nogil
