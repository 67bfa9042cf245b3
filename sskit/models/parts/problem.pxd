from libc.math cimport sqrt
from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.models.weight_space cimport WeightSpaceProblem
from sskit.oracles.parts.max_sum cimport PartPotentials, PartsMaxSum, Spring


# Score maps of one block, (n_parts, height, width), in one of the two types
cdef struct ScoreMaps:
    const double* doubles
    const float* singles
    Py_ssize_t height
    Py_ssize_t width


cdef class PartsProblem(WeightSpaceProblem):
    """Parts on a tree of springs: a statistic for each weight.

    The labellings are too many and the weights too few for anything else. Weights, flat: scores
    (n_parts,), types (n_parts, n_types), springs (n_parts, n_types, 2, 2): along x and along y
    the costs of the displacement and of its square, in units of `unit` cells. phi(x, y) holds
    the scores of the parts at their cells, ones for their types, and minus the displacements and
    their squares. What belongs to springs of roots is zero.

    Code: the cells of the parts, by rows, then the types of their springs, 0 for roots.
    """

    cdef readonly Py_ssize_t n_parts
    cdef readonly Py_ssize_t n_types
    cdef readonly double unit
    cdef readonly str loss                   # "squared" or "distance"
    cdef readonly double cutoff              # in scales, from which on "squared" is one
    cdef bint truncated
    cdef readonly object maps                # keeps the memory of the next alive
    cdef vector[ScoreMaps] map_of            # (n_blocks,)
    cdef const int32_t[:, ::1] truths        # (n_blocks, 2 n_parts) code
    cdef const double[::1] scale             # (n_blocks,) unit of distances, in cells
    cdef const int32_t[::1] parents          # (n_parts,) -1: a root
    cdef const int32_t[::1] types_of         # (n_parts,) numbers of types
    cdef const double[:, :, ::1] means       # (n_parts, n_types, 2) displacement in x and in y
    cdef PartsMaxSum oracle
    # scratch
    cdef double[::1] node                    # (n_parts * cells of the largest map,)
    cdef vector[Spring] springs              # (n_parts * n_types * 2,)

    # loss of a part by its squared distance in cells and the unit of distances
    cdef inline double part_loss(self, double sqdistance, double scale) noexcept nogil:
        if not self.truncated:
            return sqrt(sqdistance) / scale
        if sqdistance == 0.0:
            return 0.0                       # also where the square of a tiny cutoff is zero
        return min(1.0, sqdistance / (self.cutoff * self.cutoff * scale * scale))

    # node (height, width) += weight * loss, for the true cell (row, column)
    cdef void add_loss(
        self, double* node, Py_ssize_t height, Py_ssize_t width, Py_ssize_t row,
        Py_ssize_t column, double scale, double weight
    ) noexcept nogil

    # potentials of a block, those of its nodes with losses
    cdef PartPotentials potentials(
        self, Py_ssize_t i, const double* theta, double loss_weight
    ) noexcept nogil
    cdef inline double map_score(self, Py_ssize_t i, Py_ssize_t k, int32_t cell) noexcept nogil:
        cdef const ScoreMaps* maps = &self.map_of[i]
        cdef Py_ssize_t place = k * maps.height * maps.width + cell
        return maps.doubles[place] if maps.singles == NULL else maps.singles[place]
    # the statistics of the spring of part k in a labelling, times sign; returns their number
    cdef Py_ssize_t spring_statistics(
        self, Py_ssize_t i, Py_ssize_t k, const int32_t* code, double sign, int32_t* index,
        double* value
    ) noexcept nogil
