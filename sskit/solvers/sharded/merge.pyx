"""The merge of what shards found (see the .pxd)."""

import numpy as np

from libc.math cimport fabs
from libc.stdlib cimport calloc, free

# Moves that are taken in whole leave nothing to settle, block by block: they are if that gains this
# share of the most that can be gained.
cdef double NEARLY = 0.98
# Sweeps end when no share moves by more than this, or after so many.
cdef double STILL = 1e-9
cdef Py_ssize_t MOST_SWEEPS = 1000


cdef class Merge:
    """The moves of all shards in one place.

    Parameters
    ----------
    shards : list of Shard
        Who moves.
    regularizer : Regularizer
        Holds lam.
    averager : Averager
        Follows the merges.
    """

    def __cinit__(self, list shards, Regularizer regularizer, Averager averager):
        cdef Py_ssize_t n = len(shards), k
        self.regularizer, self.averager, self.shards = regularizer, averager, shards
        self.n_shards = n
        self.shard = <void**>calloc(max(n, 1), sizeof(void*))
        if self.shard == NULL:
            raise MemoryError(f"no memory for {n} shards")
        for k in range(n):
            self.shard[k] = <void*>(<Shard?>shards[k])
        self.gram, self.slope, self.share = np.zeros((n, n)), np.zeros(n), np.zeros(n)

    def __dealloc__(self):
        free(self.shard)

    cdef void fill_products(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t j
        cdef double product
        for j in range(k + 1, self.n_shards):
            product = (<Shard>self.shard[k]).regularizer.moves.dot(
                (<Shard>self.shard[j]).regularizer.moves
            )
            self.gram[k, j] = product
            self.gram[j, k] = product

    cdef double take(self) noexcept nogil:
        cdef Py_ssize_t n = self.n_shards, k
        cdef double lam = self.regularizer.lam, loss = 0.0, n_steps = 0.0, increase
        for k in range(n):
            self.gram[k, k] = (<Shard>self.shard[k]).sqnorm
            self.slope[k] = (
                (<Shard>self.shard[k]).averager.loss - lam * (<Shard>self.shard[k]).inner
            )
        increase = maximise_on_box(&self.slope[0], &self.gram[0, 0], n, lam, &self.share[0])
        increase = self.prefer_whole(increase, lam)
        for k in range(n):
            (<Shard>self.shard[k]).gamma = self.share[k]
            n_steps += (<Shard>self.shard[k]).averager.n_steps
            loss += self.share[k] * (<Shard>self.shard[k]).averager.loss
        self.averager.begin_merge(n_steps, loss)
        for k in range(n):
            self.averager.merge(&(<Shard>self.shard[k]).regularizer.moves, self.share[k])
        return increase

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
