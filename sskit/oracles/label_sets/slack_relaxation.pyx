"""The constrained oracle of slack rescaling for the LP relaxation of label sets."""

import numpy as np

from sskit.oracles.label_sets.constrained_lp import ConstrainedLP

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal
from sskit.oracles.label_sets.oracle cimport ONE
from sskit.oracles.label_sets.slack cimport SetQuestion, SlackSets

# Slopes g / h of points that are looked for, in units of the largest loss; those outside have
# products that do not matter, and near the axes there is no vertex to come to an end at.
cdef double FLATTEST = 1e-6
cdef double STEEPEST = 1e6


cdef class RelaxedSlack(SlackSets):
    """The best point of the local polytope within a cone, by linear programming.

    Both h and g are linear on the polytope, and a cone is two further inequalities. With them
    not only the vertices of the polytope are answers: any fractions of labels are.

    Parameters
    ----------
    n_labels : int
        Number of labels.
    edges : ndarray of shape (n_edges, 2), int32
        Pairs of different labels.

    Raises
    ------
    ImportError
        If the package highspy is missing.
    """

    cdef Py_ssize_t n_labels
    cdef object edges
    cdef object programme

    def __cinit__(self, n_labels, edges):
        self.n_labels, self.edges = n_labels, edges
        self.programme = ConstrainedLP(n_labels, edges)
        self.has_cone = True
        self.precision = 1e-6

    cdef bint best_within(
        self, const SetQuestion* q, double loss_weight, double lower, double upper, int32_t* code
    ) except -1 nogil:
        with gil:
            return self.solve(q, loss_weight, lower, upper, code)

    # HiGHS is asked by way of Python
    cdef bint solve(
        self, const SetQuestion* q, double loss_weight, double lower, double upper, int32_t* code
    ) except -1:
        cdef Py_ssize_t k, n = q.n_labels + q.n_edges
        cdef double loss = 0.0, span = 0.0, h = q.offset, g = 0.0
        check_equal(q.n_labels, self.n_labels, "the number of labels")
        check_equal(q.n_edges, len(self.edges), "the number of edges")
        gains, slopes = np.zeros(n), np.zeros(n)
        cdef double[::1] gain = gains, slope = slopes
        for k in range(q.n_labels):
            gain[k] = q.label[k]
            slope[k] = q.cost[k] * (1 - 2 * q.truth[k])
            loss += q.cost[k] * q.truth[k]
            span += q.cost[k]
        for k in range(q.n_edges):
            gain[q.n_labels + k] = q.pair[k]
        lower, upper = max(lower, FLATTEST * span), min(upper, STEEPEST * span)
        if span == 0.0 or not lower < upper:
            return False
        # lower h <= g and g / upper <= h, the first over what makes its numbers moderate
        scale = 1.0 / max(lower, 1.0)
        rows = np.stack([scale * (lower * gains - slopes), slopes / upper - gains])
        limits = np.array([scale * (loss - lower * q.offset), q.offset - loss / upper])
        point = self.programme.find(gains + loss_weight * slopes, rows, limits)
        if point is None:
            return False
        cdef const int32_t[::1] found = np.rint(point * ONE).astype(np.int32)
        for k in range(n):
            code[k] = found[k]
            h += gain[k] * code[k] / ONE
            g += slope[k] * code[k] / ONE
        return h > 0.0 and g + loss > 0.0

    cpdef SlackSets fork(self):
        return RelaxedSlack(self.n_labels, self.edges)
