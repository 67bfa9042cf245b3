"""Labelling many sequences with a trained model of the second order."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.models.chain.decoder import ChainDecoder

from sskit.core.checks cimport check_least, check_range
from sskit.models.second_chain.request cimport SecondChainRequest
from sskit.oracles.chain.second_order cimport second_order_labels, second_order_room
from sskit.oracles.chain.second_order_search cimport (
    SecondOrderKBest, marginals_room, second_order_max_marginals_of
)


def decode_best(SecondChainRequest chains, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] out):
    """Write the best labels of the sequences start .. stop - 1."""
    check_run(chains, start, stop, out.shape[0])
    cdef double[::1] node = np.empty(chains.longest * chains.stride + 1)
    cdef double[::1] value = np.empty(second_order_room(chains.longest, chains.n_states))
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            chains.nodes(i, &node[0])
            second_order_labels(
                &node[0], &chains.transitions[0], &chains.triples[0], chains.length(i),
                chains.n_states, NULL, NULL, 0.0, &value[0], &out[chains.offsets[i]]
            )


def decode_top_k(SecondChainRequest chains, Py_ssize_t start, Py_ssize_t stop, out):
    """Write the k best labellings and their scores into the lists out["labels"], ["scores"]."""
    check_run(chains, start, stop, chains.n_nodes)
    cdef Py_ssize_t k = out["k"], i, found = 0, length
    cdef SecondOrderKBest search = SecondOrderKBest(chains.longest, chains.n_states, k)
    cdef double[::1] node = np.empty(chains.longest * chains.stride + 1)
    cdef int32_t[::1] labels = np.empty(k * chains.longest, dtype=np.int32)
    cdef double[::1] scores = np.empty(k)
    for i in range(start, stop):
        length = chains.length(i)
        with nogil:
            chains.nodes(i, &node[0])
            found = search.decode(
                &node[0], &chains.transitions[0], &chains.triples[0], length, &labels[0],
                &scores[0]
            )
        out["labels"][i] = np.array(labels[: found * length]).reshape(found, length)
        out["scores"][i] = np.array(scores[:found])


def decode_max_marginals(SecondChainRequest chains, Py_ssize_t start, Py_ssize_t stop,
                         double[:, ::1] out):
    """Write the max-marginals of the sequences start .. stop - 1, padded."""
    check_run(chains, start, stop, out.shape[0])
    check_least(out.shape[1], chains.stride, "the room for labels")
    cdef double[::1] node = np.empty(chains.longest * chains.stride + 1)
    cdef double[::1] scratch = np.empty(marginals_room(chains.longest, chains.n_states))
    tables = chains.backward_tables()
    cdef const double[::1] pairs = tables[0], triples = tables[1]
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            chains.nodes(i, &node[0])
            second_order_max_marginals_of(
                &node[0], &chains.transitions[0], &chains.triples[0], &pairs[0], &triples[0],
                chains.length(i), chains.n_states, &scratch[0], &out[chains.offsets[i], 0]
            )


class SecondChainDecoder(ChainDecoder):
    """Labels of sequences: a `ChainDecoder` of a SecondChainRequest."""

    decode_best = staticmethod(decode_best)
    decode_top_k = staticmethod(decode_top_k)
    decode_max_marginals = staticmethod(decode_max_marginals)


cdef int check_run(
    SecondChainRequest chains, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t room
) except -1:
    check_range(start, stop, chains.n_blocks, "sequences")
    return check_least(room, chains.n_nodes, "the room for labels")
