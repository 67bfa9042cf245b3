"""Labelling many sequences with a trained chain model whose transitions have features."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.models.decoder import Decoder

from sskit.core.checks cimport check_least, check_range
from sskit.core.lanes cimport padded
from sskit.models.edge_chain.request cimport EdgeChainRequest
from sskit.oracles.chain.beam cimport Beam
from sskit.oracles.chain.k_best cimport KBest
from sskit.oracles.chain.stepwise cimport max_marginals_steps, viterbi_steps


class EdgeChainDecoder(Decoder):
    """Labels of sequences: a `Decoder` of an EdgeChainRequest.

    Parameters
    ----------
    request : EdgeChainRequest
        Sequences and weights.
    n_jobs : int or None
        Number of threads.
    beam_size : int or None
        Number of labels that `best` keeps at each token; None keeps all.
    """

    def __init__(self, request, n_jobs, beam_size=None):
        super().__init__(request, n_jobs)
        kept = request.n_states if beam_size is None else beam_size
        self.beam_size = min(kept, request.n_states)

    def best(self):
        """Return the best labels of all tokens, shape (n_tokens,), int32."""
        out = np.empty(self.request.n_nodes, dtype=np.int32)
        self._run(decode_best, (out, self.beam_size))
        return out

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
        labels, scores = np.empty(n, dtype=object), np.empty(n, dtype=object)
        self._run(decode_top_k, (k, labels, scores))
        return labels, scores

    def max_marginals(self):
        """Return the best score of a labelling for each token and label, (n_tokens, K)."""
        n_states = self.request.n_states
        out = np.empty((self.request.n_nodes, padded(n_states)))
        return np.ascontiguousarray(self._run(decode_max_marginals, out)[:, :n_states])


def decode_best(EdgeChainRequest chains, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write labels of the sequences start .. stop - 1, out = (labels, size of the beam)."""
    cdef int32_t[::1] labels = out[0]
    cdef Py_ssize_t beam_size = out[1]
    check_run(chains, start, stop, labels.shape[0])
    cdef double[::1] potentials = np.zeros(chains.room())
    cdef double[::1] value = np.empty(chains.longest * chains.stride + 1)
    cdef size_t[::1] pointers = np.zeros(chains.longest + 1, dtype=np.uintp)
    cdef const double** tables = <const double**>&pointers[0]
    cdef Beam beam = None
    cdef double score
    cdef Py_ssize_t i
    if beam_size < chains.n_states:
        beam = Beam(chains.longest, chains.n_states, beam_size)
        beam.tables = tables
    with nogil:
        for i in range(start, stop):
            chains.steps(i, &potentials[0], tables)
            score = -INFINITY
            if beam is not None:
                score = beam.decode(
                    &potentials[0], NULL, chains.stride, chains.length(i),
                    &labels[chains.offsets[i]]
                )
            # a beam may have lost all labellings that are allowed
            if score == -INFINITY:
                viterbi_steps(
                    &potentials[0], tables, chains.length(i), chains.n_states, NULL, NULL, 0.0,
                    &value[0], &labels[chains.offsets[i]]
                )


def decode_top_k(EdgeChainRequest chains, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the k best labellings and their scores, out = (k, list of labels, of scores)."""
    check_run(chains, start, stop, chains.n_nodes)
    cdef Py_ssize_t k = out[0], i, found = 0, length
    cdef KBest search = KBest(chains.longest, chains.n_states, k)
    cdef double[::1] potentials = np.zeros(chains.room())
    cdef size_t[::1] pointers = np.zeros(chains.longest + 1, dtype=np.uintp)
    cdef int32_t[::1] labels = np.empty(k * chains.longest, dtype=np.int32)
    cdef double[::1] scores = np.empty(k)
    search.tables = <const double**>&pointers[0]
    for i in range(start, stop):
        length = chains.length(i)
        with nogil:
            chains.steps(i, &potentials[0], search.tables)
            found = search.decode(&potentials[0], NULL, length, &labels[0], &scores[0])
        out[1][i] = np.array(labels[: found * length]).reshape(found, length)
        out[2][i] = np.array(scores[:found])


def decode_max_marginals(EdgeChainRequest chains, Py_ssize_t start, Py_ssize_t stop,
                         double[:, ::1] out):
    """Write the max-marginals of the sequences start .. stop - 1, padded."""
    check_run(chains, start, stop, out.shape[0])
    check_least(out.shape[1], chains.stride, "the room for labels")
    cdef double[::1] potentials = np.zeros(chains.room())
    cdef double[::1] transposed = np.zeros(chains.n_states * chains.stride)
    cdef double[::1] scratch = np.zeros(3 * chains.stride)
    cdef size_t[::1] pointers = np.zeros(chains.longest + 1, dtype=np.uintp)
    cdef const double** tables = <const double**>&pointers[0]
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            chains.steps(i, &potentials[0], tables)
            max_marginals_steps(
                &potentials[0], tables, chains.length(i), chains.n_states, &transposed[0],
                &scratch[0], &out[chains.offsets[i], 0]
            )


cdef int check_run(
    EdgeChainRequest chains, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t room
) except -1:
    check_range(start, stop, chains.n_blocks, "sequences")
    return check_least(room, chains.n_nodes, "the room for labels")
