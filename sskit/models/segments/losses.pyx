"""Losses of segmentations (see the .pxd)."""

import numpy as np

from sskit.core.checks cimport check_equal


cdef class SegmentLoss:
    """Base of the losses.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,), int32
        True labellings.
    cost : ndarray of shape (n_rows,), float64
        What is lost at each token.
    """

    def __cinit__(self, const int32_t[::1] truth, const double[::1] cost, *args):
        check_equal(cost.shape[0], truth.shape[0], "the length of cost")
        self.truth, self.cost = truth, cost

    cdef double of(self, Py_ssize_t first, Py_ssize_t count, const int32_t* code) noexcept nogil:
        return 0.0

    cdef void add(
        self, Py_ssize_t first, Py_ssize_t count, double weight, SegmentTables tables
    ) noexcept nogil:
        pass

    def digest(self):
        """Return what of the loss is no number of a token, for fingerprints."""
        return type(self).__name__


cdef class TokenLoss(SegmentLoss):
    """A cost for each token that is wrong: its state, or whether it begins a segment.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,), int32
        True labellings.
    cost : ndarray of shape (n_rows,), float64
        What a wrong token costs.
    """

    cdef double of(self, Py_ssize_t first, Py_ssize_t count, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t
        cdef double total = 0.0
        for t in range(count):
            if code[t] != self.truth[first + t]:
                total += self.cost[first + t]
        return total

    cdef void add(
        self, Py_ssize_t first, Py_ssize_t count, double weight, SegmentTables tables
    ) noexcept nogil:
        cdef Py_ssize_t t, e
        cdef double amount
        for t in range(count):
            # a loss on all but one is, up to a constant, a bonus taken from that one
            e = t * tables.stride + (self.truth[first + t] >> 1)
            amount = weight * self.cost[first + t]
            if self.truth[first + t] & 1:
                tables.opening[e] -= amount
            else:
                tables.inside[e] -= amount
                tables.opening[e] += amount


cdef class SpanLoss(SegmentLoss):
    """A cost for each segment that is not true and for each true one that is missed.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,), int32
        True labellings.
    cost : ndarray of shape (n_rows,), float64
        At the first token of a true segment what it costs to miss it.
    false_cost : ndarray of shape (n_states,), float64
        What a segment costs that is not true, by its state.
    """

    def __cinit__(self, truth, cost, const double[::1] false_cost):
        self.false_cost = false_cost
        self.has_bonus = True

    cdef double of(self, Py_ssize_t first, Py_ssize_t count, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t t, s = 0
        cdef double total = 0.0
        cdef bint same = True
        # s: the last token at which a segment of one or the other begins; same: are both equal
        # from there on? True segments and those of the code that end together are one if they are
        for t in range(count):
            if code[t] & 1:
                total += self.false_cost[code[t] >> 1]
            if self.truth[first + t] & 1:
                total += self.cost[first + t]
            if (code[t] | self.truth[first + t]) & 1:
                s, same = t, True
            same = same and code[t] == self.truth[first + t]
            if not same or not (code[s] & self.truth[first + s] & 1):
                continue
            if t + 1 == count or code[t + 1] & self.truth[first + t + 1] & 1:
                total -= self.false_cost[code[s] >> 1] + self.cost[first + s]
        return max(total, 0.0)

    cdef void add(
        self, Py_ssize_t first, Py_ssize_t count, double weight, SegmentTables tables
    ) noexcept nogil:
        cdef Py_ssize_t t, k, s = 0
        for t in range(count):
            for k in range(tables.n_states):
                tables.opening[t * tables.stride + k] += weight * self.false_cost[k]
            if self.truth[first + t] & 1:
                s = t
            tables.bonus_state[t] = -1
            if t + 1 == count or self.truth[first + t + 1] & 1:
                k = self.truth[first + t] >> 1
                tables.bonus_state[t] = <int32_t>k
                tables.bonus_length[t] = <int32_t>(t - s)
                tables.bonus[t] = -weight * (self.cost[first + s] + self.false_cost[k])

    def digest(self):
        """Return what of the loss is no number of a token, for fingerprints."""
        return bytes(np.asarray(self.false_cost))
