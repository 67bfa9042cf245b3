"""Pictorial structures: parts on a tree of springs."""

import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.models.object_hashes import digest, sample_digests

from sskit.models.structure cimport Block, NodeLoss, Structure
from sskit.oracles.parts.max_sum cimport PartPotentials, PartsMaxSum, Spring


# Score maps of one block, (n_parts, height, width), in one of the two types
cdef struct ScoreMaps:
    const double* doubles
    const float* singles
    Py_ssize_t height
    Py_ssize_t width


cdef inline double score_at(const ScoreMaps* maps, Py_ssize_t place) noexcept nogil:
    return maps.singles[place] if maps.doubles == NULL else maps.doubles[place]


cdef class PartsStructure(Structure):
    """Places of parts on a tree of springs, and types of their springs.

    The labellings are too many and the weights too few for other statistics than the joint
    features themselves: the `FeatureMap` has a head of one row and no nodes. Weights: scores
    (n_parts,), types (n_parts, n_types), springs (n_parts, n_types, 2, 2): along x and along y
    the costs of the displacement and of its square, in units of `unit` cells. phi(x, y) holds
    the scores of the parts at their cells, ones for their types, and minus the displacements and
    their squares. What belongs to springs of roots is zero.

    Truth and code: the cells of the parts, by rows, then the types of their springs, 0 for roots.

    Parameters
    ----------
    maps : sequence of n_blocks ndarrays of shape (n_parts, H_i, W_i), float64 or float32
        Finite scores of the parts at the cells, in C order.
    scale : ndarray of shape (n_blocks,), float64
        Unit of the distances of the loss, in cells.
    loss : {"squared", "distance"}
        Loss of a part; that of a labelling is the mean over the parts.
    cutoff : float
        Distance, in scales, from which on the loss "squared" is one.
    parents : ndarray of shape (n_parts,), int32
        The parent of each part, -1 for roots; a forest.
    types_of : ndarray of shape (n_parts,), int32
        Number of types of springs of each part.
    means : ndarray of shape (n_parts, n_types, 2), float64
        Where the springs rest, x and y from the parent, in cells.
    unit : float
        Unit of the displacements in the features, in cells.
    """

    cdef readonly tuple maps                 # keeps the memory of `map_of` alive
    cdef Py_ssize_t n_parts, n_types
    cdef double unit, cutoff
    cdef bint truncated
    cdef vector[ScoreMaps] map_of            # (n_blocks,)
    cdef const double[::1] scale
    cdef const int32_t[::1] parents, types_of
    cdef const double[:, :, ::1] means
    cdef PartsMaxSum oracle
    # scratch
    cdef double[::1] node                    # (n_parts * cells of the largest map,)
    cdef vector[Spring] springs              # (n_parts * n_types * 2,)

    def __cinit__(self, maps, scale, loss, double cutoff, parents, types_of, means, double unit):
        cdef const double[:, :, ::1] doubles
        cdef const float[:, :, ::1] singles
        # not the list, which the caller may change
        self.maps = tuple(maps)
        for scores in self.maps:
            height, width = scores.shape[1:]
            if scores.dtype == np.float32:
                singles = scores
                self.map_of.push_back(ScoreMaps(NULL, &singles[0, 0, 0], height, width))
            else:
                doubles = scores
                self.map_of.push_back(ScoreMaps(&doubles[0, 0, 0], NULL, height, width))
        self.scale, self.cutoff, self.truncated = scale, cutoff, loss == "squared"
        self.parents, self.types_of, self.means, self.unit = parents, types_of, means, unit
        self.n_parts, self.n_types = means.shape[:2]
        self.n_labels = self.max_code_length = 2 * self.n_parts
        self.max_support = 11 * self.n_parts
        self.costly = True
        self.node = np.zeros(max(x.size for x in maps))
        self.springs.resize(2 * self.n_parts * self.n_types)

    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        cdef Py_ssize_t k, n_cells = self.map_of[b.i].height * self.map_of[b.i].width
        for k in range(self.n_parts):
            if not 0 <= code[k] < n_cells or not 0 <= code[self.n_parts + k] < self.types_of[k]:
                return False
        return True

    # loss of a part by its squared distance in cells and the unit of distances
    cdef double part_loss(self, double sqdistance, double scale) noexcept nogil:
        if not self.truncated:
            return sqrt(sqdistance) / scale
        if sqdistance == 0.0:
            return 0.0                       # also where the square of a tiny cutoff is zero
        return min(1.0, sqdistance / (self.cutoff * self.cutoff * scale * scale))

    # node (height, width) += weight * loss, for the true cell
    cdef void add_loss(
        self, const ScoreMaps* maps, double* node, Py_ssize_t cell, double scale, double weight
    ) noexcept nogil:
        cdef Py_ssize_t dy, dx
        for dy in range(-(cell // maps.width), maps.height - cell // maps.width):
            for dx in range(-(cell % maps.width), maps.width - cell % maps.width):
                node[0] += weight * self.part_loss(dy * dy + dx * dx, scale)
                node += 1

    # potentials of a block, those of its nodes with losses of labels other than the truth
    cdef PartPotentials potentials(
        self, const Block* b, const int32_t* truth, double weight
    ) noexcept nogil:
        cdef const ScoreMaps* maps = &self.map_of[b.i]
        cdef Py_ssize_t n_cells = maps.height * maps.width, k, q, axis
        cdef const double* theta = b.theta
        cdef const double* weights = theta + self.n_parts * (1 + self.n_types)
        cdef double* node = &self.node[0]
        cdef Spring* spring
        for k in range(self.n_parts):
            for q in range(n_cells):
                node[q] = theta[k] * score_at(maps, k * n_cells + q)
            if weight != 0.0:
                self.add_loss(maps, node, truth[k], self.scale[b.i], weight / self.n_parts)
            node += n_cells
        for q in range(self.n_parts * self.n_types):
            for axis in range(2):
                spring = &self.springs[2 * q + 1 - axis]  # vertical, that of y, comes first
                spring.linear = weights[4 * q + 2 * axis] / self.unit
                spring.square = weights[4 * q + 2 * axis + 1] / (self.unit * self.unit)
                spring.mean = self.means[q // self.n_types, q % self.n_types, axis]
        return PartPotentials(
            self.n_parts, self.n_types, maps.height, maps.width, &self.parents[0],
            &self.types_of[0], &self.node[0], theta + self.n_parts, self.springs.data()
        )

    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        cdef const int32_t* truth = &loss.truth[b.first] if weight != 0.0 else NULL
        self.oracle.decode(self.potentials(b, truth, weight), code, code + self.n_parts)
        return 0

    cdef int max_marginals(self, const Block* b, double* out) except -1 nogil:
        self.oracle.marginals(self.potentials(b, NULL, 0.0), out)
        return 0

    cdef double loss_of(self, const Block* b, NodeLoss loss, const int32_t* code) noexcept nogil:
        cdef const int32_t* truth = &loss.truth[b.first]
        cdef int32_t width = <int32_t>self.map_of[b.i].width
        cdef double total = 0.0, dy, dx
        cdef Py_ssize_t k
        for k in range(self.n_parts):
            dy = code[k] // width - truth[k] // width
            dx = code[k] % width - truth[k] % width
            total += self.part_loss(dy * dy + dx * dx, self.scale[b.i]) / self.n_parts
        return total

    # the statistics of the spring of part k in a labelling, times sign; returns their number
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
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil:
        cdef const ScoreMaps* maps = &self.map_of[b.i]
        cdef Py_ssize_t k, up, n = 0, n_cells = maps.height * maps.width
        for k in range(self.n_parts):
            if code[k] != truth[k]:
                index[n] = <int32_t>k
                value[n] = score_at(maps, k * n_cells + truth[k])
                value[n] -= score_at(maps, k * n_cells + code[k])
                n += 1
            up = self.parents[k]
            if up >= 0 and (
                code[k] != truth[k]
                or code[up] != truth[up]
                or code[self.n_parts + k] != truth[self.n_parts + k]
            ):
                n += self.spring_statistics(b.i, k, truth, 1.0, index + n, value + n)
                n += self.spring_statistics(b.i, k, code, -1.0, index + n, value + n)
        return n

    def digest(self):
        """Return what distinguishes structures."""
        return {
            "the model": "parts",
            "parents": tuple(self.parents),
            "the means of the springs": digest(np.asarray(self.means), "means"),
            "the unit of the springs": self.unit,
            "loss": self.cutoff if self.truncated else None,
        }

    def digests(self):
        """Return {public name: digests (n_blocks,)} of the score maps."""
        scale = np.array(self.scale)
        return {"X": sample_digests(self.maps, "X"), "the unit of the loss of y": scale}
