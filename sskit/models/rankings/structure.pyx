"""Rankings of sets of rows, scored by pairs."""

from libc.stdint cimport int32_t
from libc.string cimport memset

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
