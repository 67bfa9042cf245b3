"""The merge of shards with weights of their own (see the .pxd)."""

import numpy as np

from libc.math cimport fabs

from sskit.solvers.sharded.private_shard cimport PrivateShard

# Products of moves are shared out among the workers if there are more shards than this.
cdef Py_ssize_t MANY_SHARDS = 3
# Moves that are taken in whole leave nothing to settle, block by block: they are if that gains this
# share of the most that can be gained.
cdef double NEARLY = 0.98
# A merge should gain this share of what the moves would gain each by itself: with many short visits
# longer rounds, whose merges gain less, save more time than they cost passes.
cdef double ENOUGH = 0.9
# Sweeps end when no share moves by more than this, or after so many.
cdef double STILL = 1e-9
cdef Py_ssize_t MOST_SWEEPS = 1000


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
        cdef Py_ssize_t n = self.n_shards, k
        self.enough = ENOUGH
        for k in range(n):
            if not isinstance(self.shards[k], PrivateShard):
                raise TypeError("all shards must have weights of their own")
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
