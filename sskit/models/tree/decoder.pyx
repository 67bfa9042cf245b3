"""Labelling many trees with a trained model."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.models.graph.decoder import RequestDecoder

from sskit.models.graph.request cimport GraphRequest
from sskit.oracles.graph.potentials cimport Potentials
from sskit.oracles.tree.max_sum cimport TreeKBest, TreeMaxSum


class TreeDecoder(RequestDecoder):
    """Labels of trees: a `Decoder` of a GraphRequest."""

    def max_marginals(self):
        """Return the best score of a labelling for each node and label, (n_nodes, K)."""
        return self._run(decode_marginals, self._table())

    def top_k(self, k):
        """Return the k best labellings, (m, V_i) each, and their scores, (m,) each."""
        n = self.request.n_blocks
        labels, scores = np.empty(n, dtype=object), np.empty(n, dtype=object)
        self._run(decode_top_k, (k, labels, scores))
        return labels, scores


def decode_marginals(GraphRequest trees, Py_ssize_t start, Py_ssize_t stop,
                     double[:, ::1] out):
    """Write the max-marginals of the trees start .. stop - 1."""
    cdef double[::1] theta = np.empty(trees.max_statistics + 1)
    cdef TreeMaxSum oracle = trees.oracle
    cdef Potentials p
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            p = trees.potentials(i, &theta[0])
            oracle.marginals(&p, &out[trees.nodes[i], 0])


def decode_top_k(GraphRequest trees, Py_ssize_t start, Py_ssize_t stop, tuple out):
    """Write the best labellings of the trees start .. stop - 1, out = (k, labels, scores)."""
    k, labels, scores = out
    cdef double[::1] theta = np.empty(trees.max_statistics + 1)
    cdef Potentials p
    cdef Py_ssize_t i, found
    cdef TreeKBest best
    cdef int32_t[:, ::1] labels_out
    cdef double[::1] scores_out
    for i in range(start, stop):
        p = trees.potentials(i, &theta[0])
        most = min(k, int(p.n_states) ** min(int(p.n_nodes), k.bit_length()))
        best = TreeKBest(most)
        labels_out = np.empty((most, p.n_nodes), dtype=np.int32)
        scores_out = np.empty(most)
        found = best.decode(&p, &labels_out[0, 0], &scores_out[0])
        labels[i] = np.asarray(labels_out)[:found].copy()
        scores[i] = np.asarray(scores_out)[:found].copy()
