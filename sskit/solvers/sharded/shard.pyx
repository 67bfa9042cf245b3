"""One shard of a sharded run (see the .pxd)."""

import numpy as np

from libc.string cimport memcpy

from sskit.core.block cimport Block
from sskit.core.checks cimport check_equal
from sskit.core.lanes cimport LANES
from sskit.core.regularizer cimport BoxRegularizer
from sskit.core.vectors cimport append

# With fewer weights it is cheaper to take all of them for moved than to know which ones are.
cdef Py_ssize_t FEW_WEIGHTS = 16384


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
    run_length : int
        Of the runs in which the problem keeps weights that move.
    own : bool
        Whether there is a copy; else the weights of the base move during a round.
    """

    def __cinit__(self, lam, n_weights, covector, Regularizer base, Py_ssize_t run_length,
                  bint own):
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
        if self.n_weights <= FEW_WEIGHTS:
            run_length = self.n_weights
        self.moves.follow(&self.v[0], self.n_weights, run_length)

    cdef int move(
        self, Problem problem, Py_ssize_t i, Direction delta, double step
    ) except -1 nogil:
        problem.keep(i, delta, &self.moves)
        problem.scatter(i, delta, step, &self.v[0])
        if self.bounded:
            problem.clip(i, delta, &self.v[0], self.lower, self.upper, &self.w[0])
        return 0


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
    """A worker's own problem, weights and log.

    Parameters
    ----------
    problem : Problem
        A fork for this shard alone.
    dual : DualState
        The dual point of the run. Blocks that this shard visits in a round are not visited by
        others.
    regularizer : Regularizer
        Holds lam and the weights of the run.
    own : bool
        Whether the shard has a copy of the weights, as all but one of a run must.
    """

    def __cinit__(self, Problem problem, DualState dual, Regularizer regularizer, bint own):
        dual.match(problem)
        regularizer.match(problem)
        self.problem = problem
        self.dual = dual
        self.regularizer = PrivateRegularizer(
            regularizer.lam, regularizer.n_weights, regularizer.covector, regularizer,
            problem.run_length, own
        )
        self.averager = LossSum()
        self.silent = Sampler(problem.n_blocks, None)
        self.scratch = Direction(problem.max_statistics)
        self.gamma = 1.0

    cdef int begin_pass(self, Visitor visitor) except -1:
        visitor.match(self.problem)
        self.visitor = visitor
        self.regularizer.lam = self.regularizer.base.lam
        return 0

    cdef void begin_round(self) noexcept nogil:
        self.blocks.clear()
        self.n_done = 0
        self.began = False
        self.load = self.inner = self.sqnorm = 0.0
        self.averager.loss = self.averager.n_steps = 0.0
        self.regularizer.moves.turn()

    cdef int hand(self, Py_ssize_t i) except -1 nogil:
        append(self.blocks, i)
        self.load += self.problem.code_length(i)
        return 0

    cdef void renew(self) noexcept nogil:
        cdef size_t n_bytes = (self.regularizer.n_weights + LANES) * sizeof(double)
        self.regularizer.moves.clear()
        if &self.regularizer.v[0] == self.regularizer.base_v:
            return
        memcpy(&self.regularizer.v[0], self.regularizer.base_v, n_bytes)
        if self.regularizer.bounded:
            memcpy(&self.regularizer.w[0], self.regularizer.base_w, n_bytes)

    cdef int catch_up(self, void** shards, Py_ssize_t n_shards) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(n_shards):
            self.follow(<Shard>shards[k])
        for k in range(n_shards if self.regularizer.bounded else 0):
            self.clip(<Shard>shards[k])
        return self.settle()

    cdef void follow(self, Shard other) noexcept nogil:
        # its own moves it has made
        cdef double share = other.gamma - (other is self)
        if share != 0.0:
            other.regularizer.moves.add_before_to(&self.regularizer.v[0], share)

    cdef void clip(self, Shard other) noexcept nogil:
        other.regularizer.moves.clip_before(
            &self.regularizer.v[0], self.regularizer.lower, self.regularizer.upper,
            &self.regularizer.w[0]
        )

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

    cdef void measure(self) noexcept nogil:
        if self.regularizer.bounded:
            self.regularizer.moves.measure_clipped(
                self.regularizer.lower, self.regularizer.upper, &self.inner, &self.sqnorm
            )
        else:
            self.regularizer.moves.measure_linear(&self.inner, &self.sqnorm)

    cdef double gain(self, double lam) noexcept nogil:
        return self.averager.loss - lam * (self.inner + 0.5 * self.sqnorm)

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
