"""The pass of the greedy direction method of multipliers by many workers."""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from sskit.core.checks cimport check_equal, check_range
from sskit.core.decomposition cimport Factors
from sskit.core.lanes cimport LANES
from sskit.core.sampler cimport Sampler
from sskit.core.stop cimport Stop
from sskit.parallel.crew cimport Crew, Task
from sskit.solvers.dual_decomposition.factors.shard cimport ShardState, SweepShard
from sskit.solvers.dual_decomposition.factors.state cimport FactorState

from sskit.solvers.dual_decomposition.factors.shard import ShardState, SweepShard

cdef enum Phase:
    VISITS
    FOLLOWING
    RETURNING
    RENEWING

# Blocks in flight, those of all shards together, in the first round.
cdef double FIRST_IN_FLIGHT = 40.0
# Rounds become longer while they gain this share of what their shards would gain each by itself,
# and shorter while they gain less, by this factor at a time, up to this share of all blocks.
cdef double ENOUGH = 0.9
cdef double PACE = 1.05
cdef double LARGEST_ROUND = 0.25
# What a round of the crew can have.
MOST_SHARDS = 64


cdef class SharedSweep(Task):
    """Passes in rounds, of which every shard does its part by itself.

    In a round each shard visits some blocks, which are nobody else's, one after the other, under
    weights of its own, which were the common ones at its beginning. Then it follows the moves of
    the others. What they change in the scores of its own moves tells what the augmented Lagrangian
    has done: where it would rise, only the shard that gained most has its way, and the blocks and
    weights of the others go back to where they were. What comes out is a function of the random
    state and the number of shards, whichever thread does which part, and however fast.

    Parameters
    ----------
    crew : Crew
        The workers.
    state : FactorState
        What is moved.
    make_sweep : callable
        Returns the sweep of a shard over the state that it is given.
    n_shards : int
        Number of shards, 64 at most. Each but one has a copy of the weights.

    Attributes
    ----------
    shards : list of SweepShard
        The shards.
    n_rounds, n_returns : int
        Rounds so far, and those of which only one shard had its way.
    """

    cdef readonly Crew crew
    cdef readonly FactorState state
    cdef readonly list shards
    cdef void** shard                # borrowed from the list
    cdef double* inner               # (n_shards,) what following found
    cdef Py_ssize_t n_shards
    cdef Factors factors
    cdef Stop stop
    cdef Phase phase
    cdef double step                 # of the multipliers in a stored pass; -1 in others
    cdef Py_ssize_t best             # the shard that has its way
    cdef double size[2]              # blocks of a shard in a round, by kind of pass
    cdef readonly Py_ssize_t n_rounds
    cdef readonly Py_ssize_t n_returns

    def __cinit__(self, Crew crew, FactorState state, make_sweep, Py_ssize_t n_shards):
        cdef Py_ssize_t k
        check_range(1, n_shards, MOST_SHARDS, "shards")
        self.crew, self.state, self.factors = crew, state, state.factors
        self.shards, self.n_shards = [], n_shards
        self.shard = <void**>calloc(n_shards, sizeof(void*))
        self.inner = <double*>calloc(n_shards, sizeof(double))
        if self.shard == NULL or self.inner == NULL:
            raise MemoryError(f"no memory for {n_shards} shards")
        for k in range(n_shards):
            w = state.w if k == 0 else state.w.copy()
            own = ShardState(state.factors, state.lam, state.rho, w, state)
            self.shards.append(SweepShard(make_sweep(own), k > 0))
            self.shard[k] = <void*>self.shards[k]
            check_equal((<SweepShard>self.shard[k]).state is own, True, "the state of the sweep")
        for k in range(2):
            self.size[k] = FIRST_IN_FLIGHT / n_shards
            self.limit(k)

    def __dealloc__(self):
        free(self.shard)
        free(self.inner)

    @property
    def n_looks(self):
        """States that the oracles looked at so far."""
        return sum([shard.sweep.n_looks for shard in self.shards])

    cdef bint perform(
        self, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t worker
    ) except -1 nogil:
        if self.phase == VISITS:
            (<SweepShard>self.shard[start]).visit(self.step, self.stop, worker == 0)
        elif self.phase == RENEWING:
            self.renew(<SweepShard>self.shard[start])
        else:
            self.inner[start] = self.follow(<SweepShard>self.shard[start], start)
        return False

    # what the round changes in the weights of a shard; for the first one the inner products of all
    # moves with each other
    cdef double follow(self, SweepShard shard, Py_ssize_t number) except? -1 nogil:
        cdef Py_ssize_t k
        cdef double inner = 0.0
        for k in range(self.n_shards):
            if self.phase == FOLLOWING and k != number:
                inner += shard.follow(<SweepShard>self.shard[k], 1.0, number == 0)
            elif self.phase == RETURNING and k != self.best:
                shard.follow(<SweepShard>self.shard[k], -1.0, False)
        return inner

    # all weights of a shard become the common ones
    cdef int renew(self, SweepShard shard) except -1 nogil:
        if &shard.state.w[0] != &self.state.w[0]:
            memcpy(
                &shard.state.w[0], &self.state.w[0],
                (self.factors.n_weights + LANES) * sizeof(double)
            )
        return shard.sweep.edges.rearrange()

    cdef int do_all(self, Phase phase) except -1 nogil:
        self.phase = phase
        return self.crew.run_parts(self.n_shards)

    def rebuild(self):
        """Sum the weights anew from the dual variables, without the rounding of many moves."""
        self.state.rebuild()
        self.notice()

    def notice(self):
        """Take notice that the common weights have moved other than by this."""
        self.crew.begin(self)
        try:
            with nogil:
                self.do_all(RENEWING)
        finally:
            self.crew.end()

    cdef int begin_round(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_shards):
            (<SweepShard>self.shard[k]).begin_round()
        return 0

    # a block goes to the shard with the least work
    cdef int hand(self, Py_ssize_t i) except -1 nogil:
        cdef Py_ssize_t k, idlest = 0
        for k in range(1, self.n_shards):
            if (<SweepShard>self.shard[k]).load < (<SweepShard>self.shard[idlest]).load:
                idlest = k
        return (<SweepShard>self.shard[idlest]).hand(i)

    # visits to the blocks that were handed out, and what becomes of them
    cdef int run_round(
        self, Py_ssize_t kind, double* decrease, double* disagreement
    ) except -1 nogil:
        cdef Py_ssize_t k, n_moved = 0
        cdef double alone = 0.0, most = -INFINITY, together, own
        self.do_all(VISITS)
        self.do_all(FOLLOWING)
        for k in range(self.n_shards):
            own = (<SweepShard>self.shard[k]).decrease
            alone += own
            n_moved += own > 0.0
            if own > most:
                most, self.best = own, k
        together = alone - self.state.lam * self.inner[0]
        if n_moved > 1:
            self.size[kind] *= PACE if together >= ENOUGH * alone else 1.0 / PACE
            self.limit(kind)
            if together < 0.0:
                self.give_way()
                together = most
        decrease[0] += together
        for k in range(self.n_shards):
            disagreement[0] += (<SweepShard>self.shard[k]).disagreement
        self.n_rounds += 1
        return 0

    # one shard has its way
    cdef int give_way(self) except -1 nogil:
        cdef Py_ssize_t k
        self.do_all(RETURNING)
        for k in range(self.n_shards):
            if k != self.best:
                (<SweepShard>self.shard[k]).undo()
        self.n_returns += 1
        return 0

    cdef void limit(self, Py_ssize_t kind) noexcept nogil:
        cdef double most = LARGEST_ROUND * self.factors.n_blocks / self.n_shards
        self.size[kind] = max(min(self.size[kind], most), 1.0)

    cdef int begin_pass(self, double step, Stop stop) except -1:
        self.step, self.stop = step, Stop() if stop is None else stop
        for shard in self.shards:
            (<SweepShard>shard).state.rho = self.state.rho
        return self.crew.begin(self)

    cdef int end_pass(self) except -1:
        self.crew.end()
        for shard in self.shards:
            self.state.ascent += (<SweepShard>shard).state.ascent
            (<SweepShard>shard).state.ascent = 0.0
        return 0

    def run_pass(self, Sampler sampler, Py_ssize_t n_steps, Stop stop=None):
        """Visit blocks in rounds, without the GIL.

        Parameters
        ----------
        sampler : Sampler
            Says which blocks, each once at most; its begin_pass(n_steps) has been called.
        n_steps : int
            Number of blocks.
        stop : Stop, default=None
            Says after which block to end already; None never does.

        Returns
        -------
        decrease : float
            Of the augmented Lagrangian by the steps of the factors.
        disagreement : float
            As of `Sweep.run_pass`.
        """
        sampler.check(self.factors.n_blocks, n_steps)
        return self.run(sampler, n_steps, -1.0, stop)

    def run_stored_pass(self, double step, Stop stop=None):
        """Move all factors among the states of their mixes, without the GIL.

        Parameters
        ----------
        step : float
            Step size of the multipliers, not negative.
        stop : Stop, default=None
            As of `run_pass`.

        Returns
        -------
        decrease, disagreement : float
            As of `run_pass`.
        """
        return self.run(None, self.factors.n_blocks, step, stop)

    cdef run(self, Sampler sampler, Py_ssize_t n_steps, double step, Stop stop):
        cdef Py_ssize_t i, at = 0, n, kind = sampler is None
        cdef double decrease = 0.0, disagreement = 0.0
        self.begin_pass(step, stop)
        try:
            with nogil:
                while at < n_steps and not self.stop.over():
                    self.begin_round()
                    n = self.n_shards * <Py_ssize_t>self.size[kind]
                    for at in range(at, min(at + n, n_steps)):
                        i = at if kind else sampler.next()
                        if self.factors.block_weight[i] > 0.0:
                            self.hand(i)
                    at += 1
                    self.run_round(kind, &decrease, &disagreement)
        finally:
            self.end_pass()
        return decrease, disagreement
