"""Draws of labellings of the second order, asked from Python."""

import numpy as np

from sskit.oracles.chain.viterbi import make_triple_table
from sskit.oracles.gate import padded_rows

from libc.stdint cimport int32_t

from sskit.oracles.chain.second_order cimport SecondSumProduct


def draw_labels(nodes, transitions, triples, const double[:, ::1] uniform):
    """Return a labelling for each row of numbers of [0, 1), shape (n_draws, n_nodes)."""
    cdef const double[:, ::1] node_rows = padded_rows(nodes)
    cdef const double[:, ::1] pairs = padded_rows(transitions), turned = padded_rows(transitions.T)
    cdef const double[::1] table = make_triple_table(triples)
    cdef const double[::1] turned_table = make_triple_table(triples.transpose(2, 1, 0))
    cdef SecondSumProduct oracle
    cdef Py_ssize_t i, n_nodes = nodes.shape[0]
    labels = np.empty((uniform.shape[0], n_nodes), dtype=np.int32)
    cdef int32_t[:, ::1] out = labels
    oracle.begin(nodes.shape[1], &pairs[0, 0], &table[0], &turned[0, 0], &turned_table[0])
    oracle.forward(&node_rows[0, 0], n_nodes, NULL)
    for i in range(uniform.shape[0]):
        oracle.sample(n_nodes, &uniform[i, 0], &out[i, 0])
    return labels
