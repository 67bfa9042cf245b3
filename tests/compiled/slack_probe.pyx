"""A block of labels that are given as points (h, g): for tests of searches."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.core.checks cimport check_least
from sskit.core.problem cimport CandidateSlack, Problem
from sskit.models.slack.problem cimport SlackSearch


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
        return PointsSlack(self, self.n_weights)

    def best(self, theta, double offset=1.0, cone=None):
        """Return (label, its loss, whether it counts) of the slack oracle.

        Parameters
        ----------
        theta : ndarray of shape (n_labels,)
            As of `search`.
        offset : float, default=1.0
            Margin of the truth.
        cone : tuple (loss_weight, lower, upper), default=None
            Asks for the best sum within a cone; None, for the best product.
        """
        cdef const double[::1] potentials = np.array(theta, dtype=np.float64)
        cdef PointsSlack oracle = PointsSlack(self, self.n_weights)
        cdef double loss_weight = 0.0, lower = 0.0, upper = 0.0, loss = -1.0
        cdef int32_t code = -1
        cdef bint counts
        if potentials.shape[0] != self.n_weights:
            raise IndexError(f"theta of shape {np.shape(theta)}")
        if cone is None:
            oracle.argmax_slack(0, &potentials[0], offset, &code, &loss)
            return code, loss, code > 0
        loss_weight, lower, upper = cone
        counts = oracle.argmax_within(
            0, &potentials[0], offset, loss_weight, lower, upper, &code, &loss
        )
        return code, loss, counts

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
        cdef int32_t start = <int32_t>known
        if not 0 <= known < self.n_weights or potentials.shape[0] != self.n_weights:
            raise IndexError(f"no label {known} or theta of shape {np.shape(theta)}")
        self.match(search.problem)
        before = search.n_queries[0]
        with nogil:
            search.find(0, &potentials[0], offset, &start, self.losses[start])
        return search.best_code[0], search.best, search.bound, search.n_queries[0] - before


cdef class PointsSlack(CandidateSlack):
    """All labels are candidates.

    Parameters
    ----------
    problem : Points
        Its labels.
    n_candidates : int
        Their number.
    """

    cdef Py_ssize_t candidates(
        self, Py_ssize_t i, const double* theta, double* h, double* g
    ) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(self.problem.n_weights):
            h[k], g[k] = theta[k], (<Points>self.problem).losses[k]
        return self.problem.n_weights

    cdef double take(self, Py_ssize_t i, Py_ssize_t c, int32_t* code) except? -1 nogil:
        code[0] = <int32_t>c
        return (<Points>self.problem).losses[c]
