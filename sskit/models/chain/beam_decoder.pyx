"""Labelling many sequences by beam search."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.models.chain.decoder import ChainDecoder, decode_best

from sskit.core.checks cimport check_least, check_range
from sskit.models.chain.request cimport ChainRequest
from sskit.oracles.chain.beam cimport Beam


class BeamDecoder(ChainDecoder):
    """Labels of sequences found by beam search; all else is that of a `ChainDecoder`.

    Parameters
    ----------
    request : ChainRequest
        Sequences and weights.
    n_jobs : int or None
        Number of threads.
    beam_size : int
        Number of labels that are kept at each token, below that of all labels.
    """

    def __init__(self, request, n_jobs, beam_size):
        super().__init__(request, n_jobs)
        self.beam_size = beam_size

    def best(self):
        """Return good labels of all tokens, shape (n_tokens,), int32."""
        labels = np.empty(self.request.n_nodes, dtype=np.int32)
        self._run(decode_by_beam, (labels, self.beam_size))
        return labels


def decode_by_beam(ChainRequest chains, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write labels of the sequences start .. stop - 1, out = (labels, size of the beam)."""
    check_range(start, stop, chains.n_blocks, "sequences")
    cdef int32_t[::1] labels = out[0]
    check_least(labels.shape[0], chains.n_nodes, "the room for labels")
    cdef Beam beam = Beam(chains.longest, chains.n_states, out[1])
    cdef double[::1] node = np.empty(chains.longest * chains.stride + 1)
    cdef double score
    cdef Py_ssize_t i
    for i in range(start, stop):
        with nogil:
            chains.nodes(i, &node[0])
            score = beam.decode(
                &node[0], &chains.transitions[0], chains.stride, chains.length(i),
                &labels[chains.offsets[i]]
            )
        if score == -INFINITY:
            # the beam has lost all labellings that are allowed
            decode_best(chains, i, i + 1, out[0])
