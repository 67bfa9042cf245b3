"""A shard with weights of its own (see the .pxd)."""

import numpy as np

from libc.string cimport memcpy

from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport LANES
from sskit.core.moves cimport clipped
from sskit.core.regularizer cimport BoxRegularizer


cdef class PrivateRegularizer(Regularizer):
    """The weights of a shard.

    Parameters
    ----------
    lam : float
        Regularisation strength.
    n_weights : int
        Number of weights d.
    covector : callable
        As of every regularizer.
    base : Regularizer
        Whose weights these are between rounds.
    own : bool
        Whether there is a copy; else the weights of the base move during a round.
    """

    def __cinit__(self, lam, n_weights, covector, Regularizer base, bint own):
        check_equal(self.n_weights, base.n_weights, "the number of weights")
        self.base = base
        self.base_v, self.base_w = &base.v[0], &base.w[0]
        self.bounded = base.bounded
        if not own:
            self.v, self.w = base.v, base.w
        elif base.bounded:
            self.w = np.zeros(self.n_weights + LANES)
        if base.bounded and self.n_weights:
            self.lower = &(<BoxRegularizer>base).lower[0]
            self.upper = &(<BoxRegularizer>base).upper[0]
        self.moves.follow(&self.v[0], self.n_weights)

    cdef int move(
        self, Problem problem, Py_ssize_t i, Direction delta, double step
    ) except -1 nogil:
        self.moves.keep()
        problem.scatter(i, delta, step, &self.v[0])
        if self.bounded:
            problem.clip(i, delta, &self.v[0], self.lower, self.upper, &self.w[0])
        return 0

    cdef void clip_all(self) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(self.n_weights):
            self.w[j] = clipped(self.v[j], self.lower[j], self.upper[j])


cdef class PrivateShard(Shard):
    """A shard whose visits see each other.

    Parameters
    ----------
    problem : Problem
        A fork for this shard alone.
    dual : DualState
        The dual point of the run.
    regularizer : Regularizer
        Holds lam and the weights of the run.
    own : bool
        Whether the shard has a copy of the weights, as all but one of a run must.
    """

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer, bint own):
        self.weights = PrivateRegularizer(
            regularizer.lam, regularizer.n_weights, regularizer.covector, regularizer, own
        )
        self.regularizer = self.weights

    cdef void begin_round(self) noexcept nogil:
        Shard.begin_round(self)
        self.inner = self.sqnorm = 0.0
        self.weights.moves.turn()

    cdef void renew(self) noexcept nogil:
        cdef size_t n_bytes = (self.weights.n_weights + LANES) * sizeof(double)
        self.weights.moves.clear()
        if &self.weights.v[0] == self.weights.base_v:
            return
        memcpy(&self.weights.v[0], self.weights.base_v, n_bytes)
        if self.weights.bounded:
            memcpy(&self.weights.w[0], self.weights.base_w, n_bytes)

    cdef int catch_up(self, void** shards, Py_ssize_t n_shards) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(n_shards):
            self.follow(<PrivateShard>shards[k])
        if self.weights.bounded:
            self.weights.clip_all()
        return self.settle()

    cdef void follow(self, PrivateShard other) noexcept nogil:
        # its own moves it has made
        cdef double share = other.gamma - (other is self)
        if share != 0.0:
            other.weights.moves.add_before_to(&self.weights.v[0], share)

    cdef void measure(self) noexcept nogil:
        if self.weights.bounded:
            self.weights.moves.measure_clipped(
                self.weights.lower, self.weights.upper, &self.inner, &self.sqnorm
            )
        else:
            self.weights.moves.measure_linear(&self.inner, &self.sqnorm)

    cdef double slope(self) noexcept nogil:
        return self.averager.loss - self.base.lam * self.inner

    cdef double gain(self) noexcept nogil:
        return self.slope() - 0.5 * self.base.lam * self.sqnorm
