"""Labelling many sequences with a trained chain model."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.models.decoder import Decoder

from sskit.core.checks cimport check_least
from sskit.core.lanes cimport padded
from sskit.models.chain.problem cimport ChainProblem
from sskit.oracles.chain.k_best cimport KBest
from sskit.oracles.chain.max_marginals cimport find_max_marginals, transpose_padded


class ChainDecoder(Decoder):
    """Labels of sequences under one weight vector: a `Decoder` of a ChainProblem."""

    def best(self):
        """Return the best labels of all tokens, shape (n_tokens,), int32."""
        return self._run(decode_best, np.empty(self.problem.n_nodes, dtype=np.int32))

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
        n = self.problem.n_blocks
        # room for no more than the longest sequence has
        k = min(k, self.problem.n_states ** self.problem.max_code_length)
        out = {
            "k": k, "labels": np.empty(n, dtype=object), "scores": np.empty(n, dtype=object)
        }
        self._run(decode_top_k, out)
        return out["labels"], out["scores"]

    def max_marginals(self):
        """Return the best score of a labelling for each token and label, (n_tokens, K)."""
        n_states = self.problem.n_states
        out = np.empty((self.problem.n_nodes, padded(n_states)))
        return np.ascontiguousarray(self._run(decode_max_marginals, out)[:, :n_states])


def decode_best(ChainProblem problem, const double[::1] w, Py_ssize_t start, Py_ssize_t stop,
                int32_t[::1] out):
    """Write the best labels of the sequences start .. stop - 1."""
    problem.check_run(start, stop, w.shape[0])
    check_least(out.shape[0], problem.n_nodes, "the room for labels")
    cdef double[::1] theta = np.zeros(problem.max_statistics)
    cdef double loss
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            problem.scores(i, &w[0], &theta[0])
            problem.argmax(i, &theta[0], 0.0, &out[problem.offsets[i]], &loss)


def decode_top_k(ChainProblem problem, const double[::1] w, Py_ssize_t start, Py_ssize_t stop,
                 out):
    """Write the k best labellings and their scores into the lists out["labels"], ["scores"]."""
    problem.check_run(start, stop, w.shape[0])
    cdef Py_ssize_t k = out["k"], i, found = 0, length
    cdef KBest search = KBest(problem.max_code_length, problem.n_states, k)
    cdef double[::1] theta = np.zeros(problem.max_statistics)
    cdef Py_ssize_t table = problem.n_states * padded(problem.n_states)
    cdef int32_t[::1] labels = np.empty(k * problem.max_code_length, dtype=np.int32)
    cdef double[::1] scores = np.empty(k)
    for i in range(start, stop):
        length = problem.length(i)
        with nogil:
            problem.scores(i, &w[0], &theta[0])
            found = search.decode(&theta[table], &theta[0], length, &labels[0], &scores[0])
        out["labels"][i] = np.array(labels[: found * length]).reshape(found, length)
        out["scores"][i] = np.array(scores[:found])


def decode_max_marginals(ChainProblem problem, const double[::1] w, Py_ssize_t start,
                         Py_ssize_t stop, double[:, ::1] out):
    """Write the max-marginals of the sequences start .. stop - 1, padded."""
    problem.check_run(start, stop, w.shape[0])
    check_least(out.shape[0], problem.n_nodes, "the room for nodes")
    check_least(out.shape[1], padded(problem.n_states), "the room for labels")
    cdef double[::1] theta = np.zeros(problem.max_statistics)
    cdef Py_ssize_t stride = padded(problem.n_states), i
    cdef double[::1] transposed = np.zeros(problem.n_states * stride)
    cdef double[::1] scratch = np.zeros(3 * stride)
    with nogil:
        for i in range(start, stop):
            problem.scores(i, &w[0], &theta[0])
            transpose_padded(&theta[0], problem.n_states, &transposed[0])
            find_max_marginals(
                &theta[problem.n_states * stride], &theta[0], &transposed[0], problem.length(i),
                problem.n_states, &scratch[0], &out[problem.offsets[i], 0]
            )
