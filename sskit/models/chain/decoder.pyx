"""Labelling many sequences with a trained chain model."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.models.decoder import Decoder

from sskit.core.checks cimport check_least, check_range
from sskit.core.lanes cimport padded
from sskit.models.chain.request cimport ChainRequest
from sskit.oracles.chain.k_best cimport KBest
from sskit.oracles.chain.max_marginals cimport find_max_marginals, transpose_padded
from sskit.oracles.chain.viterbi cimport viterbi_labels


def decode_best(ChainRequest chains, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] out):
    """Write the best labels of the sequences start .. stop - 1."""
    check_run(chains, start, stop, out.shape[0])
    cdef double[::1] node = np.empty(2 * chains.longest * chains.stride + 1)
    cdef double* value = &node[0] + chains.longest * chains.stride
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            chains.nodes(i, &node[0])
            viterbi_labels(
                &node[0], &chains.transitions[0], chains.length(i), chains.n_states, NULL, NULL,
                0.0, value, &out[chains.offsets[i]]
            )


def decode_top_k(ChainRequest chains, Py_ssize_t start, Py_ssize_t stop, out):
    """Write the k best labellings and their scores into the lists out["labels"], ["scores"]."""
    check_run(chains, start, stop, chains.n_nodes)
    cdef Py_ssize_t k = out["k"], i, found = 0, length
    cdef KBest search = KBest(chains.longest, chains.n_states, k)
    cdef double[::1] node = np.empty(chains.longest * chains.stride + 1)
    cdef int32_t[::1] labels = np.empty(k * chains.longest, dtype=np.int32)
    cdef double[::1] scores = np.empty(k)
    for i in range(start, stop):
        length = chains.length(i)
        with nogil:
            chains.nodes(i, &node[0])
            found = search.decode(
                &node[0], &chains.transitions[0], length, &labels[0], &scores[0]
            )
        out["labels"][i] = np.array(labels[: found * length]).reshape(found, length)
        out["scores"][i] = np.array(scores[:found])


def decode_max_marginals(ChainRequest chains, Py_ssize_t start, Py_ssize_t stop,
                         double[:, ::1] out):
    """Write the max-marginals of the sequences start .. stop - 1, padded."""
    check_run(chains, start, stop, out.shape[0])
    check_least(out.shape[1], chains.stride, "the room for labels")
    cdef double[::1] node = np.empty(chains.longest * chains.stride + 1)
    cdef double[::1] transposed = np.zeros(chains.n_states * chains.stride)
    cdef double[::1] scratch = np.zeros(3 * chains.stride)
    cdef Py_ssize_t i
    with nogil:
        transpose_padded(&chains.transitions[0], chains.n_states, &transposed[0])
        for i in range(start, stop):
            chains.nodes(i, &node[0])
            find_max_marginals(
                &node[0], &chains.transitions[0], &transposed[0], chains.length(i),
                chains.n_states, &scratch[0], &out[chains.offsets[i], 0]
            )


class ChainDecoder(Decoder):
    """Labels of sequences: a `Decoder` of a ChainRequest.

    A subclass has other functions that find them.
    """

    decode_best = staticmethod(decode_best)
    decode_top_k = staticmethod(decode_top_k)
    decode_max_marginals = staticmethod(decode_max_marginals)

    def best(self):
        """Return the best labels of all tokens, shape (n_tokens,), int32."""
        return self._run(self.decode_best, np.empty(self.request.n_nodes, dtype=np.int32))

    def top_k(self, k):
        """Return the k best labellings of each sequence and their scores.

        Parameters
        ----------
        k : int
            Number of labellings, positive; fewer are returned where fewer exist.

        Returns
        -------
        labels : ndarray of shape (n,), object
            Each item is an ndarray of shape (m, T_i), int32, best first.
        scores : ndarray of shape (n,), object
            Each item is an ndarray of shape (m,).
        """
        n = self.request.n_blocks
        # room for no more than the longest sequence has
        k = min(k, self.request.n_states ** self.request.longest)
        out = {
            "k": k, "labels": np.empty(n, dtype=object), "scores": np.empty(n, dtype=object)
        }
        self._run(self.decode_top_k, out)
        return out["labels"], out["scores"]

    def max_marginals(self):
        """Return the best score of a labelling for each token and label, (n_tokens, K)."""
        n_states = self.request.n_states
        out = np.empty((self.request.n_nodes, padded(n_states)))
        return np.ascontiguousarray(self._run(self.decode_max_marginals, out)[:, :n_states])


cdef int check_run(
    ChainRequest chains, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t room
) except -1:
    check_range(start, stop, chains.n_blocks, "sequences")
    return check_least(room, chains.n_nodes, "the room for labels")
