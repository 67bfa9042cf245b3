"""Draws of labellings of the second order, asked from Python."""

import numpy as np

from sskit.oracles.validation import padded_rows

from libc.stdint cimport int32_t

from sskit.core.lanes cimport LANES
from sskit.oracles.chain.second_order cimport triple_room, triple_table
from sskit.oracles.chain.viterbi cimport Chain, ChainOracle


def draw_labels(nodes, transitions, triples, const double[:, ::1] uniform):
    """Return a labelling for each row of numbers of [0, 1), shape (n_draws, n_nodes)."""
    cdef const double[:, ::1] node_rows = padded_rows(nodes), pairs = padded_rows(transitions)
    cdef const double[::1] weights = np.append(triples, np.zeros(LANES))
    cdef double[::1] table = np.zeros(triple_room(nodes.shape[1]))
    cdef ChainOracle oracle
    cdef Py_ssize_t i, n_nodes = nodes.shape[0], n_states = nodes.shape[1]
    labels = np.empty((uniform.shape[0], n_nodes), dtype=np.int32)
    cdef int32_t[:, ::1] out = labels
    cdef Chain chain = Chain(&node_rows[0, 0], &pairs[0, 0], NULL, n_nodes, n_states, &table[0])
    triple_table(&weights[0], n_states, &table[0])
    oracle.begin(chain)
    oracle.forward(chain)
    for i in range(uniform.shape[0]):
        oracle.sample(&uniform[i, 0], &out[i, 0])
    return labels
