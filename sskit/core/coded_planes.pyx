"""Products of planes by their codes (see the .pxd)."""


cdef class CodedPlanes:
    """Base of all of them: none of its methods is called."""

    cdef int take_scores(
        self, Py_ssize_t i, const double* w, const double* theta, const int32_t* codes,
        Py_ssize_t n
    ) except -1 nogil:
        return 0

    cdef int take_products(
        self, Py_ssize_t i, Direction delta, const int32_t* codes, Py_ssize_t n
    ) except -1 nogil:
        return 0

    cdef void subtract(
        self, Py_ssize_t i, const int32_t* codes, Py_ssize_t n, double* out
    ) noexcept nogil:
        pass
