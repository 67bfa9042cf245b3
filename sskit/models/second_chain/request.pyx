"""Sequences that a model of the second order is to label (see the .pxd)."""

import numpy as np

from sskit.oracles.chain.second_order import make_triple_table

from sskit.core.checks cimport check_equal


cdef class SecondChainRequest(ChainRequest):
    """Sequences to label.

    Parameters
    ----------
    features, offsets, transitions, start, end : object
        As of `ChainRequest`.
    allowed, allowed_start, allowed_end : ndarray or None
        Likewise.
    triples : ndarray of shape (n_states, n_states, n_states), float64
        Scores of three labels in a row.
    """

    def __cinit__(self, features, offsets, transitions, start, end, allowed, allowed_start,
                  allowed_end, triples):
        check_equal(np.ndim(triples), 3, "the number of dimensions of triples")
        for size in np.shape(triples):
            check_equal(size, self.n_states, "the number of states")
        self.weights = np.asarray(triples, dtype=np.float64)
        self.triples = make_triple_table(self.weights)

    def backward_tables(self):
        """Return the tables of transitions and of triples of sequences read backwards."""
        rows = np.asarray(self.transitions)[: self.n_states * self.stride]
        rows = rows.reshape(self.n_states, self.stride)
        transitions = np.zeros_like(rows)
        transitions[:, : self.n_states] = rows[:, : self.n_states].T
        return transitions.ravel(), make_triple_table(self.weights.transpose(2, 1, 0))
