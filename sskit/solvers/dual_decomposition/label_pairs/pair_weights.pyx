"""The weights of pairs of labels by label (see the .pxd)."""

import numpy as np


cdef class PairTable:
    """Weights of the edges of every label.

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
