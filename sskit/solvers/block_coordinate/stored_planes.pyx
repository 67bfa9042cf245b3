"""The stored planes of a block: as sparse vectors, or by their codes alone.

Both kinds add up the same terms in the same order, but for sparse vectors that are kept: these have
one entry for what a long labelling has repeatedly.
"""

import numpy as np

from libc.stdint cimport int32_t
from libcpp.vector cimport vector

from sskit.core.coded_planes cimport CodedPlanes
from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualBlock, DualState, max_entries
from sskit.core.problem cimport Problem

cdef extern from "gathered_planes.hpp" namespace "sskit" nogil:
    cdef cppclass GatheredPlanes:
        vector[int32_t] index, used
        vector[double] value
        vector[Py_ssize_t] first
        int32_t version
        Py_ssize_t n_planes()
        void begin(int32_t version)
        void append(
            const int32_t* places, const double* dense, Py_ssize_t n, Py_ssize_t n_statistics
        ) except +
        size_t memory()

# Sparse vectors of planes whose codes are at least so long are kept from visit to visit: computing
# hundreds of them again takes longer than the oracle. Those of short codes are computed faster than
# they are read ..
cdef Py_ssize_t LONG_CODE = 256
# .. and none are kept beyond this number of bytes.
cdef size_t MOST_GATHERED = 2**28


cdef class StoredPlanes:
    """Base of both kinds, which have all methods but gather() of their own.

    Parameters
    ----------
    problem : Problem
        A fork for the calling thread.
    dual : DualState
        Holds the planes.
    """

    def __cinit__(self, Problem problem, DualState dual, *args):
        self.problem, self.dual = problem, dual
        self.index_room.resize(max_entries(problem))
        self.value_room.resize(max_entries(problem))

    cdef int gather(self, Py_ssize_t i, Direction scratch) except -1 nogil:
        self.i, self.n = i, self.dual.blocks[i].n_planes
        return 0

    cdef int find_potentials(self, const double* w, double* theta) except -1 nogil:
        return 0

    cdef int subtract_scores(
        self, const double* theta, bint known, double* score
    ) except -1 nogil:
        return 0

    cdef int add(self, Py_ssize_t p, double scale, Direction delta) except -1 nogil:
        return 0

    cdef int inner_products(self, Direction delta, Py_ssize_t n, double* out) except -1 nogil:
        return 0


cdef class SparsePlanes(StoredPlanes):
    """Planes as sparse vectors, one after the other."""

    # in the room of this object, or in `gathered`
    cdef const int32_t* index
    cdef const double* value
    cdef const Py_ssize_t* first     # (n + 1,)
    # indices of all, each at least once
    cdef const int32_t* used
    cdef Py_ssize_t n_used
    cdef vector[Py_ssize_t] first_room
    cdef vector[GatheredPlanes] gathered
    cdef vector[Py_ssize_t] place    # (n_blocks,) place in `gathered`, counted from one; 0: none
    cdef size_t n_gathered           # bytes

    cdef int gather(self, Py_ssize_t i, Direction scratch) except -1 nogil:
        StoredPlanes.gather(self, i, scratch)
        if self.dual.code_length[i] >= LONG_CODE and self.n_gathered < MOST_GATHERED:
            return self.gather_rest(i, scratch)
        return self.gather_all()

    cdef int gather_all(self) except -1 nogil:
        cdef size_t n = self.n, size, p
        if self.first_room.size() < n + 1:
            self.first_room.resize(2 * n + 1)
        self.first_room[0] = 0
        for p in range(n):
            size = self.first_room[p] + max_entries(self.problem)
            if size > self.index_room.size():
                self.index_room.resize(2 * size)
                self.value_room.resize(2 * size)
            self.first_room[p + 1] = self.first_room[p] + self.dual.plane(
                self.problem, self.i, p, self.index_room.data() + self.first_room[p],
                self.value_room.data() + self.first_room[p]
            )
        self.index, self.value = self.index_room.data(), self.value_room.data()
        self.first, self.used = self.first_room.data(), self.index
        self.n_used = self.first[n]
        return 0

    # the planes that are new since the last visit
    cdef int gather_rest(self, Py_ssize_t i, Direction scratch) except -1 nogil:
        cdef GatheredPlanes* planes
        cdef Py_ssize_t p, n
        if self.place.size() == 0:
            self.place.resize(self.problem.n_blocks)
        if self.place[i] == 0:
            self.gathered.resize(self.gathered.size() + 1)
            self.place[i] = self.gathered.size()
        planes = &self.gathered[self.place[i] - 1]
        self.n_gathered -= planes.memory()
        if planes.version != self.dual.blocks[i].version:
            planes.begin(self.dual.blocks[i].version)
        for p in range(planes.n_planes(), self.n):
            n = self.dual.plane(
                self.problem, i, p, self.index_room.data(), self.value_room.data()
            )
            # a pair of labels that a long labelling has repeatedly becomes one entry
            scratch.add(self.index_room.data(), self.value_room.data(), n, 1.0)
            planes.append(
                &scratch.index[0], &scratch.value[0], scratch.n, self.problem.max_statistics
            )
            scratch.clear()
        self.n_gathered += planes.memory()
        self.index, self.value = planes.index.data(), planes.value.data()
        self.first, self.used = planes.first.data(), planes.used.data()
        self.n_used = planes.used.size()
        if self.n_gathered >= MOST_GATHERED:
            return self.forget()
        return 0

    # memory is used up: planes are no longer gathered from now on
    cdef int forget(self) except -1 nogil:
        self.gathered.clear()
        self.gathered.shrink_to_fit()
        return self.gather_all()

    cdef int find_potentials(self, const double* w, double* theta) except -1 nogil:
        return self.problem.scores_at(self.i, w, self.used, self.n_used, theta)

    cdef int subtract_scores(
        self, const double* theta, bint known, double* score
    ) except -1 nogil:
        cdef Py_ssize_t p, e
        cdef double rest
        for p in range(self.n):
            rest = score[p]
            for e in range(self.first[p], self.first[p + 1]):
                rest -= self.value[e] * theta[self.index[e]]
            score[p] = rest
        return 0

    cdef int add(self, Py_ssize_t p, double scale, Direction delta) except -1 nogil:
        delta.add(
            self.index + self.first[p], self.value + self.first[p],
            self.first[p + 1] - self.first[p], scale
        )
        return 0

    cdef int inner_products(self, Direction delta, Py_ssize_t n, double* out) except -1 nogil:
        return self.problem.inner_products(
            self.i, delta, self.index, self.value, self.first, n, out
        )


cdef class PlanesByCode(StoredPlanes):
    """Planes by their codes alone; plane 0, a mix, is in the dual point.

    Parameters
    ----------
    problem, dual : object
        As for both kinds.
    coded : CodedPlanes
        Of the problem.
    """

    cdef CodedPlanes coded
    cdef const int32_t* codes        # of all planes but the first

    def __cinit__(self, Problem problem, DualState dual, CodedPlanes coded):
        self.coded = coded

    cdef int gather(self, Py_ssize_t i, Direction scratch) except -1 nogil:
        StoredPlanes.gather(self, i, scratch)
        self.codes = self.dual.blocks[i].code + self.dual.code_length[i]
        return 0

    cdef int find_potentials(self, const double* w, double* theta) except -1 nogil:
        cdef DualBlock* block = &self.dual.blocks[self.i]
        if block.n > 0:
            self.problem.scores_at(self.i, w, block.index, block.n, theta)
        return self.coded.take_scores(self.i, w, NULL, self.codes, self.n - 1)

    cdef int subtract_scores(
        self, const double* theta, bint known, double* score
    ) except -1 nogil:
        cdef DualBlock* block = &self.dual.blocks[self.i]
        cdef Py_ssize_t e
        cdef double rest = score[0]
        if known:
            self.coded.take_scores(self.i, NULL, theta, self.codes, self.n - 1)
        for e in range(block.n):
            rest -= block.value[e] * theta[block.index[e]]
        score[0] = rest
        self.coded.subtract(self.i, self.codes, self.n - 1, score + 1)
        return 0

    cdef int add(self, Py_ssize_t p, double scale, Direction delta) except -1 nogil:
        cdef Py_ssize_t n = self.dual.plane(
            self.problem, self.i, p, self.index_room.data(), self.value_room.data()
        )
        delta.add(self.index_room.data(), self.value_room.data(), n, scale)
        return 0

    cdef int inner_products(self, Direction delta, Py_ssize_t n, double* out) except -1 nogil:
        cdef DualBlock* block = &self.dual.blocks[self.i]
        cdef Py_ssize_t r
        cdef Py_ssize_t[2] ends = [0, block.n]
        for r in range(n):
            out[r] = 0.0
        if block.n > 0:
            self.problem.inner_products(
                self.i, delta, block.index, block.value, ends, 1, out
            )
        if n > 1:
            self.coded.take_products(self.i, delta, self.codes, n - 1)
            self.coded.subtract(self.i, self.codes, n - 1, out + 1)
            for r in range(1, n):
                out[r] = -out[r]
        return 0


cdef StoredPlanes stored_planes(Problem problem, DualState dual):
    coded, lengths = problem.coded_planes(), np.asarray(dual.code_length, dtype=np.float64)
    # the length of the block that a label is in, on average: a long block among many short ones is
    # no reason to keep vectors of all
    if coded is None or np.dot(lengths, lengths) >= LONG_CODE * lengths.sum():
        return SparsePlanes(problem, dual)
    return PlanesByCode(problem, dual, coded)
