"""Shards of a sharded run (see the .pxd)."""

import numpy as np

from libc.string cimport memcpy

from sskit.core.dual cimport Block
from sskit.core.lanes cimport LANES
from sskit.core.regularizer cimport BoxRegularizer


cdef class LossSum(Averager):
    """No average: the run that the shard belongs to keeps it."""

    cdef void begin_step(self) noexcept nogil:
        self.n_steps += 1.0

    cdef int moved(
        self, Problem problem, Py_ssize_t i, Direction delta, double step, double loss_change
    ) except -1 nogil:
        self.loss += loss_change
        return 0


cdef class Shard:
    """A worker's own problem and log; base of shards, which have weights to move.

    Parameters
    ----------
    problem : Problem
        A fork for this shard alone.
    dual : DualState
        The dual point of the run. Blocks that this shard visits in a round are not visited by
        others.
    regularizer : Regularizer
        Holds lam and the weights of the run.
    """

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer, *args):
        self.problem = problem
        self.dual = dual
        self.base = regularizer
        self.averager = LossSum()
        self.silent = Sampler(problem.n_blocks, None)
        self.scratch = Direction(problem.max_statistics)
        self.gamma = 1.0

    cdef int begin_pass(self, Visitor visitor) except -1:
        self.visitor = visitor
        self.regularizer.lam = self.base.lam
        return 0

    cdef void begin_round(self) noexcept nogil:
        self.blocks.clear()
        self.n_done = 0
        self.began = False
        self.load = 0.0
        self.averager.loss = self.averager.n_steps = 0.0

    cdef void renew(self) noexcept nogil:
        pass

    cdef int catch_up(self, const vector[void*]& shards) except -1 nogil:
        return self.settle()

    cdef void measure(self) noexcept nogil:
        pass

    cdef double gain(self) noexcept nogil:
        return 0.0

    cdef int hand(self, Py_ssize_t i) except -1 nogil:
        self.blocks.push_back(i)
        self.load += self.problem.code_length(i)
        return 0

    cdef int visit(self, int32_t* saved, int32_t round, Stop stop, bint leads) except -1 nogil:
        cdef Py_ssize_t n = self.blocks.size(), i
        cdef Block* block
        while self.n_done < n:
            i = self.blocks[self.n_done]
            if self.n_done + 1 < n:
                self.problem.prefetch(self.blocks[self.n_done + 1])
                self.dual.prefetch(self.blocks[self.n_done + 1])
            if saved[i] != round:
                block = &self.dual.blocks[i]
                if not self.log.add(
                    i, block.index, block.value, block.n, block.weight, block.n_planes, block.loss,
                    block.aggregate
                ):
                    with gil:
                        raise MemoryError("no memory for what blocks were before a round")
                saved[i] = round
            self.visitor.visit(i, self.silent)
            self.n_done += 1
            # only the leader may look at the clock and at signals
            if stop.due() if leads else stop.over():
                break
        return 0

    cdef int settle(self) except -1 nogil:
        cdef Py_ssize_t k, p
        cdef BlockBefore* before
        cdef Block* block
        cdef double new = self.gamma, old = 1.0 - self.gamma, weight
        for k in range(self.log.blocks.n if new < 1.0 else 0):
            before = self.log.blocks.data() + k
            block = &self.dual.blocks[before.block]
            self.scratch.add(block.index, block.value, block.n, new)
            if before.n_entries:
                self.scratch.add(
                    self.log.index.data() + before.first_entry,
                    self.log.value.data() + before.first_entry, before.n_entries, old
                )
            self.dual.set_mix(before.block, self.scratch, new * block.loss + old * before.loss)
            self.scratch.clear()
            for p in range(block.n_planes):
                weight = 0.0
                if p < before.n_planes:
                    weight = self.log.weight.data()[before.first_weight + p]
                block.weight[p] = new * block.weight[p] + old * weight
            block.aggregate = new * block.aggregate + old * before.aggregate
        self.log.clear()
        return 0


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

    cdef int catch_up(self, const vector[void*]& shards) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(<Py_ssize_t>shards.size()):
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


cdef class LoggingRegularizer(Regularizer):
    """Weights of a shard with a log.

    Parameters
    ----------
    lam : float
        Regularisation strength.
    n_weights : int
        Number of weights d.
    covector : callable
        As of every regularizer.
    base : Regularizer
        Whose weights these are.
    moves : bool
        Whether moves are made at once.
    own : bool
        Whether in a copy.
    """

    def __cinit__(self, lam, n_weights, covector, Regularizer base, bint moves, bint own):
        self.moves = moves
        if not own:
            self.v, self.w = base.v, base.w

    cdef int move(
        self, Problem problem, Py_ssize_t i, Direction delta, double step
    ) except -1 nogil:
        if delta.n and not self.log.add(i, step, &delta.index[0], &delta.value[0], delta.n):
            with gil:
                raise MemoryError("no memory for the moves of a round")
        return problem.scatter(i, delta, step, &self.v[0]) if self.moves else 0


cdef class LoggingShard(Shard):
    """A shard with a log.

    Parameters
    ----------
    problem : Problem
        A fork for this shard alone.
    dual : DualState
        The dual point of the run.
    regularizer : Regularizer
        Holds lam and the weights of the run.
    moves : bool
        Whether moves are made at once; then every shard must have weights of its own.
    own : bool
        Whether it has a copy, as all but one must that make moves at once.
    """

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer, bint moves,
                  bint own):
        self.weights = LoggingRegularizer(
            0.0, regularizer.n_weights, None, regularizer, moves, own
        )
        self.regularizer = self.weights

    cdef void renew(self) noexcept nogil:
        if &self.weights.v[0] != &self.base.v[0]:
            memcpy(&self.weights.v[0], &self.base.v[0], self.base.n_weights * sizeof(double))

    cdef void begin_round(self) noexcept nogil:
        Shard.begin_round(self)
        self.weights.log.clear()
        self.before = self.visitor.increased()

    cdef double gain(self) noexcept nogil:
        return self.visitor.increased() - self.before

    cdef double write(
        self, Problem problem, Direction scratch, double factor, const int64_t* part, double* v
    ) noexcept nogil:
        cdef Py_ssize_t k
        cdef double growth = 0.0
        cdef LoggedMove* move
        for k in range(self.weights.log.moves.n):
            move = self.weights.log.moves.data() + k
            scratch.add(
                self.weights.log.index.data() + move.first,
                self.weights.log.value.data() + move.first, move.n, 1.0
            )
            growth += problem.scatter_part(move.block, scratch, factor * move.step, part, v)
            scratch.clear()
        return growth
