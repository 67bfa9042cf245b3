"""Parts on a tree of springs, bound to data (see the .pxd)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from sskit.core.fingerprint import Fingerprint
from sskit.models.request import Decoder
from sskit.models.object_hashes import digest, sample_digests

from sskit.core.problem cimport Problem
from sskit.oracles.parts.max_sum cimport PartPotentials


cdef class PartsProblem(WeightSpaceProblem):
    """Parts on a tree of springs bound to data.

    Parameters
    ----------
    maps : list of n_blocks ndarrays of shape (n_parts, H_i, W_i), float64 or float32
        Finite scores of the parts at the cells, in C order.
    truths : ndarray of shape (n_blocks, 2 * n_parts), int32
        True cells, by rows of the maps, and types.
    scale : ndarray of shape (n_blocks,), float64
        Unit of the distances of the loss, in cells.
    loss : {"squared", "distance"}
        Loss of a part; that of a labelling is the mean over the parts.
    cutoff : float
        Distance, in scales, from which on the loss "squared" is one.
    block_weight : ndarray of shape (n_blocks,), float64
        Weights of the blocks, summing to one.
    parents : ndarray of shape (n_parts,), int32
        The parent of each part, -1 for roots; a forest.
    types_of : ndarray of shape (n_parts,), int32
        Number of types of springs of each part.
    means : ndarray of shape (n_parts, n_types, 2), float64
        Where the springs rest, x and y from the parent, in cells.
    unit : float
        Unit of the displacements in the features, in cells.
    """

    def __cinit__(self, maps, truths, scale, loss, double cutoff, block_weight, parents,
                  types_of, means, double unit):
        cdef ScoreMaps entry
        cdef const double[:, :, ::1] doubles
        cdef const float[:, :, ::1] singles
        # not the list, which somebody may change: pointers to its memory are kept
        maps = tuple(maps)
        for scores in maps:
            entry.doubles = NULL
            entry.singles = NULL
            if scores.dtype == np.float32:
                singles = scores
                entry.singles = &singles[0, 0, 0]
            else:
                doubles = scores
                entry.doubles = &doubles[0, 0, 0]
            entry.height, entry.width = scores.shape[1], scores.shape[2]
            self.map_of.push_back(entry)
        self.maps = maps
        self.truths = truths
        self.scale = scale
        self.loss = loss
        self.cutoff = cutoff
        self.truncated = loss == "squared"
        self.block_weight = block_weight
        self.parents = parents
        self.types_of = types_of
        self.means = means
        self.unit = unit
        self.n_parts, self.n_types = means.shape[0], means.shape[1]
        self.n_blocks = len(maps)
        self.n_weights = self.n_parts * (1 + 5 * self.n_types)
        self.max_statistics = self.n_weights
        self.max_code_length = 2 * self.n_parts
        self.max_support = 11 * self.n_parts
        self.exact = self.costly = self.lock_free = True
        height, width = max(x.shape[1] for x in maps), max(x.shape[2] for x in maps)
        self.oracle = PartsMaxSum(parents, types_of, self.n_types, height, width)
        self.node = np.zeros(self.n_parts * height * width)
        self.springs.resize(2 * self.n_parts * self.n_types)

    cdef Py_ssize_t code_length(self, Py_ssize_t i) noexcept nogil:
        return 2 * self.n_parts

    cdef bint knows(self, Py_ssize_t i, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t k, n_cells = self.map_of[i].height * self.map_of[i].width
        for k in range(self.n_parts):
            if not 0 <= code[k] < n_cells or not 0 <= code[self.n_parts + k] < self.types_of[k]:
                return False
        return True

    cdef int truth(self, Py_ssize_t i, int32_t* code) except -1 nogil:
        memcpy(code, &self.truths[i, 0], 2 * self.n_parts * sizeof(int32_t))
        return 0

    cdef void add_loss(
        self, double* node, Py_ssize_t height, Py_ssize_t width, Py_ssize_t row,
        Py_ssize_t column, double scale, double weight
    ) noexcept nogil:
        cdef double most = 1.0 if self.truncated else 0.0
        cdef Py_ssize_t y, x, inside = height + width
        if self.truncated:
            inside = <Py_ssize_t>min(self.cutoff * scale, <double>inside)
            for x in range(height * width):
                node[x] += weight
        # within the cutoff a little less
        for y in range(max(0, row - inside), min(height, row + inside + 1)):
            for x in range(max(0, column - inside), min(width, column + inside + 1)):
                node[y * width + x] += weight * (
                    self.part_loss((y - row) * (y - row) + (x - column) * (x - column), scale)
                    - most
                )

    cdef PartPotentials potentials(
        self, Py_ssize_t i, const double* theta, double loss_weight
    ) noexcept nogil:
        cdef PartPotentials p
        cdef const ScoreMaps* maps = &self.map_of[i]
        cdef Py_ssize_t n_cells = maps.height * maps.width, k, q, axis
        cdef const double* weights = theta + self.n_parts * (1 + self.n_types)
        cdef double* node = &self.node[0]
        cdef Spring* spring
        for k in range(self.n_parts):
            if maps.singles == NULL:
                for q in range(n_cells):
                    node[q] = theta[k] * maps.doubles[k * n_cells + q]
            else:
                for q in range(n_cells):
                    node[q] = theta[k] * maps.singles[k * n_cells + q]
            if loss_weight != 0.0:
                self.add_loss(
                    node, maps.height, maps.width, self.truths[i, k] // maps.width,
                    self.truths[i, k] % maps.width, self.scale[i], loss_weight / self.n_parts
                )
            node += n_cells
        for q in range(self.n_parts * self.n_types):
            for axis in range(2):
                spring = &self.springs[2 * q + 1 - axis]  # vertical, that of y, comes first
                spring.linear = weights[4 * q + 2 * axis] / self.unit
                spring.square = weights[4 * q + 2 * axis + 1] / (self.unit * self.unit)
                spring.mean = self.means[q // self.n_types, q % self.n_types, axis]
        p.height, p.width = maps.height, maps.width
        p.node = &self.node[0]
        p.bias = theta + self.n_parts
        p.springs = self.springs.data()
        return p

    cdef int argmax(
        self, Py_ssize_t i, const double* theta, double loss_weight, int32_t* code, double* loss
    ) except -1 nogil:
        cdef PartPotentials p = self.potentials(i, theta, loss_weight)
        cdef Py_ssize_t k
        cdef int32_t width = <int32_t>p.width
        cdef double dy, dx
        self.oracle.decode(&p, code, code + self.n_parts)
        loss[0] = 0.0
        for k in range(self.n_parts):
            dy = code[k] // width - self.truths[i, k] // width
            dx = code[k] % width - self.truths[i, k] % width
            loss[0] += self.part_loss(dy * dy + dx * dx, self.scale[i]) / self.n_parts
        return 0

    cdef Py_ssize_t spring_statistics(
        self, Py_ssize_t i, Py_ssize_t k, const int32_t* code, double sign, int32_t* index,
        double* value
    ) noexcept nogil:
        cdef int32_t width = <int32_t>self.map_of[i].width, part = code[k]
        cdef int32_t anchor = code[self.parents[k]]
        cdef Py_ssize_t kind = k * self.n_types + code[self.n_parts + k], axis
        cdef int32_t first = <int32_t>(self.n_parts * (1 + self.n_types) + 4 * kind)
        cdef double t
        index[0] = <int32_t>(self.n_parts + kind)
        value[0] = sign
        for axis in range(2):
            t = (part % width - anchor % width) if axis == 0 else part // width - anchor // width
            t = (t - self.means[k, code[self.n_parts + k], axis]) / self.unit
            index[1 + 2 * axis] = <int32_t>(first + 2 * axis)
            index[2 + 2 * axis] = <int32_t>(first + 2 * axis + 1)
            value[1 + 2 * axis] = -sign * t
            value[2 + 2 * axis] = -sign * t * t
        return 5

    cdef Py_ssize_t plane(
        self, Py_ssize_t i, const int32_t* code, int32_t* index, double* value
    ) except -1 nogil:
        cdef const int32_t* truth = &self.truths[i, 0]
        cdef Py_ssize_t k, up, n = 0
        for k in range(self.n_parts):
            if code[k] != truth[k]:
                index[n] = <int32_t>k
                value[n] = self.map_score(i, k, truth[k]) - self.map_score(i, k, code[k])
                n += 1
            up = self.parents[k]
            if up >= 0 and (
                code[k] != truth[k]
                or code[up] != truth[up]
                or code[self.n_parts + k] != truth[self.n_parts + k]
            ):
                n += self.spring_statistics(i, k, truth, 1.0, index + n, value + n)
                n += self.spring_statistics(i, k, code, -1.0, index + n, value + n)
        return n

    cpdef Problem fork(self):
        return self.with_truth(np.asarray(self.truths))

    def with_truth(self, truths):
        """Return the same problem with other cells and types as the truth.

        Parameters
        ----------
        truths : ndarray of shape (n_blocks, 2 * n_parts), int32
            As those of the problem.

        Returns
        -------
        problem : PartsProblem
            Shares all else with this one.
        """
        return PartsProblem(
            self.maps, truths, self.scale, self.loss, self.cutoff, self.block_weight,
            np.asarray(self.parents), np.asarray(self.types_of), np.asarray(self.means), self.unit
        )

    def fingerprint(self):
        """Return by what the same score maps, positions and losses are known again."""
        return Fingerprint(
            {
                "the model": "parts",
                "parents": tuple(self.parents),
                "the means of the springs": digest(np.asarray(self.means), "means"),
                "the unit of the springs": self.unit,
                "loss": (self.loss, self.cutoff if self.truncated else None),
            },
            {
                "X": sample_digests(self.maps, "X"),
                "y": sample_digests(list(np.array(self.truths)), "y"),
                "the unit of the loss of y": np.array(self.scale),
            },
        )


class PartsDecoder(Decoder):
    """Places of parts: a `Decoder` of a PartsProblem.

    Parameters
    ----------
    problem : PartsProblem
        The samples.
    n_jobs : int or None
        Number of threads.
    w : ndarray
        Weights, with spare ones behind them.
    """

    def __init__(self, problem, n_jobs, w):
        super().__init__(problem, n_jobs)
        self.w = w

    def best(self):
        """Return the best x and y of all parts, shape (n, n_parts, 2), int64."""
        shape = self.request.n_blocks, self.request.n_parts, 2
        return self.run(decode_best, (self.w, np.empty(shape, dtype=np.int64)))[1]

    def max_marginals(self):
        """Return the best score with each part at each cell, for each sample (n_parts, H, W)."""
        out = [np.empty(maps.shape) for maps in self.request.maps]
        return self.run(decode_marginals, (self.w, out))[1]


def decode_best(PartsProblem problem, Py_ssize_t start, Py_ssize_t stop, tuple given):
    """Write the places in the samples start .. stop - 1, given = (weights, places)."""
    cdef const double[::1] w = given[0]
    cdef int64_t[:, :, ::1] out = given[1]
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


def decode_marginals(PartsProblem problem, Py_ssize_t start, Py_ssize_t stop, tuple given):
    """Write the max-marginals of the samples start .. stop - 1, given = (weights, arrays)."""
    cdef const double[::1] w = given[0]
    cdef PartPotentials p
    cdef double[:, :, ::1] best
    cdef Py_ssize_t i
    for i in range(start, stop):
        best = given[1][i]
        with nogil:
            p = problem.potentials(i, &w[0], 0.0)
            problem.oracle.marginals(&p, &best[0, 0, 0])
