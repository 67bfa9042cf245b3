"""Problems whose statistics are their joint features (see the .pxd)."""

from libc.stdint cimport int32_t
from libc.string cimport memcpy

from sskit.core.direction cimport Direction


cdef class WeightSpaceProblem(Problem):
    """Base of problems whose statistics are the joint features themselves."""

    cdef int scores(self, Py_ssize_t i, const double* w, double* theta) except -1 nogil:
        memcpy(theta, w, self.n_weights * sizeof(double))
        return 0

    cdef int scores_at(
        self, Py_ssize_t i, const double* w, const int32_t* index, Py_ssize_t count,
        double* theta
    ) except -1 nogil:
        cdef Py_ssize_t e
        for e in range(count):
            theta[index[e]] = w[index[e]]
        return 0

    cdef int scatter(
        self, Py_ssize_t i, Direction delta, double step, double* v
    ) except -1 nogil:
        cdef Py_ssize_t e
        for e in range(delta.n):
            v[delta.index[e]] += step * delta.value[delta.index[e]]
        return 0

    cdef int clip(
        self, Py_ssize_t i, Direction delta, const double* v, const double* lower,
        const double* upper, double* w
    ) except -1 nogil:
        cdef Py_ssize_t e
        cdef int32_t j
        for e in range(delta.n):
            j = delta.index[e]
            w[j] = min(max(v[j], lower[j]), upper[j])
        return 0

    cdef double sqnorm(self, Py_ssize_t i, Direction delta) except? -1 nogil:
        cdef double total = 0.0
        cdef Py_ssize_t e
        for e in range(delta.n):
            total += delta.value[delta.index[e]] * delta.value[delta.index[e]]
        return total
