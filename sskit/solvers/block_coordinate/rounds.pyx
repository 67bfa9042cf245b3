"""Sharded dual ascent: several workers on one dual point, merged after each round."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from sskit.core.direction cimport Direction
from sskit.core.dual cimport DualBlock, DualState
from sskit.core.lanes cimport LANES
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport BoxRegularizer, Regularizer
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.parallel.thread_pool cimport ThreadPool, Task
from sskit.solvers.oracle_calls.minibatch cimport BlockUpdate, finite_gap

cdef extern from "comparison.hpp" namespace "sskit" nogil:
    cdef cppclass Comparison:
        vector[double*] v, w
        void bound(const double* lower, const double* upper, Py_ssize_t n_weights) except +
        # the present weights are those of the beginning
        void renew(Py_ssize_t n_weights) except +
    # the sum d of the steps of all is added to each; returns 2 <w, d> + ||d||^2
    double join(Comparison& all, Py_ssize_t start, Py_ssize_t stop)

cdef enum Phase:
    VISITS
    FOLLOW
    RETREAT

# Blocks of a round, those of all shards together, are at most so many, and this fraction of all.
# With more, passes gain less, even if merges keep nearly the whole gain of the single steps.
cdef double MOST_IN_FLIGHT = 40.0
cdef double LARGEST_FRACTION = 0.25
# A merge should gain this fraction of the sum of the gains of the single shards: rounds become
# shorter while merges gain less, and longer again while they gain enough, by this factor at a time.
cdef double ENOUGH = 0.9
cdef double PACE = 1.05
# Every shard adds the steps of all others.
MOST_SHARDS = 8
# With more weights, merges do not compare whole vectors: shards read each other's logs.
MOST_COMPARED = 32768


cdef struct LoggedStep:
    Py_ssize_t block, n, first       # first: of its entries in the log
    double step


cdef struct BlockBefore:
    Py_ssize_t block, n_entries, n_planes
    Py_ssize_t first_index, first_number
    double loss


cdef class LoggingRegularizer(Regularizer):
    """Weights of a shard whose steps are logged.

    Parameters
    ----------
    lam, n_weights, covector : object
        As for every regularizer.
    silent : Regularizer
        Holds the weights, and changes them.
    """

    cdef Regularizer silent
    cdef vector[LoggedStep] steps    # of this round, and their entries
    cdef vector[int32_t] index
    cdef vector[double] value

    def __cinit__(self, double lam, n_weights, covector, Regularizer silent):
        self.silent, self.v, self.w = silent, silent.v, silent.w

    cdef int add(self, Problem problem, Py_ssize_t i, Direction delta, double step) except -1 nogil:
        cdef Py_ssize_t e
        self.steps.push_back(LoggedStep(i, delta.n, self.index.size(), step))
        for e in range(delta.n):
            self.index.push_back(delta.index[e])
            self.value.push_back(delta.value[delta.index[e]])
        return self.silent.add(problem, i, delta, step)

    # a new round begins
    cdef void clear(self) noexcept nogil:
        self.steps.clear()
        self.index.clear()
        self.value.clear()


cdef class Shard:
    """A shard: the blocks that one thread updates in a round, with weights of its own.

    visit_blocks() sets the update, which changes the weights of this shard, and lam. A round:
    begin_round(), add() for every block, all by one thread; then visit(), by any. Then the steps
    of all shards are added to the weights of each, or of one alone: the others go_back().

    Parameters
    ----------
    problem : Problem
        A fork for this shard alone.
    dual : DualState
        The dual point of the run. Blocks that this shard visits in a round are not visited by
        others.
    weights : Regularizer
        Those of the run for one shard, a copy for each of the others.
    """

    cdef readonly Problem problem
    # Changes the weights of this shard. Between rounds all shards have the same ones, but for
    # rounding.
    cdef readonly LoggingRegularizer regularizer
    cdef DualState dual
    cdef Sampler silent              # ignores the gaps that updates record; read after the round
    cdef BlockUpdate update
    cdef vector[Py_ssize_t] blocks   # to be visited, in this order
    cdef Py_ssize_t n_done
    cdef double load                 # work of the blocks
    cdef double loss                 # change of the mean loss by the visits of this round
    cdef double before               # gain of all visits before this round
    cdef vector[BlockBefore] undo    # blocks at its begin: plane 0, and weights of planes
    cdef vector[int32_t] index
    cdef vector[double] number
    cdef Direction scratch

    def __cinit__(self, Problem problem, DualState dual, Regularizer weights):
        self.problem, self.dual = problem, dual
        self.regularizer = LoggingRegularizer(weights.lam, weights.n_weights, None, weights)
        self.silent = Sampler(problem.n_blocks, None)
        self.scratch = Direction(problem.max_statistics)

    cdef void begin_round(self) noexcept nogil:
        self.blocks.clear()
        self.undo.clear()
        self.index.clear()
        self.number.clear()
        self.regularizer.clear()
        self.n_done = 0
        self.load = self.loss = 0.0
        self.before = self.update.increase

    # adds block i to those to be visited
    cdef int add(self, Py_ssize_t i) except -1 nogil:
        self.blocks.push_back(i)
        self.load += self.problem.code_length(i)
        return 0

    # visit the blocks; owner: by block, negative unless it is still to be kept for go_back()
    cdef int visit(self, int64_t* owner, Stop stop, bint calling) except -1 nogil:
        cdef Py_ssize_t n = self.blocks.size(), i
        cdef double loss
        while self.n_done < n:
            i = self.blocks[self.n_done]
            if self.n_done + 1 < n:
                self.problem.prefetch(self.blocks[self.n_done + 1])
                self.dual.prefetch(self.blocks[self.n_done + 1])
            if owner[i] >= 0:
                self.keep(i)
                owner[i] = -1
            loss = self.dual.loss(i)
            self.update.run(i, self.silent)
            self.loss += self.problem.block_weight[i] * (self.dual.loss(i) - loss)
            self.n_done += 1
            # only the calling thread may read the clock and handle signals
            if stop.due() if calling else stop.over():
                break
        return 0

    cdef int keep(self, Py_ssize_t i) except -1 nogil:
        cdef DualBlock* block = &self.dual.blocks[i]
        self.undo.push_back(BlockBefore(
            i, block.n, block.n_planes, self.index.size(), self.number.size(),
            block.plane_loss[0]
        ))
        self.index.insert(self.index.end(), block.index, block.index + block.n)
        self.number.insert(self.number.end(), block.value, block.value + block.n)
        self.number.insert(self.number.end(), block.weight, block.weight + block.n_planes)
        return 0

    # increase of the dual objective by the visits of this round alone
    cdef double gain(self) noexcept nogil:
        return self.update.increase - self.before

    # By how much ||v||^2 has grown by them; if there are bounds, that with w in the place of v in
    # <v, step>
    cdef double grown(self) noexcept nogil:
        # the gain is  loss - lam / 2 (||v + m||^2 - ||v||^2),  m the sum of the steps
        return 2.0 / self.regularizer.lam * (self.loss - self.gain())

    # v += factor * the logged steps of another shard; by how much ||v||^2 grows, if that counts
    cdef double follow(self, Shard other, double factor, bint counts) except? -1 nogil:
        cdef Py_ssize_t k
        cdef LoggedStep* logged
        cdef double growth = 0.0
        for k in range(<Py_ssize_t>other.regularizer.steps.size()):
            logged = &other.regularizer.steps[k]
            self.scratch.add(
                other.regularizer.index.data() + logged.first,
                other.regularizer.value.data() + logged.first, logged.n, factor * logged.step
            )
            if counts:
                growth += self.regularizer.silent.grow(self.problem, logged.block, self.scratch)
            else:
                self.regularizer.silent.add(self.problem, logged.block, self.scratch, 1.0)
            self.scratch.clear()
        return growth

    # restores the blocks
    cdef int go_back(self) except -1 nogil:
        cdef Py_ssize_t k, p
        cdef BlockBefore* before
        cdef DualBlock* block
        cdef const double* number
        for k in range(<Py_ssize_t>self.undo.size()):
            before = &self.undo[k]
            block = &self.dual.blocks[before.block]
            number = self.number.data() + before.first_number
            for p in range(block.n_planes):
                block.weight[p] = number[before.n_entries + p] if p < before.n_planes else 0.0
            # plane 0 does not change if others are stored
            if block.n_planes == 1:
                self.dual.assign_pairs(
                    before.block, self.index.data() + before.first_index, number,
                    before.n_entries, before.loss
                )
        return 0


cdef class ShardRounds(Task):
    """Sharded dual ascent: passes in rounds, in which every shard updates blocks by itself.

    In a round each shard visits some blocks, which no other one has, one after the other, and
    changes weights of its own, which were the common ones at its beginning. Then the steps of all
    are added to the weights of each: few weights are compared with what they were; where they are
    very many, of which a visit changes few, shards read each other's logs. With the changes l of
    the mean loss and m of v the dual objective increases by

        l - lam / 2 (2 <w, m> + ||m||^2)

    at every step, or, with bounds, at least by this much, since clipping brings no two points
    further apart. If that is less than the gain of the best single shard, its steps alone are kept.
    So the dual objective never falls.

    The result depends only on the random state and the number of shards, not on the speed of
    threads.

    Parameters
    ----------
    thread_pool : ThreadPool
        Runs the shards.
    problems : list of Problem
        One for each shard, forks of each other.
    dual : DualState
        The dual point; changed.
    regularizer : Regularizer
        Holds lam, v and w; changed.
    gaps : ndarray of shape (n_blocks,)
        Block gaps, which the updates keep up to date: samplers get them after each round.
    most : float, default=40
        Blocks of a round at most, those of all shards together; never more than a quarter of all.
    enough : float, default=0.9
        Rounds become shorter while merges gain less than this fraction of the sum of the gains of
        the single shards; with 0 they keep their length.

    Attributes
    ----------
    shards : list of Shard
        With the arguments of their updates.
    increase : float
        Of the dual objective by all rounds so far; with bounds a lower bound of it.
    n_rounds : int
        Rounds so far.
    n_visits : int
        Visits so far.
    """

    cdef readonly ThreadPool thread_pool
    cdef Stop stop
    cdef Regularizer regularizer
    cdef readonly list shards
    cdef vector[void*] shard         # the same, borrowed
    cdef Py_ssize_t n_shards
    cdef Phase phase
    # (n_blocks,) n_rounds * n_shards + the shard that drew the block in this round, negative once
    # it has saved the state of the block
    cdef int64_t[::1] owner
    cdef double[::1] gaps
    cdef vector[Py_ssize_t] drawn    # blocks of this round
    cdef double[::1] size            # blocks of a shard in a round, by kind of pass
    cdef double most, enough
    cdef Py_ssize_t version          # of the weights after the last round
    # of the merge
    cdef Py_ssize_t best             # the shard that has gained most
    cdef bint compares               # are there few weights?
    cdef Comparison comparison
    cdef double[::1] growth          # (n_shards,) parts of that of ||v||^2, or of its bound
    cdef readonly double increase
    cdef readonly Py_ssize_t n_rounds, n_visits

    def __cinit__(self, ThreadPool thread_pool, problems, DualState dual, Regularizer regularizer,
                  double[::1] gaps, *, double most=MOST_IN_FLIGHT, double enough=ENOUGH):
        cdef Shard shard
        self.thread_pool, self.stop = thread_pool, thread_pool.stop
        self.regularizer, self.gaps = regularizer, gaps
        self.n_shards = len(problems)
        self.shards = [
            Shard(problem, dual, regularizer.copy_of(k) if k else regularizer)
            for k, problem in enumerate(problems)
        ]
        for shard in self.shards:
            self.shard.push_back(<void*>shard)
            self.comparison.v.push_back(&shard.regularizer.v[0])
            self.comparison.w.push_back(&shard.regularizer.w[0])
        self.compares = regularizer.n_weights <= MOST_COMPARED
        if regularizer.bounded and regularizer.n_weights:
            self.comparison.bound(
                &(<BoxRegularizer>regularizer).lower[0], &(<BoxRegularizer>regularizer).upper[0],
                regularizer.n_weights
            )
        self.growth = np.zeros(self.n_shards)
        self.owner = np.full(dual.n_blocks, -1, dtype=np.int64)
        self.most = min(most, LARGEST_FRACTION * dual.n_blocks) / self.n_shards
        self.enough = enough
        self.size = np.full(2, max(self.most, 1.0))
        self.version = -1

    cdef bint perform(self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker) except -1 nogil:
        if self.phase == VISITS:
            (<Shard>self.shard[start]).visit(&self.owner[0], self.stop, worker == 0)
        elif self.phase == RETREAT:
            self.retreat(start)
        elif self.compares:
            self.compare(start)
        else:
            self.follow(start)
        return False

    # part k of the weights of all shards
    cdef void compare(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t n = (self.regularizer.n_weights + LANES - 1) // LANES
        self.growth[k] = join(
            self.comparison, n * k // self.n_shards * LANES, n * (k + 1) // self.n_shards * LANES
        )

    # add the steps of all other shards to the weights of shard k, which has its own
    cdef int follow(self, Py_ssize_t k) except -1 nogil:
        cdef Py_ssize_t j
        cdef double growth = (<Shard>self.shard[k]).grown()
        for j in range(self.n_shards):
            if j != k:
                growth += (<Shard>self.shard[k]).follow(<Shard>self.shard[j], 1.0, k == 0)
        self.growth[k] = growth if k == 0 else 0.0
        return 0

    # its weights and blocks go back to those after the steps of the best shard alone
    cdef int retreat(self, Py_ssize_t k) except -1 nogil:
        cdef Py_ssize_t j
        for j in range(self.n_shards):
            if j != self.best:
                (<Shard>self.shard[k]).follow(<Shard>self.shard[j], -1.0, False)
        if k != self.best:
            (<Shard>self.shard[k]).go_back()
        return 0

    # add up all steps, or keep those of one shard; returns the increase; alone: that one by one
    cdef double merge(self, double* alone) except? -1 nogil:
        cdef Py_ssize_t k
        cdef double loss = 0.0, gain, most = -1.0, increase
        alone[0] = 0.0
        for k in range(self.n_shards):
            gain = (<Shard>self.shard[k]).gain()
            loss += (<Shard>self.shard[k]).loss
            alone[0] += gain
            if gain > most:
                most, self.best = gain, k
        self.phase = FOLLOW
        self.thread_pool.run_parts(self.n_shards)
        increase = loss
        for k in range(self.n_shards):
            increase -= 0.5 * self.regularizer.lam * self.growth[k]
        if increase < most:
            self.phase = RETREAT
            self.thread_pool.run_parts(self.n_shards)
            if self.compares:
                self.comparison.renew(self.regularizer.n_weights)
        return max(increase, most)

    # a round begins: give the next n blocks to shards
    cdef int draw(self, Sampler sampler, Py_ssize_t n) except -1 nogil:
        cdef Py_ssize_t i, k, _
        cdef int64_t first = self.n_rounds * self.n_shards
        self.drawn.clear()
        for k in range(self.n_shards):
            (<Shard>self.shard[k]).begin_round()
        for _ in range(n):
            i = sampler.next()
            sampler.set_aside(i)
            self.drawn.push_back(i)
            if self.owner[i] < first:
                self.owner[i] = first + self.least_loaded()
            (<Shard>self.shard[self.owner[i] - first]).add(i)
        return 0

    cdef Py_ssize_t least_loaded(self) noexcept nogil:
        cdef Py_ssize_t k, best = 0
        for k in range(1, self.n_shards):
            if (<Shard>self.shard[k]).load < (<Shard>self.shard[best]).load:
                best = k
        return best

    # a round ends: merge, and give the sampler the gaps
    cdef int close(self, Sampler sampler, Py_ssize_t kind) except -1 nogil:
        cdef Py_ssize_t k, n_gaining = 0
        cdef double alone, size, increase = self.merge(&alone)
        self.increase += increase
        for k in range(<Py_ssize_t>self.drawn.size()):
            sampler.record_gap(self.drawn[k], finite_gap(self.gaps[self.drawn[k]]))
        for k in range(self.n_shards):
            self.n_visits += (<Shard>self.shard[k]).n_done
            n_gaining += (<Shard>self.shard[k]).gain() > 0.0
        if n_gaining > 1:
            size = self.size[kind] * (PACE if increase >= self.enough * alone else 1.0 / PACE)
            self.size[kind] = max(min(size, self.most), 1.0)
        self.n_rounds += 1
        return 0

    # draw, visit, merge
    cdef int run_round(self, Sampler sampler, Py_ssize_t n, Py_ssize_t kind) except -1 nogil:
        self.draw(sampler, n)
        self.phase = VISITS
        try:
            self.thread_pool.run_parts(self.n_shards)
        finally:
            self.close(sampler, kind)
        return 0

    # lets all shards have the weights of the run, which another run may have changed
    cdef int renew(self) except -1:
        cdef Shard shard
        for shard in self.shards[1:]:
            shard.regularizer.silent.follow(self.regularizer)
        if self.compares and self.version != self.regularizer.version:
            self.comparison.renew(self.regularizer.n_weights)
        return 0

    def visit_blocks(self, updates, Sampler sampler, Py_ssize_t n_steps, Py_ssize_t kind=0):
        """Visit blocks in rounds, without the GIL.

        Parameters
        ----------
        updates : list of BlockUpdate
            The block update of each shard.
        sampler : Sampler
            Order of the blocks; its begin_pass(n_steps) has been called.
        n_steps : int
            Number of visits; fewer if the stop of the thread pool is due before.
        kind : {0, 1}, default=0
            Of the pass: each kind has a length of rounds of its own.

        Returns
        -------
        n_done : int
            Number of visits made.
        """
        cdef Py_ssize_t left = n_steps, n, before = self.n_visits
        self.thread_pool.begin(self)
        cdef Shard shard
        for shard, update in zip(self.shards, updates, strict=True):
            shard.update, shard.regularizer.lam = <BlockUpdate?>update, self.regularizer.lam
        self.renew()
        try:
            with nogil:
                while left > 0 and not self.stop.over():
                    n = min(left, self.n_shards * <Py_ssize_t>self.size[kind])
                    self.run_round(sampler, n, kind)
                    left -= n
        finally:
            self.thread_pool.end()
            self.regularizer.version += 1
            self.version = self.regularizer.version
            for shard in self.shards[1:]:
                shard.regularizer.silent.version = self.version
        return self.n_visits - before
