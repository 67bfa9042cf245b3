"""Merges of what shards found (see the .pxd)."""

import numpy as np

from libc.math cimport fabs
from libc.stdint cimport INT64_MAX

from sskit.core.direction cimport Direction
from sskit.solvers.sharded.shard cimport LoggingShard, PrivateShard

# A merge should gain this share of what the moves would gain one by one ...
cdef double ENOUGH_ON_LINE = 0.95
# ... and if all moves together gain less than this, the best share of them is searched for.
cdef double LEAST = 0.5
# The part of the weights that has all of them.
cdef int64_t[2] ALL = [0, INT64_MAX]

# Products of moves are shared out among the workers if there are more shards than this.
cdef Py_ssize_t MANY_SHARDS = 3
# Moves that are taken in whole leave nothing to settle, block by block: they are if that gains this
# share of the most that can be gained.
cdef double NEARLY = 0.98
# A merge should gain this share of what the moves would gain each by itself: with many short visits
# longer rounds, whose merges gain less, save more time than they cost passes.
cdef double ENOUGH_IN_BOX = 0.9
# Sweeps end when no share moves by more than this, or after so many.
cdef double STILL = 1e-9
cdef Py_ssize_t MOST_SWEEPS = 1000


cdef class Merge:
    """Base of the merges.

    Parameters
    ----------
    shards : list of Shard
        Who moves.
    regularizer : Regularizer
        Holds lam and the weights of the run.
    averager : Averager
        Follows the merges.
    """

    def __cinit__(self, list shards, Regularizer regularizer, Averager averager, *args):
        self.regularizer, self.averager, self.shards = regularizer, averager, shards
        self.n_shards = len(shards)
        for shard in shards:
            self.shard.push_back(<void*>shard)

    cdef void begin(self) noexcept nogil:
        pass

    cdef bint more(self) noexcept nogil:
        return False

    cdef int part(self, Py_ssize_t k) except -1 nogil:
        return 0

    cdef double take(self) noexcept nogil:
        return 0.0


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
        self.enough = ENOUGH_ON_LINE
        self.cuts, self.growth = cuts, np.zeros(self.n_shards)
        self.copies = (<LoggingShard>shards[0]).weights.moves
        self.scratch = [
            Direction((<LoggingShard>shard).problem.max_statistics) for shard in shards
        ]
        for direction in self.scratch:
            self.direction.push_back(<void*>direction)

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


cdef class BoxMerge(Merge):
    """The moves of all shards in one place.

    Parameters
    ----------
    shards : list of PrivateShard
        Who moves.
    regularizer : Regularizer
        Holds lam.
    averager : Averager
        Follows the merges.
    """

    def __cinit__(self):
        cdef Py_ssize_t n = self.n_shards
        self.enough = ENOUGH_IN_BOX
        self.gram, self.slope, self.share = np.zeros((n, n)), np.zeros(n), np.zeros(n)

    cdef void begin(self) noexcept nogil:
        self.filled = False

    cdef bint more(self) noexcept nogil:
        cdef Py_ssize_t k
        if self.filled:
            return False
        self.filled = True
        if self.n_shards > MANY_SHARDS:
            return True
        for k in range(self.n_shards):
            self.part(k)
        return False

    cdef int part(self, Py_ssize_t k) except -1 nogil:
        cdef Py_ssize_t j
        cdef double product
        for j in range(k + 1, self.n_shards):
            product = (<PrivateShard>self.shard[k]).weights.moves.dot(
                (<PrivateShard>self.shard[j]).weights.moves
            )
            self.gram[k, j] = product
            self.gram[j, k] = product
        return 0

    cdef double take(self) noexcept nogil:
        cdef Py_ssize_t n = self.n_shards, k
        cdef double lam = self.regularizer.lam, loss = 0.0, n_steps = 0.0, increase
        for k in range(n):
            self.gram[k, k] = (<PrivateShard>self.shard[k]).sqnorm
            self.slope[k] = (<PrivateShard>self.shard[k]).slope()
        increase = maximise_on_box(&self.slope[0], &self.gram[0, 0], n, lam, &self.share[0])
        increase = self.prefer_whole(increase, lam)
        for k in range(n):
            (<PrivateShard>self.shard[k]).gamma = self.share[k]
            n_steps += (<PrivateShard>self.shard[k]).averager.n_steps
            loss += self.share[k] * (<PrivateShard>self.shard[k]).averager.loss
        self.averager.merge(n_steps, loss)
        self.move_followers()
        return increase

    cdef void move_followers(self) noexcept nogil:
        cdef Py_ssize_t k, f = 0
        cdef double weight
        cdef double* target = self.averager.follower(0, &weight)
        while target != NULL:
            for k in range(self.n_shards):
                (<PrivateShard>self.shard[k]).weights.moves.add_to(target, weight * self.share[k])
            f += 1
            target = self.averager.follower(f, &weight)

    # take all moves in whole if that gains nearly as much; returns the gain
    cdef double prefer_whole(self, double gain, double lam) noexcept nogil:
        cdef Py_ssize_t k, j
        cdef double whole = 0.0
        for k in range(self.n_shards):
            whole += self.slope[k]
            for j in range(self.n_shards):
                whole -= 0.5 * lam * self.gram[k, j]
        if whole < NEARLY * gain:
            return gain
        for k in range(self.n_shards):
            self.share[k] = 1.0
        return whole


cdef double maximise_on_box(
    const double* slope, const double* gram, Py_ssize_t n, double lam, double* x
) noexcept nogil:
    cdef Py_ssize_t k, j, _
    cdef double rise, curvature, best, furthest, value = 0.0
    for k in range(n):
        x[k] = 0.0
    for _ in range(MOST_SWEEPS):
        furthest = 0.0
        for k in range(n):
            rise = slope[k]
            for j in range(n):
                rise -= lam * gram[k * n + j] * x[j]
            curvature = lam * gram[k * n + k]
            if curvature > 0.0:
                best = min(max(x[k] + rise / curvature, 0.0), 1.0)
            else:
                best = 1.0 if rise > 0.0 else x[k]
            value += (best - x[k]) * (rise - 0.5 * curvature * (best - x[k]))
            furthest = max(furthest, fabs(best - x[k]))
            x[k] = best
        if furthest <= STILL:
            break
    return value


def maximise(slope, gram, double lam):
    """Maximise a concave quadratic function over [0, 1]^n, as merges do.

    Parameters
    ----------
    slope : ndarray of shape (n,)
        Gradient at zero.
    gram : ndarray of shape (n, n)
        Positive semi-definite; times -lam the matrix of second derivatives.
    lam : float
        Positive.

    Returns
    -------
    x : ndarray of shape (n,)
        The maximiser.
    """
    cdef Py_ssize_t n = len(slope)
    cdef const double[::1] rise = np.array(slope, dtype=np.float64)
    cdef const double[:, ::1] table = np.array(gram, dtype=np.float64).reshape(n, n)
    cdef double[::1] x = np.zeros(n)
    if n:
        maximise_on_box(&rise[0], &table[0, 0], n, lam, &x[0])
    return np.asarray(x)
