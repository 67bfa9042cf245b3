"""Rankings of sets of rows, scored by pairs."""

import numpy as np

from libc.math cimport copysign, fabs, isnan, signbit
from libc.stdint cimport int32_t
from libc.string cimport memset

from sskit.core.capabilities cimport NO_STATE, StateBlocks
from sskit.core.direction cimport Direction
from sskit.models.feature_map cimport FeatureMap
from sskit.models.structure cimport Block, NodeLoss, Structure
from sskit.oracles.rankings.swapped_pairs cimport SwappedPairs

# Sets of so few rows are sorted as fast as they are scored. For sets of two rows, passes in random
# order without steps between stored planes take half the time.
cdef enum:
    FEW_ROWS = 8


cdef class RankingStructure(Structure):
    """Rankings of sets of rows by their grades, which are the truth.

    The code of a plane is by how much each row is wrong, see `SwappedPairs`.

    Parameters
    ----------
    map : FeatureMap
        Of one column.
    grades : ndarray of shape (n_rows,), int32
        From 0 to less than the number of rows of their set.
    """

    cdef FeatureMap map
    cdef const int32_t[::1] grades
    cdef SwappedPairs pairs
    cdef double fraction                        # of the pairs in the wrong order, from `best`
    cdef StateBlocks states                     # of pairs, once they have been asked for

    def __cinit__(self, FeatureMap map, grades):
        self.map, self.grades, self.costly = map, grades, map.longest > FEW_ROWS
        self.pairs = SwappedPairs(map.longest)
        self.max_code_length = self.max_support = map.longest

    cdef bint knows(self, const Block* b, const int32_t* code) noexcept nogil:
        return self.pairs.knows(b.n, &self.grades[b.first], code)

    cdef void truth_code(self, const Block* b, const int32_t* truth, int32_t* code) noexcept nogil:
        memset(code, 0, b.n * sizeof(int32_t))

    cdef int best(
        self, const Block* b, NodeLoss loss, double weight, int32_t* code
    ) except -1 nogil:
        self.fraction = self.pairs.find(
            b.n, &loss.truth[b.first], b.theta, self.map.stride, weight, code
        )
        return 0

    cdef double loss_of(self, const Block* b, NodeLoss loss, const int32_t* code) noexcept nogil:
        # of the code that `best` has just written; with many grades the code does not determine it
        return self.fraction

    cdef Py_ssize_t plane(
        self, const Block* b, const int32_t* truth, const int32_t* code, int32_t* index,
        double* value
    ) except -1 nogil:
        return self.pairs.coefficients(b.n, truth, code, self.map.stride, index, value)

    def state_blocks(self, problem):
        """Return which row of a pair is first, as its state; None if a set has more rows."""
        if self.states is None and self.map.longest <= 2:
            self.states = PairStates(self.map, self.grades)
        return self.states


cdef class PairStates(StateBlocks):
    """Sets of at most two rows: the state is the number of the row that is first.

    Parameters
    ----------
    map : FeatureMap
        Of one column, prepared.
    grades : ndarray of shape (n_rows,), int32
        As for `RankingStructure`.
    """

    # half the squared norm of the difference of the rows of a set, negative if the second row has
    # the higher grade; NaN: there is no pair. A single number needs one read of memory
    cdef double[::1] half_square

    def __cinit__(self, FeatureMap map not None, const int32_t[::1] grades):
        cdef Py_ssize_t i, t
        cdef Direction difference = Direction(map.max_statistics)
        cdef int32_t[2] rows = [0, 1]
        cdef double[2] signs = [1.0, -1.0]
        self.n_states, self.half_square = 2, np.full(map.n_blocks, np.nan)
        with nogil:
            for i in range(map.n_blocks):
                t = map.first_row(i)
                if map.count(i) == 2 and grades[t] != grades[t + 1]:
                    difference.add(rows, signs, 2, 1.0)
                    self.half_square[i] = copysign(
                        0.5 * map.sqnorm(i, difference), grades[t] - grades[t + 1]
                    )
                    difference.clear()

    cdef Py_ssize_t truth(self, Py_ssize_t i) noexcept nogil:
        return signbit(self.half_square[i]) != 0 and not isnan(self.half_square[i])

    cdef double curvature(self, Py_ssize_t i) noexcept nogil:
        return fabs(self.half_square[i])

    cdef void losses(self, Py_ssize_t i, double* out) noexcept nogil:
        cdef Py_ssize_t truth = self.truth(i)
        out[truth] = 0.0
        out[1 - truth] = NO_STATE if isnan(self.half_square[i]) else 1.0
