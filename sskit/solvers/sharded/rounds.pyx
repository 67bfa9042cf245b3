"""Rounds: many workers on one dual point."""

import numpy as np

from libc.stdint cimport INT32_MAX, int32_t
from libcpp.vector cimport vector

from sskit.core.dual cimport DualState
from sskit.core.problem cimport Problem
from sskit.core.regularizer cimport Regularizer
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.parallel.crew cimport Crew, Task
from sskit.solvers.common.averaging cimport Averager
from sskit.solvers.oracle_calls.minibatch cimport Visitor, known
from sskit.solvers.sharded.merge cimport BoxMerge, LineMerge, Merge
from sskit.solvers.sharded.shard cimport LoggingShard, PrivateShard, Shard

cdef enum Phase:
    VISITS
    MERGING
    CATCHING_UP

# Blocks in flight, those of all shards together, in the first round.
cdef double FIRST_IN_FLIGHT = 40.0
# Rounds become longer while merges gain enough, and shorter while they gain less, by this factor at
# a time, up to this share of all blocks.
cdef double PACE = 1.05
cdef double LARGEST_ROUND = 0.25
# What a round of the crew can have.
MOST_SHARDS = 64
# More weights are not compared as a whole, with what they were: shards follow each other's logs.
MOST_COMPARED = 32768
# So many shards do that in copies of the weights of so many bytes together: processors would have
# to pass on to each other what is written to one vector. Each shard follows all others, however; a
# vector for all is written by all of them together.
MOST_FOLLOWED = 4
MOST_COPIES = 2**28


def logs_moves(Problem problem):
    """Say whether shards log their moves, since there are too many weights to compare.

    Parameters
    ----------
    problem : Problem
        What to solve.

    Returns
    -------
    logs : bool
        False if each shard has a copy of the weights, and the merge sees how far it has come.
    """
    return problem.n_weights > MOST_COMPARED


def copies_fit(n_shards, n_weights):
    """Say whether shards that log their moves are to have copies of the weights.

    Parameters
    ----------
    n_shards : int
        Number of shards.
    n_weights : int
        Number of weights d.

    Returns
    -------
    fit : bool
        Whether these are few, and not too large.
    """
    return n_shards <= MOST_FOLLOWED and 8 * (n_shards - 1) * n_weights <= MOST_COPIES


cdef class Rounds(Task):
    """Sharded dual ascent: passes in rounds, of which every shard does its part by itself.

    In a round each shard visits some blocks, which are nobody else's, one after the other, and
    moves weights of its own, which were the common ones at its beginning. Then a `Merge` says how
    much of these moves is taken, so that the dual objective never falls. What comes out is a
    function of the random state and the number of shards, whichever thread does which part, and
    however fast.

    Parameters
    ----------
    crew : Crew
        The workers.
    problems : list of Problem
        One for each shard, forks of each other; at most 64.
    dual : DualState
        The dual point; moved.
    regularizer : Regularizer
        Holds lam, v and w; moved.
    averager : Averager
        Follows the merges.
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
    load, longest_load : float
        Work of all shards in all rounds, and that of the longest shard of each round, in units of
        the code lengths of blocks: with as many cores as shards a worker waits for the others for
        the share 1 - load / (n_shards * longest_load) of the time.
    """

    cdef readonly Crew crew
    cdef Stop stop
    cdef DualState dual
    cdef Regularizer regularizer
    cdef Merge merge
    cdef readonly list shards
    cdef Py_ssize_t n_shards
    cdef Phase phase
    cdef int32_t round               # number of this one
    cdef int32_t[::1] seen           # (n_blocks,) the last round in which a block was drawn
    cdef int32_t[::1] saved          # (n_blocks,) the last round in which its shard saved it
    cdef int32_t[::1] owner          # (n_blocks,) the shard that drew it last
    cdef double[::1] gaps
    cdef vector[Py_ssize_t] drawn    # blocks of this round
    cdef double[::1] size            # blocks of a shard in a round, by kind of pass
    cdef Py_ssize_t version          # of the common weights, when the shards last knew them
    cdef readonly double increase
    cdef readonly Py_ssize_t n_rounds
    cdef readonly Py_ssize_t n_visits
    cdef readonly double load
    cdef readonly double longest_load

    def __cinit__(self, Crew crew, problems, DualState dual, Regularizer regularizer,
                  Averager averager, double[::1] gaps):
        cdef Py_ssize_t n_blocks = dual.n_blocks
        self.crew, self.stop = crew, crew.stop
        self.dual, self.regularizer, self.gaps = dual, regularizer, gaps
        self.n_shards = len(problems)
        if logs_moves(problems[0]):
            own = copies_fit(self.n_shards, regularizer.n_weights)
            self.shards = [
                LoggingShard(problem, dual, regularizer, own, own and k > 0)
                for k, problem in enumerate(problems)
            ]
            cuts = problems[0].cut_weights(self.n_shards)
            self.merge = LineMerge(self.shards, regularizer, averager, cuts)
        else:
            self.shards = [
                PrivateShard(problem, dual, regularizer, k > 0)
                for k, problem in enumerate(problems)
            ]
            self.merge = BoxMerge(self.shards, regularizer, averager)
        self.seen = np.full(n_blocks, -2, dtype=np.int32)
        self.saved = np.full(n_blocks, -2, dtype=np.int32)
        self.owner = np.zeros(n_blocks, dtype=np.int32)
        self.size = np.full(2, FIRST_IN_FLIGHT / self.n_shards)
        self.limit(0)
        self.limit(1)
        self.version = -1

    cdef bint perform(
        self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker
    ) except -1 nogil:
        if self.phase == VISITS:
            self.visit(<Shard>self.merge.shard[start], worker == 0)
        elif self.phase == MERGING:
            self.merge.part(start)
        else:
            (<Shard>self.merge.shard[start]).catch_up(self.merge.shard)
        return False

    # what one shard does of a round
    cdef int visit(self, Shard shard, bint leads) except -1 nogil:
        shard.began = True
        shard.catch_up(self.merge.shard)
        try:
            shard.visit(&self.saved[0], self.round, self.stop, leads)
        finally:
            shard.measure()
        return 0

    # a round begins: share out the next n blocks
    cdef int draw(self, Sampler sampler, Py_ssize_t n) except -1 nogil:
        cdef Py_ssize_t i, k, heir, _
        cdef double longest = 0.0
        if self.round == INT32_MAX:
            self.round = 0
            self.seen[:] = -2
            self.saved[:] = -2
        self.round += 1
        self.drawn.clear()
        for k in range(self.n_shards):
            (<Shard>self.merge.shard[k]).begin_round()
        for _ in range(n):
            i = sampler.next()
            sampler.set_aside(i)
            self.drawn.push_back(i)
            if self.seen[i] >= self.round - 1:
                # who had it last has yet to settle what became of it
                heir = self.owner[i]
            else:
                heir = self.idlest()
            self.seen[i] = self.round
            self.owner[i] = <int32_t>heir
            (<Shard>self.merge.shard[heir]).hand(i)
        for k in range(self.n_shards):
            self.load += (<Shard>self.merge.shard[k]).load
            longest = max(longest, (<Shard>self.merge.shard[k]).load)
        self.longest_load += longest
        return 0

    cdef Py_ssize_t idlest(self) noexcept nogil:
        cdef Py_ssize_t k, best = 0
        for k in range(1, self.n_shards):
            if (<Shard>self.merge.shard[k]).load < (<Shard>self.merge.shard[best]).load:
                best = k
        return best

    # a round ends: merge, and let the sampler hear of the gaps
    cdef int close(self, Sampler sampler, Py_ssize_t kind) except -1 nogil:
        cdef Py_ssize_t k, n_done = 0, n_moved = 0
        cdef double increase, alone = 0.0
        for k in range(self.n_shards):
            # after an error there may be some
            if not (<Shard>self.merge.shard[k]).began:
                (<Shard>self.merge.shard[k]).catch_up(self.merge.shard)
        increase = self.merge.take()
        self.increase += increase
        for k in range(<Py_ssize_t>self.drawn.size()):
            sampler.learned(self.drawn[k], known(self.gaps[self.drawn[k]]))
        for k in range(self.n_shards):
            n_done += (<Shard>self.merge.shard[k]).n_done
            n_moved += (<Shard>self.merge.shard[k]).gain() > 0.0
            alone += (<Shard>self.merge.shard[k]).gain()
        if n_moved > 1:
            self.size[kind] *= PACE if increase >= self.merge.enough * alone else 1.0 / PACE
            self.limit(kind)
        self.n_rounds += 1
        self.n_visits += n_done
        return n_done

    cdef void limit(self, Py_ssize_t kind) noexcept nogil:
        cdef double most = LARGEST_ROUND * self.dual.n_blocks / self.n_shards
        self.size[kind] = max(min(self.size[kind], most), 1.0)

    # draw, visit, merge
    cdef int run_round(self, Sampler sampler, Py_ssize_t n, Py_ssize_t kind) except -1 nogil:
        self.draw(sampler, n)
        self.phase = VISITS
        try:
            self.crew.run_parts(self.n_shards)
        finally:
            self.do_merge()
            self.close(sampler, kind)
        return 0

    cdef int do_merge(self) except -1 nogil:
        self.phase = MERGING
        self.merge.begin()
        while self.merge.more():
            self.crew.run_parts(self.n_shards)
        return 0

    # a pass ends: all shards catch up with its last round
    cdef int end(self) except -1 nogil:
        cdef Py_ssize_t k
        for k in range(self.n_shards):
            (<Shard>self.merge.shard[k]).begin_round()
        self.phase = CATCHING_UP
        return self.crew.run_parts(self.n_shards)

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
        cdef Py_ssize_t left = n_steps, n, before = self.n_visits, k
        self.crew.begin(self)
        for k in range(self.n_shards):
            (<Shard>self.shards[k]).begin_pass(<Visitor?>visitors[k])
        if self.version != self.regularizer.version:
            for k in range(self.n_shards):
                (<Shard>self.shards[k]).renew()
            self.version = self.regularizer.version
        try:
            with nogil:
                while left > 0 and not self.stop.over():
                    n = min(left, self.n_shards * <Py_ssize_t>self.size[kind])
                    self.run_round(sampler, n, kind)
                    left -= n
        finally:
            with nogil:
                self.end()
            self.crew.end()
        return self.n_visits - before
