"""The contract of labels and pairs between models and solvers (see the .pxd)."""

import numpy as np


cdef class LabelFactors:
    """Base of all factors of sets of labels; a subclass fills the sizes and overrides all."""

    def __cinit__(self):
        self.block_weight, self.cost = np.zeros(0), np.zeros(0)
        self.ends = np.zeros((1, 2), dtype=np.int32)

    cdef const unsigned char* truth(self, Py_ssize_t i) noexcept nogil:
        return NULL

    cdef void scores(self, Py_ssize_t i, const double* w, double* out) noexcept nogil:
        pass

    cdef double sqnorm(self, Py_ssize_t i) noexcept nogil:
        return 0.0

    cdef void move(
        self, Py_ssize_t i, const double* change, double step, double* w
    ) noexcept nogil:
        pass
