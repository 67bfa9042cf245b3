"""Matching items with a trained model."""

import numpy as np

from libc.stdint cimport int32_t

from sskit.models.decoder import Decoder

from sskit.core.checks cimport check_least
from sskit.models.matchings.problem cimport MatchingProblem


class MatchingDecoder(Decoder):
    """Matchings under one weight vector: a `Decoder` of a MatchingProblem."""

    def best(self):
        """Return the best partners of the left items of each sample, int64, -1 for none."""
        return self._run(decode_best, [None] * self.request.n_blocks)

    def gains(self):
        """Return what each pair adds to the score, for each sample (n_left, n_right)."""
        return self._run(decode_gains, [None] * self.request.n_blocks)


def decode_best(MatchingProblem problem, const double[::1] w, Py_ssize_t start,
                Py_ssize_t stop, list out):
    """Write the partners in the samples start .. stop - 1."""
    problem.check_run(start, stop, w.shape[0])
    check_least(len(out), stop, "the room for samples")
    code = np.zeros(problem.max_code_length, dtype=np.int32)
    cdef int32_t[::1] partners = code
    cdef double loss
    cdef Py_ssize_t i
    for i in range(start, stop):
        with nogil:
            problem.argmax(i, &w[0], 0.0, &partners[0], &loss)
        out[i] = code[:problem.rows_of[i].n_left].astype(np.int64)


def decode_gains(MatchingProblem problem, const double[::1] w, Py_ssize_t start,
                 Py_ssize_t stop, list out):
    """Write what the pairs add to the score in the samples start .. stop - 1."""
    problem.check_run(start, stop, w.shape[0])
    check_least(len(out), stop, "the room for samples")
    cdef double[:, ::1] found
    cdef Py_ssize_t i
    for i in range(start, stop):
        out[i] = np.empty((problem.rows_of[i].n_left, problem.rows_of[i].n_right))
        if out[i].size:
            found = out[i]
            with nogil:
                problem.gains(i, &w[0], &found[0, 0], found.shape[1])
