"""The merge of shards with logs (see the .pxd)."""

import numpy as np

from libc.stdint cimport INT64_MAX
from libc.stdlib cimport calloc, free

from sskit.core.checks cimport check_equal
from sskit.core.direction cimport Direction
from sskit.solvers.sharded.logging_shard cimport LoggingShard

# A merge should gain this share of what the moves would gain one by one ...
cdef double ENOUGH = 0.95
# ... and if all moves together gain less than this, the best share of them is searched for.
cdef double LEAST = 0.5
# The part of the weights that has all of them.
cdef int64_t[2] ALL = [0, INT64_MAX]


cdef class LineMerge(Merge):
    """The moves of all shards on one line.

    Parameters
    ----------
    shards : list of LoggingShard
        Who moves.
    regularizer : Regularizer
        Holds lam and the weights, which are written.
    averager : Averager
        Follows the merges.
    cuts : ndarray of shape (n_shards + 1,), int64
        Where the parts of the weights begin, from the problem.
    """

    def __cinit__(self, list shards, regularizer, averager, const int64_t[::1] cuts):
        cdef Py_ssize_t k, n = self.n_shards
        check_equal(cuts.shape[0], n + 1, "the number of cuts")
        for k in range(n):
            if not isinstance(shards[k], LoggingShard):
                raise TypeError("all shards must have logs")
        self.enough = ENOUGH
        self.cuts, self.growth = cuts, np.zeros(n)
        self.copies = n > 0 and (<LoggingShard>shards[0]).weights.moves
        self.direction = <void**>calloc(max(n, 1), sizeof(void*))
        if self.direction == NULL:
            raise MemoryError(f"no memory for {n} shards")
        self.scratch = [
            Direction((<LoggingShard>shard).problem.max_statistics) for shard in shards
        ]
        for k in range(n):
            self.direction[k] = <void*>self.scratch[k]

    def __dealloc__(self):
        free(self.direction)

    cdef void begin(self) noexcept nogil:
        cdef Py_ssize_t k
        self.writings = 0
        self.n_followed = -1
        self.target = &self.regularizer.v[0]
        self.share = self.total = self.loss = self.n_steps = 0.0
        for k in range(self.n_shards):
            self.loss += (<LoggingShard>self.shard[k]).averager.loss
            self.n_steps += (<LoggingShard>self.shard[k]).averager.n_steps

    cdef double gain(self) noexcept nogil:
        return self.share * self.loss - 0.5 * self.regularizer.lam * self.total

    cdef double written(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double growth = 0.0, lam = self.regularizer.lam
        if not self.copies:
            for k in range(self.n_shards):
                growth += self.growth[k]
            return growth
        if self.writings == 1:
            # that of its own moves is what its visits know
            growth = (<LoggingShard>self.shard[0]).averager.loss
            growth = 2.0 / lam * (growth - (<LoggingShard>self.shard[0]).gain())
        return growth + self.growth[0]

    cdef bint more(self) noexcept nogil:
        cdef double weight
        if self.n_followed < 0:
            if self.search():
                return True
            self.averager.merge(self.n_steps, self.share * self.loss)
        self.n_followed += 1
        self.target = self.averager.follower(self.n_followed, &weight)
        self.factor = weight * self.share
        return self.target != NULL

    cdef bint search(self) noexcept nogil:
        cdef Py_ssize_t k
        cdef double alone = 0.0, square, inner, best, lam = self.regularizer.lam
        if self.writings:
            self.share += self.factor
            self.total += self.written()
        if self.writings == 0:
            self.factor = 1.0
        elif self.writings == 1:
            for k in range(self.n_shards):
                alone += (<LoggingShard>self.shard[k]).gain()
            if self.gain() >= LEAST * alone:
                return False
            self.whole = self.total
            self.factor = -0.5
        elif self.writings == 2:
            # of the growth a x^2 + 2 b x
            square = 2.0 * (self.whole - 2.0 * self.total)
            inner = 0.5 * (self.whole - square)
            best = self.loss / lam - inner
            best = min(max(best / square, 0.0), 1.0) if square > 0.0 else 0.0
            self.factor = best - 0.5
            if self.factor == 0.0:
                return False
        else:
            return False
        self.writings += 1
        return True

    cdef int part(self, Py_ssize_t k) except -1 nogil:
        cdef Py_ssize_t j
        cdef const int64_t* part = &self.cuts[k]
        cdef double* target = self.target
        cdef bint follows = self.copies and self.n_followed < 0
        if follows:
            part, target = ALL, &(<LoggingShard>self.shard[k]).weights.v[0]
        self.growth[k] = 0.0
        for j in range(self.n_shards):
            # its own moves it has made
            if j == k and follows and self.writings == 1:
                continue
            self.growth[k] += (<LoggingShard>self.shard[j]).write(
                (<LoggingShard>self.shard[k]).problem, <Direction>self.direction[k], self.factor,
                part, target
            )
        return 0

    cdef double take(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_shards):
            (<LoggingShard>self.shard[k]).gamma = self.share
        return self.gain()
