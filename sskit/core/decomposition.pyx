"""The contract of factors between models and solvers (see the .pxd)."""

import numpy as np


cdef class Decomposition:
    """Base of both kinds; a subclass fills the sizes."""

    def __cinit__(self, *args):
        self.pair_weights = -1
        self.block_weight = np.zeros(0)


cdef class Factors(Decomposition):
    """Base of all factors; a subclass fills the sizes and overrides every method."""

    cdef Py_ssize_t first_node(self, Py_ssize_t i) noexcept nogil:
        return 0

    cdef Py_ssize_t first_edge(self, Py_ssize_t i) noexcept nogil:
        return 0

    cdef void ends(
        self, Py_ssize_t i, Py_ssize_t e, Py_ssize_t* first, Py_ssize_t* second
    ) noexcept nogil:
        pass

    cdef int32_t truth(self, Py_ssize_t j) noexcept nogil:
        return 0

    cdef double cost(self, Py_ssize_t j) noexcept nogil:
        return 0.0

    cdef int node_scores(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, Py_ssize_t start, Py_ssize_t stop,
        double* out
    ) except -1 nogil:
        with gil:
            raise NotImplementedError(f"{type(self).__name__} must implement node_scores")

    cdef double node_score(
        self, Py_ssize_t i, Py_ssize_t j, const double* w, int32_t y
    ) noexcept nogil:
        return 0.0

    cdef double node_sqnorm(self, Py_ssize_t i, Py_ssize_t j, int32_t y) noexcept nogil:
        return 0.0

    cdef void move_node(
        self, Py_ssize_t i, Py_ssize_t j, int32_t y, double step, double* w
    ) noexcept nogil:
        pass

    cdef const double* edge_row(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t a, double* scratch
    ) noexcept nogil:
        return scratch

    cdef double edge_score(
        self, Py_ssize_t i, Py_ssize_t e, const double* w, int32_t pair
    ) noexcept nogil:
        return 0.0

    cdef double edge_sqnorm(self, Py_ssize_t i, Py_ssize_t e, int32_t pair) noexcept nogil:
        return 0.0

    cdef void move_edge(
        self, Py_ssize_t i, Py_ssize_t e, int32_t pair, double step, double* w
    ) noexcept nogil:
        pass


cdef class LabelFactors(Decomposition):
    """Base of all factors of sets of labels; a subclass fills the sizes and overrides all."""

    def __cinit__(self, *args):
        self.of_label_sets, self.cost = True, np.zeros(0)
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
