"""A block of labels that are given as points (h, g): for tests of searches."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.core.capabilities cimport SlackOracle
from sskit.core.checks cimport check_least
from sskit.core.problem cimport Problem
from sskit.models.slack.search cimport SlackSearch


cdef class Points(Problem):
    """One block whose label k has the loss g[k] and, at theta = h and offset 0, the margin h[k].

    Label 0 is the truth: its statistic is the zero vector, those of the others are unit vectors.

    Parameters
    ----------
    losses : ndarray of shape (n_labels,)
        g; losses[0] = 0.
    """

    cdef const double[::1] losses

    def __cinit__(self, losses):
        check_least(len(losses), 1, "the number of labels")
        self.losses = losses
        self.n_blocks = 1
        self.n_weights = self.max_statistics = len(losses)
        self.max_code_length = self.max_support = 1
        self.block_weight = np.ones(1)
        self.exact = True

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        return 0 <= code[0] < self.n_weights

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        code[0] = 0
        return 0

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        index[0] = code[0]
        value[0] = -1.0
        return code[0] > 0

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t k
        code[0] = 0
        for k in range(1, self.n_weights):
            if theta[k] + loss_weight * self.losses[k] > (
                theta[code[0]] + loss_weight * self.losses[code[0]]
            ):
                code[0] = <int32_t>k
        loss[0] = self.losses[code[0]]
        return 0

    def slack_oracle(self):
        """Return one that tries all labels."""
        return PointsSlack(self)

    def search(self, SlackSearch search, theta, double offset=1.0, Py_ssize_t known=0):
        """Return (label, Phi, bound, number of queries) of one search.

        Parameters
        ----------
        search : SlackSearch
            Made for these points.
        theta : ndarray of shape (n_labels,)
            Label k has h = offset + theta[k]; theta[0] = 0.
        offset : float, default=1.0
            Margin of the truth.
        known : int, default=0
            The label that the search begins with.
        """
        cdef const double[::1] potentials = np.array(theta, dtype=np.float64)
        cdef int32_t code = 0, start = <int32_t>known
        cdef double loss = 0.0
        if not 0 <= known < self.n_weights or potentials.shape[0] != self.n_weights:
            raise IndexError(f"no label {known} or theta of shape {np.shape(theta)}")
        self.match(search.problem)
        before = search.counts[1]
        with nogil:
            search.find(0, &potentials[0], offset, &start, self.losses[start], &code, &loss)
        return code, search.best, search.bound, search.counts[1] - before


cdef class PointsSlack(SlackOracle):
    """Tries all labels.

    Parameters
    ----------
    problem : Points
        Its labels.
    """

    cdef Points problem

    def __cinit__(self, Points problem not None):
        self.problem = problem
        self.has_product = self.has_cone = True

    cdef int argmax_slack(
        self, Py_ssize_t i, const double* theta, double offset, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t k
        cdef double best = 0.0
        code[0] = 0
        for k in range(1, self.problem.n_weights):
            if offset + theta[k] > 0.0 and (offset + theta[k]) * self.problem.losses[k] > best:
                best = (offset + theta[k]) * self.problem.losses[k]
                code[0] = <int32_t>k
        loss[0] = self.problem.losses[code[0]]
        return 0

    cdef int argmax_within(
        self, Py_ssize_t i, const double* theta, double offset, double loss_weight,
        double lower, double upper, int32_t* code, double* loss
    ) except -1 nogil:
        cdef Py_ssize_t k
        cdef double best = -INFINITY, h, g
        code[0] = 0
        for k in range(1, self.problem.n_weights):
            h, g = offset + theta[k], self.problem.losses[k]
            if h > 0.0 < g and lower * h <= g < upper * h and h + loss_weight * g > best:
                best = h + loss_weight * g
                code[0] = <int32_t>k
        loss[0] = self.problem.losses[code[0]]
        return code[0] > 0
