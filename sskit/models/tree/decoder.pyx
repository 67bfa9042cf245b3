"""Labelling many trees with a trained model."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.models.graph.decoder import GraphDecoder

from sskit.core.checks cimport check_equal, check_least
from sskit.models.graph.problem cimport GraphProblem
from sskit.oracles.graph.potentials cimport Potentials
from sskit.oracles.tree.max_sum cimport TreeMaxSum
from sskit.oracles.tree.k_best cimport TreeKBest


class TreeDecoder(GraphDecoder):
    """Labels of trees under one weight vector: a `Decoder` of a GraphProblem."""

    def max_marginals(self):
        """Return the best score of a labelling for each node and label, (n_nodes, K)."""
        return self._run(decode_marginals, self._table())

    def top_k(self, k):
        """Return the k best labellings, (m, V_i) each, and their scores, (m,) each."""
        n = self.problem.n_blocks
        labels, scores = np.empty(n, dtype=object), np.empty(n, dtype=object)
        self._run(decode_top_k, (k, labels, scores))
        return labels, scores


def decode_marginals(GraphProblem problem, const double[::1] w, Py_ssize_t start,
                     Py_ssize_t stop, double[:, ::1] out):
    """Write the max-marginals of the trees start .. stop - 1."""
    problem.check_run(start, stop, w.shape[0])
    check_least(out.shape[0], problem.n_nodes, "the room for nodes")
    check_equal(out.shape[1], problem.n_states, "the room for labels")
    cdef double[::1] theta = np.zeros(problem.max_statistics)
    cdef TreeMaxSum oracle = problem.oracle
    cdef Potentials p
    cdef Py_ssize_t i
    for i in range(start, stop):
        with nogil:
            problem.scores(i, &w[0], &theta[0])
            p = problem.potentials(i, &theta[0], 0.0)
        oracle.marginals(&p, out[problem.nodes[i] : problem.nodes[i + 1]])


def decode_top_k(GraphProblem problem, const double[::1] w, Py_ssize_t start, Py_ssize_t stop,
                 tuple out):
    """Write the best labellings of the trees start .. stop - 1, out = (k, labels, scores)."""
    problem.check_run(start, stop, w.shape[0])
    k, labels, scores = out
    cdef double[::1] theta = np.zeros(problem.max_statistics)
    cdef Potentials p
    cdef Py_ssize_t i, found
    cdef TreeKBest best
    cdef int32_t[:, ::1] labels_out
    cdef double[::1] scores_out
    for i in range(start, stop):
        with nogil:
            problem.scores(i, &w[0], &theta[0])
            p = problem.potentials(i, &theta[0], 0.0)
        most = min(k, int(p.n_states) ** min(int(p.n_nodes), k.bit_length()))
        best = TreeKBest(most)
        labels_out = np.empty((most, p.n_nodes), dtype=np.int32)
        scores_out = np.empty(most)
        found = best.decode(&p, &labels_out[0, 0], &scores_out[0])
        labels[i] = np.asarray(labels_out)[:found].copy()
        scores[i] = np.asarray(scores_out)[:found].copy()
