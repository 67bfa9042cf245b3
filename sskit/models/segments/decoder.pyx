"""Cutting many sequences into segments with a trained model."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.models.decoder import Decoder

from sskit.core.checks cimport check_equal, check_least, check_range
from sskit.core.lanes cimport padded
from sskit.models.segments.request cimport SegmentRequest
from sskit.models.segments.tables cimport SegmentTables
from sskit.oracles.segments.k_best cimport SegmentKBest
from sskit.oracles.segments.max_sum cimport SegmentMaxSum, SegmentPotentials


class SegmentDecoder(Decoder):
    """Segments of sequences: a `Decoder` of a SegmentRequest.

    A labelling of tokens has 2 k + 1 at the first token of each segment of state k and 2 k at its
    other tokens.
    """

    def best(self):
        """Return the best labelling of all tokens, shape (n_tokens,), int32."""
        return self._run(decode_best, np.empty(self.request.n_tokens, dtype=np.int32))

    def top_k(self, k):
        """Return the k best labellings of each sequence, (m, T_i) each, and their scores."""
        n = self.request.n_blocks
        labels, scores = np.empty(n, dtype=object), np.empty(n, dtype=object)
        self._run(decode_top_k, (k, labels, scores))
        return labels, scores

    def max_marginals(self):
        """Return the best score of a labelling for each token and state, (n_tokens, K)."""
        shape = self.request.n_tokens, self.request.n_states
        return self._run(decode_max_marginals, np.empty(shape))


cdef double[::1] scratch_for(SegmentRequest request):
    return np.empty(3 * request.longest * padded(request.n_states) + 1)


def decode_best(SegmentRequest request, Py_ssize_t start, Py_ssize_t stop, int32_t[::1] out):
    """Write the best labelling of the sequences start .. stop - 1."""
    check_range(start, stop, request.n_blocks, "sequences")
    check_least(out.shape[0], request.n_tokens, "the room for labels")
    cdef SegmentTables tables = request.make_tables()
    cdef SegmentMaxSum oracle = SegmentMaxSum(request.longest, request.n_states)
    cdef double[::1] scratch = scratch_for(request)
    cdef SegmentPotentials p
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            request.write(i, tables, &scratch[0])
            p = tables.potentials(request.length(i), False)
            oracle.decode(&p, &out[request.offsets[i]])


def decode_top_k(SegmentRequest request, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the best labellings of the sequences start .. stop - 1, out = (k, labels, scores)."""
    check_range(start, stop, request.n_blocks, "sequences")
    k, labels, scores = out
    cdef SegmentTables tables = request.make_tables()
    cdef SegmentKBest search
    cdef double[::1] scratch = scratch_for(request)
    cdef int32_t[:, ::1] labels_out
    cdef double[::1] scores_out
    cdef SegmentPotentials p
    cdef Py_ssize_t i, found, length
    for i in range(start, stop):
        length = request.length(i)
        # room for no more than there are
        most = min(k, (2 * int(request.n_states)) ** min(int(length), k.bit_length()))
        search = SegmentKBest(length, request.n_states, request.max_length, most)
        labels_out, scores_out = np.empty((most, length), dtype=np.int32), np.empty(most)
        with nogil:
            request.write(i, tables, &scratch[0])
            p = tables.potentials(length, False)
            found = search.decode(&p, &labels_out[0, 0], &scores_out[0])
        labels[i] = np.asarray(labels_out)[:found].copy()
        scores[i] = np.asarray(scores_out)[:found].copy()


def decode_max_marginals(SegmentRequest request, Py_ssize_t start, Py_ssize_t stop,
                         double[:, ::1] out):
    """Write the max-marginals of the sequences start .. stop - 1."""
    check_range(start, stop, request.n_blocks, "sequences")
    check_least(out.shape[0], request.n_tokens, "the room for tokens")
    check_equal(out.shape[1], request.n_states, "the room for states")
    cdef SegmentTables tables = request.make_tables()
    cdef SegmentMaxSum oracle = SegmentMaxSum(request.longest, request.n_states)
    cdef double[::1] scratch = scratch_for(request)
    cdef SegmentPotentials p
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            request.write(i, tables, &scratch[0])
            p = tables.potentials(request.length(i), False)
            oracle.marginals(&p, &out[request.offsets[i], 0])
