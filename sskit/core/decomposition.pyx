"""Factors of a problem, nodes and edges, for dual decomposition (see the .pxd)."""

import numpy as np

from libc.stdint cimport int32_t


cdef class Factors:
    """Base of all factors; a subclass fills the data and overrides every method."""

    def __cinit__(self, *args):
        self.pair_weights = -1
        self.block_weight = np.zeros(0)

    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement node_scores")

    cdef void edge_scores(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* out
    ) noexcept nogil:
        pass

    cdef double score(
        self, Py_ssize_t i, Py_ssize_t f, const int32_t* s, const double* w
    ) noexcept nogil:
        return 0.0

    cdef double sqnorm(self, Py_ssize_t i, Py_ssize_t f, const int32_t* s) noexcept nogil:
        return 0.0

    cdef void scatter(
        self, Py_ssize_t i, Py_ssize_t f, const int32_t* s, double step, double* w
    ) noexcept nogil:
        pass


cdef class LabelFactors(Factors):
    """Base of all factors of sets of labels."""

    cdef void label_scores(self, Py_ssize_t i, const double* w, double* out) noexcept nogil:
        pass

    cdef void scatter_labels(
        self, Py_ssize_t i, const double* change, double step, double* w
    ) noexcept nogil:
        pass
