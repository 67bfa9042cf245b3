"""Finding parts with a trained model."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

from sskit.models.decoder import Decoder

from sskit.core.checks cimport check_equal, check_least
from sskit.models.parts.problem cimport PartsProblem
from sskit.oracles.parts.max_sum cimport PartPotentials


class PartsDecoder(Decoder):
    """Places of parts under one weight vector: a `Decoder` of a PartsProblem."""

    def best(self):
        """Return the best x and y of all parts, shape (n, n_parts, 2), int64."""
        shape = self.request.n_blocks, self.request.n_parts, 2
        return self._run(decode_best, np.empty(shape, dtype=np.int64))

    def max_marginals(self):
        """Return the best score with each part at each cell, for each sample (n_parts, H, W)."""
        return self._run(decode_marginals, [np.empty(maps.shape) for maps in self.request.maps])


def decode_best(PartsProblem problem, const double[::1] w, Py_ssize_t start, Py_ssize_t stop,
                int64_t[:, :, ::1] out):
    """Write the places in the samples start .. stop - 1."""
    problem.check_run(start, stop, w.shape[0])
    check_least(out.shape[0], stop, "the room for samples")
    check_equal(out.shape[1], problem.n_parts, "the room for parts")
    check_equal(out.shape[2], 2, "the room for coordinates")
    cdef int32_t[::1] code = np.zeros(problem.max_code_length, dtype=np.int32)
    cdef double loss
    cdef Py_ssize_t i, k, width
    with nogil:
        for i in range(start, stop):
            problem.argmax(i, &w[0], 0.0, &code[0], &loss)
            width = problem.map_of[i].width
            for k in range(problem.n_parts):
                out[i, k, 0] = code[k] % width
                out[i, k, 1] = code[k] // width


def decode_marginals(PartsProblem problem, const double[::1] w, Py_ssize_t start,
                     Py_ssize_t stop, list out):
    """Write the max-marginals of the samples start .. stop - 1."""
    problem.check_run(start, stop, w.shape[0])
    check_least(len(out), stop, "the room for samples")
    cdef PartPotentials p
    cdef double[:, :, ::1] best
    cdef Py_ssize_t i
    for i in range(start, stop):
        best = out[i]
        check_least(best.size, problem.maps[i].size, "the room for scores")
        with nogil:
            p = problem.potentials(i, &w[0], 0.0)
            problem.oracle.marginals(&p, &best[0, 0, 0])
