"""Roof duality: the linear relaxation over sets of labels by one minimum cut."""

from libc.stdint cimport int32_t

from sskit.oracles.graph.roof_dual cimport RoofDual
from sskit.oracles.label_sets.oracle cimport ONE, LabelSetOracle


cdef class RoofDuality(LabelSetOracle):
    """The best point of the local polytope, with labels in {0, 1/2, 1}; any signs of pairs.

    Maximises sum_l label[l] y_l + sum_e pair[e] z_e over 0 <= y <= 1 and max(0, y_k + y_l - 1)
    <= z_e <= min(y_k, y_l); see `RoofDual`.
    """

    cdef RoofDual dual

    def __cinit__(self):
        self.exact = True
        self.dual = RoofDual()

    cdef int find(
        self, Py_ssize_t n_labels, const double* label, Py_ssize_t n_edges, const int32_t* ends,
        const double* pair, int32_t* code
    ) except -1 nogil:
        cdef Py_ssize_t k, e
        self.dual.solve(n_labels, label, n_edges, ends, pair, code)
        for k in range(n_labels):
            code[k] *= ONE // 2
        for e in range(n_edges):
            code[n_labels + e] = pair_code(code[ends[2 * e]], code[ends[2 * e + 1]], pair[e])
        return 0

    cpdef LabelSetOracle fork(self):
        return RoofDuality()


cdef int32_t pair_code(int32_t u, int32_t v, double pair) noexcept nogil:
    """The best that an edge can be, given its ends."""
    if pair > 0.0:
        return min(u, v)
    return max(u + (v - ONE), 0)
