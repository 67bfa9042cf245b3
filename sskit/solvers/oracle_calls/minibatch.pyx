"""Passes over blocks, one after the other, or with the oracles of several called at the same w."""

import numpy as np

from libc.math cimport INFINITY

from sskit.core.regularizer cimport Regularizer
from sskit.core.stop cimport Stop
from sskit.solvers.oracle_calls.pool cimport Pool


# Steps among the blocks of a working set end when a round gains less than this fraction of what all
# rounds have gained, or after so many.
cdef double LEAST_GAIN = 0.01
cdef int MOST_ROUNDS = 100
# Rounds leave out blocks whose gaps at their last visits were less than this fraction of the mean
# of the set, until such a round gains little. The first and the last are of all blocks.
cdef double LEAST_OF_SET = 0.3


cdef double finite_gap(double gap) noexcept nogil:
    return gap if gap < INFINITY else 1.0


cdef class BlockUpdate:
    """Base of the updates of a block."""

    cdef int run(self, Py_ssize_t i, Sampler sampler) except -1 nogil:
        return 0

    cdef bint needs_oracle(self, Py_ssize_t i) except -1 nogil:
        return True

    cdef void record_gap(self, Py_ssize_t i, double gap, Sampler sampler) noexcept nogil:
        pass

    cdef int step_towards(self, Answers planes, Py_ssize_t k, Sampler sampler) except -1 nogil:
        return 0


def visit_blocks(BlockUpdate update, Sampler sampler, Py_ssize_t n_visits, Stop stop=None):
    """Visit blocks one after the other, without the GIL.

    Parameters
    ----------
    update : BlockUpdate
        The update of a block.
    sampler : Sampler
        Order of the blocks; its begin_pass has been called.
    n_visits : int
        Number of visits.
    stop : Stop, default=None
        Ends the pass early when due; None never does.

    Returns
    -------
    n_done : int
        Number of visits made.
    """
    cdef Py_ssize_t i, n_done = 0
    if stop is None:
        stop = Stop()
    with nogil:
        while n_done < n_visits:
            i = sampler.next()
            prefetch_next(update.problem, update.dual, sampler)
            update.run(i, sampler)
            n_done += 1
            if stop.due():
                break
    return n_done


# fetch the memory of the blocks that the sampler will visit next, as far as they are known
cdef void prefetch_next(Problem problem, DualState dual, Sampler sampler) noexcept nogil:
    cdef Py_ssize_t i = sampler.peek(0)
    if i >= 0:
        problem.prefetch(i)
        dual.prefetch(i)
    i = sampler.peek(1)
    if i >= 0:
        dual.prefetch_block(i)


cdef class Batches:
    """Passes in minibatches: oracles of several blocks at one w, then a step for each.

    A block whose oracle is to be called waits until the batch is full, and samplers that go by
    gaps set it aside until then. If it is drawn again all the same, the batch is closed early:
    no block is in a batch twice, and none misses a visit. Steps without the oracle are taken at
    once; they change w before the oracles are called, all at the same w.

    The space of the problem gets the steps that follow, to prepare them together. Where that
    is costly, blocks whose gaps are below `least` take none.

    When the stop of the pool is due, blocks of the batch whose oracles have not been called are
    left as if they had not been drawn, and the others take no more steps.

    Parameters
    ----------
    pool : Pool
        Calls the oracles.
    dual : DualState
        The dual point.
    regularizer : Regularizer
        Holds w.
    size : int
        Largest number of blocks in a batch.
    gaps : ndarray of shape (n_blocks,)
        The last known gaps of the blocks.
    together : bool, default=False
        Whether steps are taken by working sets: blocks that are worth a step wait until there are
        at least `size` of them, and are then visited again and again until they have little to gain
        from each other, where the space of the weights makes that cheap (see `FeatureSpace`).
    """

    cdef Pool pool
    cdef readonly bint together
    cdef Py_ssize_t[::1] working     # (2 size,) blocks that wait for a step
    cdef Py_ssize_t n_working
    cdef Stop stop                   # that of the pool
    cdef Regularizer regularizer
    cdef Answers planes
    cdef const double[::1] gaps
    cdef unsigned char[::1] waits    # (n_blocks,) 1 for the blocks in the batch
    cdef Py_ssize_t size
    cdef public double least

    def __cinit__(self, Pool pool, DualState dual, Regularizer regularizer, Py_ssize_t size,
                  const double[::1] gaps, bint together=False):
        self.pool, self.stop = pool, pool.stop
        self.regularizer = regularizer
        self.size, self.gaps = min(size, dual.n_blocks), gaps
        self.least = -np.inf
        self.planes = Answers(pool, dual, self.size, True)
        self.waits = np.zeros(dual.n_blocks, dtype=np.uint8)
        self.together = together
        self.working = np.zeros(2 * self.size, dtype=np.intp)

    # call the oracles, and step
    cdef int flush(self, BlockUpdate update, Sampler sampler) except -1 nogil:
        cdef Py_ssize_t k, i
        if self.stop.over():
            self.planes.open()
        else:
            self.pool.call_oracles(self.planes, &self.regularizer.w[0])
        for k in range(self.planes.n):
            if self.planes.answered[k] and self.planes.gap[k] > max(self.least, 0.0):
                self.pool.problem.space.prefetch_step(self.planes.block[k], &self.planes.code[k, 0])
        for k in range(self.planes.n):
            i = self.planes.block[k]
            if self.together and self.planes.answered[k] and self.planes.gap[k] >= self.least:
                self.working[self.n_working] = i
                self.n_working += 1
                continue
            self.waits[i] = 0
            if not self.planes.answered[k]:
                sampler.record_gap(i, finite_gap(self.gaps[i]))
            elif self.planes.gap[k] < self.least or self.stop.over():
                update.record_gap(i, self.planes.gap[k], sampler)
            else:
                update.step_towards(self.planes, k, sampler)
                self.stop.due()
        self.planes.n = 0
        if self.n_working >= self.size:
            self.work(update, sampler)
        sampler.redraw()
        return 0

    # steps of the blocks that wait for one
    cdef int work(self, BlockUpdate update, Sampler sampler) except -1 nogil:
        cdef bint begun = False, done = False, whole = True, little
        cdef double gained = 0.0, more, least
        cdef Py_ssize_t k, n = self.n_working
        cdef int _
        if n == 0:
            return 0
        self.n_working = 0
        for k in range(n):
            self.waits[self.working[k]] = 0
        if self.stop.over():
            for k in range(n):
                sampler.record_gap(self.working[k], finite_gap(self.gaps[self.working[k]]))
            return 0
        try:
            with gil:
                blocks = np.array(self.working[:n])
                begun = update.problem.space.begin_steps(blocks, self.regularizer.v)
            for _ in range(MOST_ROUNDS if begun else 1):
                more, least = -update.increase, -INFINITY
                if not whole:
                    least = 0.0
                    for k in range(n):
                        least += LEAST_OF_SET / n * self.gaps[self.working[k]]
                for k in range(n):
                    if self.gaps[self.working[k]] < least:
                        continue
                    update.run(self.working[k], sampler)
                    if self.stop.due():
                        break
                more += update.increase
                gained += more
                little = more <= LEAST_GAIN * gained
                if (little and whole) or self.stop.over():
                    break
                whole = little
            done = True
        finally:
            if begun:
                with gil:
                    update.problem.space.end_steps(self.regularizer.v, done)
        return 0

    def visit_blocks(
        self, BlockUpdate update, Sampler sampler, Py_ssize_t n_steps, bint stored=False
    ):
        """Visit n_steps blocks without the GIL.

        Parameters
        ----------
        update : BlockUpdate
            The update of a block.
        sampler : Sampler
            Order of the blocks; its begin_pass(n_steps) has been called.
        n_steps : int
            Number of visits; fewer if the fit is to stop before.
        stored : bool, default=False
            Whether blocks, all different, take steps by working sets, without oracle calls in
            advance.
        """
        cdef Py_ssize_t _, i
        with nogil:
            for _ in range(n_steps):
                i = sampler.next()
                if stored:
                    self.working[self.n_working] = i
                    self.n_working += 1
                    if self.n_working == self.size:
                        self.work(update, sampler)
                else:
                    self.draw(i, update, sampler)
                if self.stop.over():
                    break
            if self.planes.n:
                self.flush(update, sampler)
            self.work(update, sampler)

    # block i waits for its oracle if it needs that, or is visited
    cdef int draw(self, Py_ssize_t i, BlockUpdate update, Sampler sampler) except -1 nogil:
        if self.waits[i]:
            self.flush(update, sampler)
            self.work(update, sampler)
        if update.needs_oracle(i):
            self.planes.block[self.planes.n] = i
            self.planes.n += 1
            self.waits[i] = 1
            sampler.set_aside(i)
        else:
            self.stop.due()
        if self.planes.n == self.size:
            self.flush(update, sampler)
        return 0
