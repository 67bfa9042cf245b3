"""The weights of pairs of labels by label, and the best of them (see the .pxd)."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.core.checks cimport check_equal
from sskit.core.decomposition cimport LabelFactors


cdef class PairTable:
    """The best pair, looking only at the edges of labels that may have it.

    The largest weight of each label's edges, or a bound of it, says whether the label is worth a
    look: with the best reduced cost of all it must beat the best pair so far. A look makes the
    bound exact. Ordered sets of the weights, the proposal of section 3.2 of Yen et al. 2016, find
    the same pair; but weights move far more often than pairs are asked for, and moving an
    entry of an ordered set costs more than the whole step of an edge.

    Parameters
    ----------
    factors : LabelFactors
        Says which edges there are. All weights are zero to begin with.
    """

    def __cinit__(self, LabelFactors factors):
        n, n_edges = factors.n_labels, factors.n_edges
        ends = np.asarray(factors.ends)[:n_edges].astype(np.int64)
        label = np.concatenate([ends[:, 0], ends[:, 1]])
        order = np.lexsort([np.concatenate([ends[:, 1], ends[:, 0]]), label])
        place = np.empty(2 * n_edges, dtype=np.int64)
        place[order] = np.arange(2 * n_edges)
        self.n_labels, self.ends = n, factors.ends
        counts = np.bincount(label, minlength=n)
        self.offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        other = np.concatenate([ends[:, 1], ends[:, 0]])[order]
        # a spare entry each: compiled code takes the address of the first
        self.label = np.append(other, 0).astype(np.int32)
        self.edge = np.append(order % max(n_edges, 1), 0).astype(np.int32)
        self.weight = np.zeros(2 * n_edges + 1)
        spare = np.zeros((1, 2), dtype=np.int64)
        self.place = np.ascontiguousarray(np.concatenate([place.reshape(2, n_edges).T, spare]))
        self.most = np.zeros(n)

    cdef void push(self, Py_ssize_t e, double weight) noexcept nogil:
        cdef int side
        for side in range(2):
            self.weight[self.place[e, side]] = weight
            if weight > self.most[self.ends[e, side]]:
                self.most[self.ends[e, side]] = weight

    def renew(self, const double[::1] weights):
        """Read all weights anew.

        Parameters
        ----------
        weights : ndarray of shape (n_edges,)
            Of the edges.
        """
        n_entries = self.offsets[self.n_labels]
        if n_entries == 0:
            return
        table = np.asarray(self.weight)
        table[:n_entries] = np.asarray(weights)[np.asarray(self.edge)[:n_entries]]
        most = np.zeros(self.n_labels)
        starts = np.asarray(self.offsets)
        some = np.flatnonzero(np.diff(starts))
        most[some] = np.maximum(np.maximum.reduceat(table[:n_entries], starts[some]), 0.0)
        self.most = most

    cdef bint find(self, const double* reduced_cost, double least) noexcept nogil:
        cdef const double* weight = &self.weight[0]
        cdef double* bound = &self.most[0]
        cdef Py_ssize_t k, m, n_labels = self.n_labels
        cdef double best_reduced_cost = -INFINITY, most
        self.gain, self.first = least, -1
        for k in range(n_labels):
            best_reduced_cost = max(best_reduced_cost, reduced_cost[k])
        for k in range(n_labels):
            # with a reduced_cost of -inf this is false
            if bound[k] + reduced_cost[k] + best_reduced_cost > self.gain:
                self.scan(k, reduced_cost)
                most = 0.0
                for m in range(self.offsets[k], self.offsets[k + 1]):
                    most = max(most, weight[m])
                bound[k] = most
        return self.first >= 0

    cdef void scan(self, Py_ssize_t k, const double* reduced_cost) noexcept nogil:
        cdef const double* weight = &self.weight[0]
        cdef const int32_t* label = &self.label[0]
        cdef Py_ssize_t m, j, start = self.offsets[k], stop = self.offsets[k + 1]
        cdef double gain
        self.n_looks += stop - start
        for m in range(start, stop):
            j = label[m]
            gain = weight[m] + reduced_cost[k] + reduced_cost[j]
            if gain > self.gain and weight[m] > 0.0:
                self.gain, self.first, self.second = gain, k, j

    cdef Py_ssize_t screen(self, double* reduced_cost, double* sum) noexcept nogil:
        # the first step of roof duality, and as there until it changes nothing more
        cdef const double* weight = &self.weight[0]
        cdef const int32_t* label = &self.label[0]
        cdef Py_ssize_t k, m, n = -1, n_before = -2, n_labels = self.n_labels
        while n != n_before:
            n_before, n = n, 0
            for k in range(n_labels):
                sum[k] = reduced_cost[k]
                if reduced_cost[k] == -INFINITY:
                    continue
                for m in range(self.offsets[k], self.offsets[k + 1]):
                    if weight[m] > 0.0 and reduced_cost[label[m]] > -INFINITY:
                        sum[k] += weight[m]
            for k in range(n_labels):
                if not sum[k] > 0.0:
                    reduced_cost[k] = -INFINITY
                n += reduced_cost[k] > -INFINITY
        return n


def find_pair(PairTable table, reduced_cost, double least=-np.inf):
    """Ask an oracle of pairs, for tests.

    Parameters
    ----------
    table : PairTable
        The oracle.
    reduced_cost : ndarray of shape (n_labels,), float64
        What labels gain by themselves, -inf for those that are not asked for.
    least : float, default=-inf
        What must be beaten.

    Returns
    -------
    pair : tuple of int or None
        The two labels.
    gain : float
        Their gain; `least` if there is none.
    """
    check_equal(len(reduced_cost), table.n_labels, "the number of reduced_costs")
    cdef double[::1] reduced_costs = np.append(reduced_cost, 0.0)
    if not table.find(&reduced_costs[0], least):
        return None, least
    return (table.first, table.second), table.gain


def screened_labels(PairTable table, reduced_cost):
    """Return which labels are left by screen(), an array of bool; for tests.

    Parameters
    ----------
    table : PairTable
        The oracle.
    reduced_cost : ndarray of shape (n_labels,), float64
        As for `find_pair`.

    Returns
    -------
    left : ndarray of shape (n_labels,), bool
        Labels that may still come.
    """
    check_equal(len(reduced_cost), table.n_labels, "the number of reduced_costs")
    cdef double[::1] reduced_costs = np.append(reduced_cost, 0.0)
    cdef double[::1] scratch = np.empty(len(reduced_cost) + 1)
    table.screen(&reduced_costs[0], &scratch[0])
    return np.asarray(reduced_costs)[: len(reduced_cost)] > -np.inf
