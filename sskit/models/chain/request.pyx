"""Sequences that are to be labelled, and what labels them (see the .pxd)."""

import numpy as np

from sskit.models.decoder import Decoder

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.core.lanes cimport LANES, padded
from sskit.oracles.chain.viterbi cimport (
    Beam, KBest, find_max_marginals, transpose_padded, viterbi_labels
)


cdef class ChainRequest:
    """Sequences to label.

    Parameters
    ----------
    features : RowScores
        Scores of the tokens of all sequences, one after the other.
    offsets : ndarray of shape (n_blocks + 1,), int64
        Where the sequences begin; none is empty.
    transitions : ndarray of shape (n_states, n_states), float64
        Scores of transitions, from row to column.
    start, end : ndarray of shape (n_states,), float64
        Scores of the first and of the last label.
    allowed : ndarray of shape (n_states, n_states), bool, default=None
        Allowed transitions; None means all.
    allowed_start, allowed_end : ndarray of shape (n_states,), bool, default=None
        Labels that a sequence may begin and end with; None means any.
    """

    def __cinit__(self, RowScores features, const int64_t[::1] offsets,
                  const double[:, :] transitions, const double[:] start, const double[:] end,
                  allowed=None, allowed_start=None, allowed_end=None, *args):
        cdef Py_ssize_t n_states = features.n_states, i
        self.features, self.offsets, self.n_states = features, offsets, n_states
        self.n_blocks, self.n_nodes = offsets.shape[0] - 1, features.n_rows
        self.stride = padded(n_states)
        for i in range(self.n_blocks):
            self.longest = max(self.longest, self.length(i))
        table = np.zeros(n_states * self.stride + LANES)
        rows = table[: n_states * self.stride].reshape(n_states, self.stride)[:, :n_states]
        rows[...] = transitions
        self.start, self.end = np.array(start), np.array(end)
        self.transitions = table
        if allowed is not None:
            rows[~allowed] = -INFINITY
        if allowed_start is not None:
            np.asarray(self.start)[~allowed_start] = -INFINITY
        if allowed_end is not None:
            np.asarray(self.end)[~allowed_end] = -INFINITY

    cdef Py_ssize_t length(self, Py_ssize_t i) noexcept nogil:
        return self.offsets[i + 1] - self.offsets[i]

    cdef void nodes(self, Py_ssize_t i, double* out) noexcept nogil:
        cdef Py_ssize_t b, last = (self.length(i) - 1) * self.stride
        self.features.write(self.offsets[i], self.length(i), out)
        for b in range(self.n_states):
            out[b] += self.start[b]
            out[last + b] += self.end[b]

    cdef Py_ssize_t room(self) noexcept nogil:
        return self.longest * self.stride + 1

    cdef const double** load(self, Py_ssize_t i, double* out) noexcept nogil:
        self.nodes(i, out)
        return NULL

    def is_modest(self):
        """Return whether features and their weights are so small that no score can overflow.

        Other weights are below 1e154 in a fitted estimator: it takes too many to overflow.
        """
        return self.features.modest()

    def tables(self):
        """Return the scores by themselves.

        Returns
        -------
        nodes : ndarray of shape (n_tokens, n_states)
            Those of the features of the tokens.
        transitions : ndarray of shape (n_states, n_states)
            Those of the transitions, -inf where forbidden.
        start, end : ndarray of shape (n_states,)
            Those of the first and of the last label, likewise.
        """
        rows = np.asarray(self.transitions)[: self.n_states * self.stride]
        transitions = rows.reshape(self.n_states, self.stride)[:, : self.n_states].copy()
        return self.features.table(), transitions, np.array(self.start), np.array(self.end)

    def fork(self):
        """Return the request: nothing of it is written to."""
        return self


def decode_best(ChainRequest chains, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write labels of the sequences start .. stop - 1, out = (labels, size of the beam)."""
    cdef int32_t[::1] labels = out[0]
    cdef Py_ssize_t beam_size = out[1], room = chains.room(), i
    cdef double[::1] theta = np.empty(room + chains.longest * chains.stride)
    cdef const double** tables
    cdef Beam beam = None
    cdef double score
    if beam_size < chains.n_states:
        beam = Beam(chains.longest, chains.n_states, beam_size)
    with nogil:
        for i in range(start, stop):
            tables = chains.load(i, &theta[0])
            score = -INFINITY
            if beam is not None:
                beam.tables = tables
                score = beam.decode(
                    &theta[0], &chains.transitions[0], chains.stride, chains.length(i),
                    &labels[chains.offsets[i]]
                )
            # a beam may have lost all labellings that are allowed
            if score == -INFINITY:
                viterbi_labels(
                    &theta[0], &chains.transitions[0], tables, chains.length(i), chains.n_states,
                    NULL, NULL, 0.0, &theta[room], &labels[chains.offsets[i]]
                )


def decode_top_k(ChainRequest chains, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the k best labellings and their scores, out = (k, list of labels, of scores)."""
    cdef Py_ssize_t k = out[0], i, found = 0, length
    cdef KBest search = KBest(chains.longest, chains.n_states, k)
    cdef double[::1] theta = np.empty(chains.room())
    cdef int32_t[::1] labels = np.empty(k * chains.longest, dtype=np.int32)
    cdef double[::1] scores = np.empty(k)
    for i in range(start, stop):
        length = chains.length(i)
        with nogil:
            search.tables = chains.load(i, &theta[0])
            found = search.decode(
                &theta[0], &chains.transitions[0], length, &labels[0], &scores[0]
            )
        out[1][i] = np.array(labels[: found * length]).reshape(found, length)
        out[2][i] = np.array(scores[:found])


def decode_max_marginals(ChainRequest chains, Py_ssize_t start, Py_ssize_t stop,
                         double[:, ::1] out):
    """Write the max-marginals of the sequences start .. stop - 1, padded."""
    cdef double[::1] theta = np.empty(chains.room())
    cdef double[::1] transposed = np.zeros(chains.n_states * chains.stride)
    cdef double[::1] scratch = np.zeros(3 * chains.stride)
    cdef const double** tables
    cdef Py_ssize_t i
    with nogil:
        transpose_padded(&chains.transitions[0], chains.n_states, &transposed[0])
        for i in range(start, stop):
            tables = chains.load(i, &theta[0])
            find_max_marginals(
                &theta[0], &chains.transitions[0], tables, chains.length(i), chains.n_states,
                &transposed[0], &scratch[0], &out[chains.offsets[i], 0]
            )


class ChainDecoder(Decoder):
    """Labels of sequences: a `Decoder` of a ChainRequest.

    A subclass has other functions that find them.

    Parameters
    ----------
    request : ChainRequest
        Sequences and weights.
    n_jobs : int, default=None
        Number of threads.
    beam_size : int, default=None
        Number of labels that `best` keeps at each token; None keeps all.
    """

    decode_best = staticmethod(decode_best)
    decode_top_k = staticmethod(decode_top_k)
    decode_max_marginals = staticmethod(decode_max_marginals)

    def __init__(self, request, n_jobs=None, beam_size=None):
        super().__init__(request, n_jobs)
        self.beam_size = request.n_states if beam_size is None else beam_size

    def best(self):
        """Return the best labels of all tokens, shape (n_tokens,), int32."""
        out = np.empty(self.request.n_nodes, dtype=np.int32)
        self._run(self.decode_best, (out, self.beam_size))
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
        self._run(self.decode_top_k, (k, labels, scores))
        return labels, scores

    def max_marginals(self):
        """Return the best score of a labelling for each token and label, (n_tokens, K)."""
        n_states = self.request.n_states
        out = np.empty((self.request.n_nodes, padded(n_states)))
        return np.ascontiguousarray(self._run(self.decode_max_marginals, out)[:, :n_states])
