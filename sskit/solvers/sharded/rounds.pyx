"""Rounds: many workers on one dual point."""

import numpy as np

from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from sskit.core.dual cimport DualState
from sskit.core.lanes cimport LANES
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport BoxRegularizer, Regularizer
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.parallel.crew cimport Crew, Task
from sskit.solvers.oracle_calls.minibatch cimport Visitor, known
from sskit.solvers.sharded.shard cimport Shard

cdef extern from "comparison.hpp" namespace "sskit" nogil:
    cdef cppclass Comparison:
        vector[double*] v
        vector[double*] w
        void bound(const double* lower, const double* upper, Py_ssize_t n_weights) except +
        # the present weights are those of the beginning
        void renew(Py_ssize_t n_weights) except +
    # all move as far as all have moved together, in a round that began with the share `taken` of
    # the moves of the last one; <w, move> and ||move||^2
    void join(
        Comparison& all, Py_ssize_t start, Py_ssize_t stop, double taken, double* inner,
        double* square
    )
    # to this share of the moves
    void go_back(const Comparison& all, Py_ssize_t start, Py_ssize_t stop, double share)

cdef enum Phase:
    VISITS
    MOVES
    BLOCKS

# Blocks in flight, those of all shards together, are at most so many, and this share of all. Beyond
# that passes gain less, even where merges keep nearly all that moves would gain by themselves.
cdef double MOST_IN_FLIGHT = 40.0
cdef double LARGEST_SHARE = 0.25
# A merge should gain this share of what the moves would gain one by one: rounds become shorter
# while merges gain less, and longer again while they gain enough, by this factor at a time.
cdef double ENOUGH = 0.9
cdef double PACE = 1.05
# If all moves together gain less than this, the best share of them is searched for.
cdef double LEAST = 0.5
# Every shard follows the moves of all others.
MOST_SHARDS = 8
# More weights are not compared as a whole, with what they were: shards follow each other's logs.
MOST_COMPARED = 32768


def logs_moves(Problem problem):
    """Say whether shards log their moves, since there are too many weights to compare.

    Parameters
    ----------
    problem : Problem
        What to solve.

    Returns
    -------
    logs : bool
        False if the merge sees how far the weights of each shard have come.
    """
    return problem.n_weights > MOST_COMPARED


cdef class Rounds(Task):
    """Sharded dual ascent: passes in rounds, of which every shard does its part by itself.

    In a round each shard visits some blocks, which are nobody else's, one after the other, and
    moves weights of its own, which were the common ones at its beginning. The merge takes one share
    x in [0, 1] of the sum m of all moves, and of what has become of the blocks. With the change l
    of the mean loss the dual objective increases by

        x l - lam / 2 (2 x <w, m> + x^2 ||m||^2),

    or, with bounds, at least by this much, since clipping brings no two points further apart. That
    is zero at x = 0: the dual objective never falls. At x = 1 it is nearly always large enough;
    else half of the moves are taken back, and two points say where the parabola is highest. Few
    weights are compared with what they were; where they are very many, of which a visit moves few,
    shards follow each other's logs, and see by how much ||v||^2 grows.

    What comes out is a function of the random state and the number of shards, whichever thread does
    which part, and however fast.

    Parameters
    ----------
    crew : Crew
        The workers.
    problems : list of Problem
        One for each shard, forks of each other.
    dual : DualState
        The dual point; moved.
    regularizer : Regularizer
        Holds lam, v and w; moved.
    gaps : ndarray of shape (n_blocks,)
        Block gaps, which the visitors keep up to date: samplers hear of them after each round.

    Attributes
    ----------
    shards : list of Shard
        What the visitors are to be made of.
    increase : float
        Of the dual objective by all rounds so far; with bounds a lower bound of it.
    n_rounds : int
        Rounds so far.
    n_visits : int
        Visits so far.
    """

    cdef readonly Crew crew
    cdef Stop stop
    cdef Regularizer regularizer
    cdef readonly list shards
    cdef vector[void*] shard         # the same, borrowed
    cdef Py_ssize_t n_shards
    cdef bint logs
    cdef Comparison comparison       # of their weights, unless they log
    cdef Phase phase
    # (n_blocks,) n_rounds * n_shards + the shard that drew the block in this round, negative once
    # it has kept what the block was
    cdef int64_t[::1] owner
    cdef double[::1] gaps
    cdef vector[Py_ssize_t] drawn    # blocks of this round
    cdef double[::1] size            # blocks of a shard in a round, by kind of pass
    cdef double most                 # of them
    cdef Py_ssize_t version          # of the common weights, when the shards last knew them
    # of the merge
    cdef double taken                # share of the moves of the last round
    cdef double share                # of those of this one where the weights are, and are to be
    cdef double next_share
    cdef double[::1] inner           # (n_shards,) by part of the weights: <w, m>, or the growth of
    cdef double[::1] square          # ||v||^2 by shard; ||m||^2
    cdef double growth               # of ||v||^2 at this share, or of its bound
    cdef readonly double increase
    cdef readonly Py_ssize_t n_rounds
    cdef readonly Py_ssize_t n_visits

    def __cinit__(self, Crew crew, problems, DualState dual, Regularizer regularizer,
                  double[::1] gaps):
        cdef Shard shard
        self.crew, self.stop = crew, crew.stop
        self.regularizer, self.gaps = regularizer, gaps
        self.n_shards = len(problems)
        self.logs = logs_moves(problems[0])
        self.shards = [
            Shard(problem, dual, regularizer, self.logs, k > 0)
            for k, problem in enumerate(problems)
        ]
        for shard in self.shards:
            self.shard.push_back(<void*>shard)
            self.comparison.v.push_back(&shard.regularizer.v[0])
            self.comparison.w.push_back(&shard.regularizer.w[0])
        if regularizer.bounded and regularizer.n_weights:
            self.comparison.bound(
                &(<BoxRegularizer>regularizer).lower[0], &(<BoxRegularizer>regularizer).upper[0],
                regularizer.n_weights
            )
        self.owner = np.full(dual.n_blocks, -1, dtype=np.int64)
        self.most = min(MOST_IN_FLIGHT, LARGEST_SHARE * dual.n_blocks) / self.n_shards
        self.size = np.full(2, max(self.most, 1.0))
        self.inner, self.square = np.zeros(self.n_shards), np.zeros(self.n_shards)
        self.version = -1

    cdef bint perform(
        self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker
    ) except -1 nogil:
        if self.phase == VISITS:
            (<Shard>self.shard[start]).visit(&self.owner[0], self.stop, worker == 0)
        elif self.phase == BLOCKS:
            (<Shard>self.shard[start]).settle(self.share)
        elif self.logs:
            self.follow(start)
        else:
            self.compare(start)
        return False

    # the weights of shard k follow all moves
    cdef void follow(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t j
        cdef double growth = 0.0
        for j in range(self.n_shards):
            if j == k and self.share == 0.0:
                # its own it has made
                growth += (<Shard>self.shard[k]).grown()
            else:
                growth += (<Shard>self.shard[k]).follow(
                    <Shard>self.shard[j], self.next_share - self.share
                )
        self.inner[k] = growth

    # part k of the weights of all shards
    cdef void compare(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t n = (self.regularizer.n_weights + LANES - 1) // LANES
        cdef Py_ssize_t start = n * k // self.n_shards * LANES
        cdef Py_ssize_t stop = n * (k + 1) // self.n_shards * LANES
        if self.share > 0.0:
            go_back(self.comparison, start, stop, self.next_share)
        else:
            join(self.comparison, start, stop, self.taken, &self.inner[k], &self.square[k])

    # the weights of all shards move to this share of all moves
    cdef int move_to(self, double share) except -1 nogil:
        cdef double inner = 0.0, square = 0.0
        cdef Py_ssize_t k
        self.next_share, self.phase = share, MOVES
        self.crew.run_parts(self.n_shards)
        if self.logs:
            self.growth += self.inner[0]
        else:
            for k in range(self.n_shards):
                inner += self.inner[k]
                square += self.square[k]
            self.growth = share * (2.0 * inner + share * square)
        self.share = share
        return 0

    # take the best share of all moves; returns the increase, and what they would gain one by one
    cdef double merge(self, double* alone) except? -1 nogil:
        cdef Py_ssize_t k
        cdef double loss = 0.0, lam = self.regularizer.lam, whole, square, inner, best = 0.0
        alone[0] = 0.0
        for k in range(self.n_shards):
            loss += (<Shard>self.shard[k]).loss
            alone[0] += (<Shard>self.shard[k]).gain()
        self.taken, self.share, self.growth = self.share, 0.0, 0.0
        self.move_to(1.0)
        if loss - 0.5 * lam * self.growth >= LEAST * alone[0]:
            return loss - 0.5 * lam * self.growth
        whole = self.growth
        self.move_to(0.5)
        square = 2.0 * (whole - 2.0 * self.growth)
        inner = 0.5 * (whole - square)
        if square > 0.0:
            best = min(max((loss / lam - inner) / square, 0.0), 1.0)
        self.move_to(best)
        self.phase = BLOCKS
        self.crew.run_parts(self.n_shards)
        return best * loss - 0.5 * lam * self.growth

    # a round begins: share out the next n blocks
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
                self.owner[i] = first + self.idlest()
            (<Shard>self.shard[self.owner[i] - first]).hand(i)
        return 0

    cdef Py_ssize_t idlest(self) noexcept nogil:
        cdef Py_ssize_t k, best = 0
        for k in range(1, self.n_shards):
            if (<Shard>self.shard[k]).load < (<Shard>self.shard[best]).load:
                best = k
        return best

    # a round ends: merge, and let the sampler hear of the gaps
    cdef int close(self, Sampler sampler, Py_ssize_t kind) except -1 nogil:
        cdef Py_ssize_t k, n_moved = 0
        cdef double alone, size, increase = self.merge(&alone)
        self.increase += increase
        for k in range(<Py_ssize_t>self.drawn.size()):
            sampler.learned(self.drawn[k], known(self.gaps[self.drawn[k]]))
        for k in range(self.n_shards):
            self.n_visits += (<Shard>self.shard[k]).n_done
            n_moved += (<Shard>self.shard[k]).gain() > 0.0
        if n_moved > 1:
            size = self.size[kind] * (PACE if increase >= ENOUGH * alone else 1.0 / PACE)
            self.size[kind] = max(min(size, self.most), 1.0)
        self.n_rounds += 1
        return 0

    # draw, visit, merge
    cdef int run_round(self, Sampler sampler, Py_ssize_t n, Py_ssize_t kind) except -1 nogil:
        self.draw(sampler, n)
        self.phase = VISITS
        try:
            self.crew.run_parts(self.n_shards)
        finally:
            self.close(sampler, kind)
        return 0

    # all shards take over the weights of the run
    cdef int renew(self) except -1:
        cdef Shard shard
        for shard in self.shards[1:]:
            shard.regularizer.v[:] = self.regularizer.v
            if self.regularizer.bounded:
                shard.regularizer.w[:] = self.regularizer.w
        if not self.logs:
            self.comparison.renew(self.regularizer.n_weights)
        self.version = self.regularizer.version
        return 0

    def run_pass(self, visitors, Sampler sampler, Py_ssize_t n_steps, Py_ssize_t kind=0):
        """Visit blocks in rounds, without the GIL.

        Parameters
        ----------
        visitors : list of Visitor
            What each shard does at a block.
        sampler : Sampler
            Says which blocks; its begin_pass(n_steps) has been called.
        n_steps : int
            Number of visits; fewer if the stop of the crew is due before.
        kind : {0, 1}, default=0
            Of the pass: each kind has a length of rounds of its own.

        Returns
        -------
        n_done : int
            Number of visits made.
        """
        cdef Py_ssize_t left = n_steps, n, before = self.n_visits
        self.crew.begin(self)
        cdef Shard shard
        for shard, visitor in zip(self.shards, visitors, strict=True):
            shard.visitor, shard.regularizer.lam = <Visitor?>visitor, self.regularizer.lam
        # the run of another part of the data may have moved the weights; copies of few cost nothing
        if not self.logs or self.version != self.regularizer.version:
            self.renew()
        try:
            with nogil:
                while left > 0 and not self.stop.over():
                    n = min(left, self.n_shards * <Py_ssize_t>self.size[kind])
                    self.run_round(sampler, n, kind)
                    left -= n
        finally:
            self.crew.end()
            self.regularizer.version += 1
            self.version = self.regularizer.version
        return self.n_visits - before
