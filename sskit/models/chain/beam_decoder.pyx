"""Labelling many sequences by beam search."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from sskit.models.chain.decoder import ChainDecoder

from sskit.core.checks cimport check_least
from sskit.core.lanes cimport padded
from sskit.models.chain.problem cimport ChainProblem
from sskit.models.row_kernels cimport masked_table, score_rows
from sskit.oracles.chain.beam cimport Beam


class BeamDecoder(ChainDecoder):
    """Labels of sequences found by beam search; all else is that of a `ChainDecoder`.

    Unlike the problem's own oracle it never copies the table of transitions for a sequence, a
    cost of K^2.

    Parameters
    ----------
    problem : ChainProblem
        The inputs; its labels are not used.
    w : ndarray of shape (n_weights,)
        Flat weights.
    n_jobs : int or None
        Number of threads.
    beam_size : int
        Number of labels that are kept at each token, below that of all labels.
    free : bool
        Whether all transitions are allowed.
    """

    def __init__(self, problem, w, n_jobs, beam_size, free):
        super().__init__(problem, w, n_jobs)
        self.beam_size = beam_size
        self.transitions = (free_table if free else allowed_table)(problem, self.w)

    def best(self):
        """Return good labels of all tokens, shape (n_tokens,), int32."""
        out = {
            "labels": np.empty(self.problem.n_nodes, dtype=np.int32),
            "transitions": self.transitions,
            "size": self.beam_size,
        }
        return self._run(decode_by_beam, out)["labels"]


def free_table(ChainProblem problem, w):
    """Return the scores of transitions, row after row, and the distance of rows: no copy."""
    return w[problem.transition_weights:], problem.n_states


def allowed_table(ChainProblem problem, const double[::1] w):
    """Return the scores of transitions, -inf where forbidden, and the distance of rows."""
    cdef Py_ssize_t row = padded(problem.n_states)
    problem.check_weights(w.shape[0], "w")
    cdef double[::1] table = np.empty(problem.n_states * row)
    masked_table(
        &w[problem.transition_weights], &problem.forbidden[0, 0], problem.n_states, &table[0]
    )
    return np.asarray(table), row


def decode_by_beam(ChainProblem problem, const double[::1] w, Py_ssize_t start, Py_ssize_t stop,
                   out):
    """Write labels of the sequences start .. stop - 1 into out["labels"]."""
    problem.check_run(start, stop, w.shape[0])
    cdef Py_ssize_t n_states = problem.n_states, row = padded(n_states), i, y, last
    cdef int32_t[::1] labels = out["labels"]
    rows, distance = out["transitions"]
    cdef const double[::1] table = rows
    cdef Py_ssize_t stride = distance
    cdef Beam beam = Beam(problem.max_code_length, n_states, out["size"])
    cdef double[::1] node = np.empty(problem.max_code_length * row)
    cdef double score
    check_least(labels.shape[0], problem.n_nodes, "the room for labels")
    check_least(stride, n_states, "the distance of rows")
    check_least(table.shape[0], (n_states - 1) * stride + row, "the length of the table")
    for i in range(start, stop):
        with nogil:
            last = problem.length(i) - 1
            score_rows(
                &problem.features.rows, problem.offsets[i], last + 1, &w[0], n_states, &node[0]
            )
            for y in range(n_states):
                node[y] += w[problem.start_weights + y] + problem.forbidden_start[y]
                node[last * row + y] += w[problem.end_weights + y]
            score = beam.decode(
                &node[0], &table[0], stride, last + 1, &labels[problem.offsets[i]]
            )
        if score == -INFINITY:
            decode_exactly(problem, w, i, labels)


cdef decode_exactly(ChainProblem problem, const double[::1] w, Py_ssize_t i, int32_t[::1] labels):
    """Write the best labels of a sequence whose allowed labellings the beam has lost."""
    cdef double[::1] theta = np.zeros(problem.max_statistics)
    cdef double loss
    with nogil:
        problem.scores(i, &w[0], &theta[0])
        problem.argmax(i, &theta[0], 0.0, &labels[problem.offsets[i]], &loss)
