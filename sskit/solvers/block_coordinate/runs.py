"""A run of block-coordinate Frank-Wolfe: its state and its passes."""

import time

import numpy as np

from sskit._numbers import capped
from sskit.core.sampler import (
    GapSampler,
    MaxGapSampler,
    PermutationSampler,
    PromisingSampler,
    UniformSampler,
)
from sskit.solvers.block_coordinate.eviction import tidy
from sskit.solvers.block_coordinate.rounds import MOST_SHARDS, ShardRounds
from sskit.solvers.block_coordinate.updates import CorrectiveUpdate, PlainUpdate, ProjectionUpdate
from sskit.solvers.common.averaging import Averager
from sskit.solvers.common.run import DualRun, take_turns
from sskit.solvers.oracle_calls.minibatch import Batches, visit_blocks
from sskit.solvers.oracle_calls.pool import ParallelPool, Pool
from sskit.solvers.simplex_qp.program import AwayStep, PairwiseStep, PlainStep

# A stored pass, or a second pass over some blocks, leaves out those whose slope at their last visit
# was less than this fraction of the mean: they cost as much as the others and gain almost nothing.
LEAST_PROMISE = 0.1
# Plain steps leave some weight on every plane: one with at most this weight is dropped at the end
# of its life.
LIGHT = 0.05
# Work of a pass with the oracle, in passes over stored planes, where neither the problem knows it
# nor a clock measures it: a cheap oracle costs about as much as scoring the stored planes; for
# costly ones see the benchmarks, "Stored passes".
WORK_OF_CHEAP_ORACLE, WORK_OF_COSTLY_ORACLE = 1.0, 100.0
# Shards have no fewer blocks than this.
LEAST_BLOCKS = 4
# Of runs that take turns, visits of one in a turn: with fewer rounds are too short to pay.
LEAST_IN_TURN = 40
# More would wait for the interpreter's lock.
MOST_IN_TURNS = 3
# Weights that shards hold in copies, all of them together: 1 GB.
MOST_COPIED = 2**27

SAMPLERS = {
    "permutation": PermutationSampler,
    "uniform": UniformSampler,
    "gap": GapSampler,
    "max_gap": MaxGapSampler,
}
STEPS = {"fw": PlainStep, "pairwise": PairwiseStep, "away": AwayStep}
MEGABYTE = 2.0**20
# values of options with which no planes are stored
PLAIN = {"steps": ("fw",), "cache": (False,), "block_steps": (1,), "stored_passes": (0,)}


def make_pass(run):
    """Make a pass over the blocks of a run, and second passes over some of them.

    Parameters
    ----------
    run : BlockCoordinateRun or RunsInTurn
        Makes its visits.

    Returns
    -------
    gap : float
        The last known one.
    """
    schedule, stop, n_calls = run.schedule, run.stop, run.n_oracle_calls
    schedule.begin(run.increase)
    n_blocks = run.begin_pass()
    run.visit(n_blocks)
    # visits that used the cache cost no oracle call
    n_visits = run.n_oracle_calls - n_calls
    while not stop.ends and schedule.wants_stored_pass(run.increase, n_visits / n_blocks):
        n_visits = run.begin_pass(stored=True)
        run.visit(n_visits)
    return run.end_pass()


class RunsInTurn:
    """Several runs whose visits take turns, as one for `make_pass`.

    Parameters
    ----------
    runs : list of BlockCoordinateRun
        Of one schedule and one stop, those of the first.
    n_turns : int
        How many turns the visits of each run are divided into; fewer in batches, of which those of
        the largest run are whole. Several workers share only those of runs whose turns have visits
        enough for a round.
    """

    def __init__(self, runs, n_turns):
        self.runs, self.n_turns = runs, n_turns
        if runs[0].batches is not None:
            n_batches = max(run.problem.n_blocks // run.batch_size for run in runs)
            self.n_turns = min(n_turns, n_batches)
        self.schedule, self.stop = runs[0].schedule, runs[0].stop
        for run in runs if n_turns > 1 else ():
            if run.problem.n_blocks < LEAST_IN_TURN * n_turns:
                run.work_alone()

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far."""
        return sum(run.n_oracle_calls for run in self.runs)

    @property
    def increase(self):
        """Increase of the dual objective by all steps so far."""
        return sum(run.increase for run in self.runs)

    def begin_pass(self, stored=False):
        """Begin a pass of all runs; return the number of its visits."""
        self.n_visits = [run.begin_pass(stored) for run in self.runs]
        return sum(self.n_visits)

    def visit(self, n_steps):
        """Make the visits of the pass that has begun, all of them, in turns."""
        take_turns(self.runs, self.n_visits, self.n_turns)

    def end_pass(self):
        """End the pass of all runs; return their last known gaps, in sum."""
        return sum([run.end_pass() for run in self.runs])


class BlockCoordinateRun(DualRun):
    """A run of block-coordinate Frank-Wolfe: dual point, averages, certificate, block updates.

    Parameters
    ----------
    solver : BCFW
        Its options, with every "auto" resolved.
    problem : Problem
        The problem.
    regularizer : Regularizer
        The regulariser, with lam, v and w.
    random_state : RandomState
        Source of randomness.
    gaps : ndarray of shape (n_blocks,) or None
        Block gaps at the start, if known.
    pool : Pool or None
        Calls the oracles of a batch, or has workers that visit blocks at the same time, in
        `ShardRounds`; None calls one after the other.
    """

    def __init__(self, solver, problem, regularizer, random_state, gaps, pool):
        n_averages = solver.n_averages if solver.averaging else 0
        super().__init__(problem, regularizer, Averager(problem.n_weights, n_averages))
        n_blocks, space = problem.n_blocks, problem.space
        # number of blocks that take joint steps
        in_sets = solver.batch_size > 1 and space.is_kernel_space
        arranged = in_sets and solver.sampling == "permutation"
        options = {"arrange": space.arrange} if arranged else {}
        self.sampler = SAMPLERS[solver.sampling](n_blocks, random_state, **options)
        # if a step needs rows that have to be computed, blocks with the least gaps take none
        self.least_fraction = LEAST_PROMISE if in_sets else 0.0
        # joint steps, if the space makes them cheaper; not with averaging, which follows every step
        together = in_sets and not solver.averaging
        if gaps is not None:
            self.gaps[:] = self.hinges[:] = gaps
            self.sampler.set_gaps(self.gaps)
        self.promises = np.where(np.isfinite(self.gaps), self.gaps, 0.0)
        # in a kernel space only blocks whose rows are in memory
        places = space.cached_blocks, space.arrange if together else None
        promise = self.promises, LEAST_PROMISE
        self.promising = PromisingSampler(n_blocks, random_state, *promise, *places)
        self.batches = self.rounds = None
        places, n_shards = [self], 1
        self.batch_size = min(solver.batch_size, n_blocks)  # a pass has no more
        if solver.batch_size > 1:
            arguments = self.dual, regularizer, self.batch_size, self.gaps, together
            self.batches = Batches(pool or Pool(problem), *arguments)
        elif not solver.averaging:
            n_shards = shards_for(problem, pool)
        if n_shards > 1:
            self.rounds = ShardRounds(
                pool.thread_pool, pool.problems[:n_shards], self.dual, regularizer, self.gaps
            )
            places = self.rounds.shards
        # arguments of the eviction of planes; None if none are stored
        self.keep, options = None, ()
        if solver.steps == "projection":
            update = ProjectionUpdate
        elif all(getattr(solver, name) in values for name, values in PLAIN.items()):
            update = PlainUpdate
        else:
            update = CorrectiveUpdate
            options = STEPS[solver.steps](), capped(solver.block_steps), solver.cache
            # plain steps never take all weight from a plane: otherwise all would stay
            light = LIGHT if solver.steps == "fw" else 0.0
            n_bytes = float(solver.cache_size) * MEGABYTE
            self.keep = capped(solver.plane_life), capped(solver.max_planes), n_bytes, light
        common = self.averager, self.gaps, self.promises
        self.kind_of_update = update, (*common, *options)
        self.updates, self.n_calls_before = self.make_updates(places), 0
        # passes over stored planes after one with the oracle; if none are stored, second passes
        # call the oracles of the blocks with a large slope
        if solver.stored_passes == "slope":
            work = WORK_OF_COSTLY_ORACLE if problem.costly else WORK_OF_CHEAP_ORACLE
            self.schedule = Schedule(solver.max_stored_passes, problem.work or work, solver.clock)
        else:
            self.schedule = Schedule(solver.stored_passes)
        self.stored = False

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far."""
        return self.n_calls_before + sum(update.n_oracle_calls for update in self.updates)

    @property
    def increase(self):
        """Increase of the dual objective by all steps so far, or since workers have changed."""
        return (self.rounds or self.updates[0]).increase

    run_pass = make_pass

    def make_joint_pass(self, runs, n_turns):
        """Let several runs make a pass in turns; see `DualRun.make_joint_pass`."""
        make_pass(RunsInTurn(runs, n_turns))

    def make_updates(self, places):
        """Return the block update of each place: this run alone, or all its shards."""
        update, arguments = self.kind_of_update
        return [update(place.problem, self.dual, place.regularizer, *arguments) for place in places]

    def work_alone(self):
        """Let one worker make all visits from now on."""
        if self.rounds is not None:
            self.n_calls_before = self.n_oracle_calls
            self.rounds, self.updates = None, self.make_updates([self])

    def begin_pass(self, stored=False):
        """Begin a pass, or one over stored planes.

        Parameters
        ----------
        stored : bool, default=False
            Which it is.

        Returns
        -------
        n_visits : int
            How many visits it has: blocks have been drawn.
        """
        self.stored = stored
        if self.keep is None and not stored:
            self.dual.merge_all()
        for update in self.updates:
            update.begin_pass(stored)
        self.averager.begin_phase(int(stored))
        return (self.promising if stored else self.sampler).begin_pass(self.problem.n_blocks)

    def visit(self, n_steps):
        """Make some of the visits of the pass that has begun."""
        if not n_steps or self.stop.ends:
            return
        sampler, update = self.promising if self.stored else self.sampler, self.updates[0]
        if self.rounds is not None:
            self.rounds.visit_blocks(self.updates, sampler, n_steps, int(self.stored))
            return
        if self.batches is None or (self.stored and not self.batches.together):
            visit_blocks(update, sampler, n_steps, self.stop)
        else:
            if self.least_fraction:
                self.batches.least = self.least_fraction * self.gaps.mean()
            self.batches.visit_blocks(update, sampler, n_steps, self.stored)
        self.regularizer.has_changed()

    def end_pass(self):
        """Drop planes that were not used for long; return the last known gap."""
        if self.keep is not None:
            tidy(self.dual, self.updates[0].clock, *self.keep)
        return float(self.gaps.sum())

    def learn_gaps(self, gaps):
        """Set the gaps of all blocks, from an exact pass."""
        self.gaps[:] = self.promises[:] = gaps
        self.sampler.set_gaps(gaps)
        for update in self.updates:
            update.mean_gap = float(np.mean(gaps))


def shards_for(problem, pool):
    """Return the number of workers that visit blocks at the same time.

    Parameters
    ----------
    problem : Problem
        The problem. Where an oracle takes the interpreter's lock, as structures in Python do,
        workers would wait for each other; in a kernel space a step needs rows of a cache that all
        workers would have to share.
    pool : Pool or None
        Has the workers.

    Returns
    -------
    n_shards : int
        1 if blocks are to be visited one after the other.
    """
    if not isinstance(pool, ParallelPool) or problem.space.is_kernel_space:
        return 1
    most = MOST_SHARDS if problem.lock_free else MOST_IN_TURNS if problem.takes_turns else 1
    most = min(most, problem.n_blocks // LEAST_BLOCKS, 1 + MOST_COPIED // max(problem.n_weights, 1))
    return max(min(pool.thread_pool.n_workers, most), 1)


class Schedule:
    """The number of stored passes: fixed, or by their gain (Shah et al. 2015, section 3.4).

    Consider the curve of the dual objective over the work since the beginning of the pass with the
    oracle. Stored passes follow while the last piece of it is steeper than the line from its first
    to its last point.

    Parameters
    ----------
    n_passes : int
        Number of stored passes in a row, or the largest one, M.
    oracle_work : float, default=None
        Work of a pass with the oracle; that of a pass over all stored planes is 1. None if there is
        no rule, but always the same number.
    clock : bool, default=False
        Whether work is seconds on the clock instead.
    """

    def __init__(self, n_passes, oracle_work=None, clock=False):
        self.n_passes = n_passes
        self.oracle_work = oracle_work
        self.clock = clock

    def begin(self, increase):
        """Begin with a pass with the oracle.

        Parameters
        ----------
        increase : float
            Increase of the dual objective by all passes so far.
        """
        self.n_done = -1
        self.work = time.perf_counter() if self.clock else 0.0
        self.first = self.last = (self.work, increase)

    def wants_stored_pass(self, increase, work):
        """Return whether a stored pass should follow.

        Parameters
        ----------
        increase : float
            Increase of the dual objective by all passes so far.
        work : float
            Fraction of the blocks whose oracle the last pass has called or, for a stored pass, that
            it has visited.

        Returns
        -------
        more : bool
            To be called after the pass with the oracle, and after each stored pass.
        """
        self.n_done += 1
        if self.oracle_work is None or self.n_done >= self.n_passes:
            return self.n_done < self.n_passes
        if self.clock:
            self.work = time.perf_counter()
        else:
            # blocks of the first pass that did not call the oracle used stored planes
            first = work * self.oracle_work + (1.0 - work)
            self.work += work if self.n_done else first
        before, self.last = self.last, (self.work, increase)
        gained = increase > before[1]
        steep = _slope(before, self.last) >= _slope(self.first, self.last)
        return self.n_done == 0 or (gained and steep)


def _slope(start, end):
    """Return the increase per work between two points; none if nothing was done."""
    work = end[0] - start[0]
    return (end[1] - start[1]) / work if work > 0.0 else 0.0
