"""States of runs of block-coordinate Frank-Wolfe."""

import numpy as np

from sskit._numbers import capped
from sskit.core.sampler import PromisingSampler
from sskit.solvers.block_coordinate import corrective_pass
from sskit.solvers.block_coordinate.plain_pass import PlainVisitor
from sskit.solvers.block_coordinate.projection_pass import ProjectionVisitor
from sskit.solvers.block_coordinate.schedule import FixedSchedule
from sskit.solvers.common.averaging import Averager
from sskit.solvers.common.certificate import better_of, certify_dual_point
from sskit.solvers.common.dual_run import DualRun
from sskit.solvers.oracle_calls.minibatch import Batches, run_pass
from sskit.solvers.oracle_calls.pool import Pool
from sskit.solvers.sharded.rounds import Rounds

# A stored pass, or one that goes back to some blocks, leaves out those that promised less than this
# share of the mean when they were last visited: they cost as much as the others and gain next to
# nothing.
LEAST_PROMISE = 0.1


def make_pass(runs, n_slices=1):
    """Make a pass over the blocks of one run or several, and passes over their stored planes.

    How many of these follow is up to the schedule of the first run.

    Parameters
    ----------
    runs : list of BlockCoordinateRun
        Their regularizer is one.
    n_slices : int, default=1
        In how many turns runs make their visits. Blocks of a run that are all visited before
        those of the next pull the weights back and forth.
    """
    schedule, stop = runs[0].schedule, runs[0].stop
    n_calls = sum(run.n_oracle_calls for run in runs)
    schedule.begin(sum(run.increase for run in runs))
    visits = [run.begin_pass() for run in runs]
    n_blocks = sum(visits)
    take_turns([run.visit for run in runs], visits, n_slices)
    # what the cache answered was no work for the oracle
    n_visits = sum(run.n_oracle_calls for run in runs) - n_calls
    while not stop.ends and schedule.another(
        sum(run.increase for run in runs), n_visits / n_blocks
    ):
        visits = [run.begin_stored() for run in runs]
        take_turns([run.visit_stored for run in runs], visits, n_slices)
        n_visits = sum(visits)
    for run in runs:
        run.end_pass()


def take_turns(visit, n_visits, n_slices):
    """Let several make so many visits each, in turns."""
    for k in range(n_slices):
        for visit_some, n in zip(visit, n_visits, strict=True):
            n_now = n * (k + 1) // n_slices - n * k // n_slices
            if n_now:
                visit_some(n_now)


class BlockCoordinateRun(DualRun):
    """What all runs share: the dual point, its averages and its certificate.

    Parameters
    ----------
    problem : Problem
        What to solve.
    regularizer : Regularizer
        Holds lam, v and w.
    sampler : Sampler
        Order of the blocks.
    averager : Averager
        Average of the iterates.
    gaps : ndarray of shape (n_blocks,) or None
        Block gaps at the start, if they are known.
    batch_size : int, default=1
        Number of oracles that are asked at the same weights.
    pool : Pool, default=None
        Asks the oracles of a batch; None asks one after the other.
    n_shards : int, default=1
        Number of workers of the pool that visit blocks at the same time, in `Rounds`.
    """

    def __init__(
        self,
        problem,
        regularizer,
        sampler,
        averager,
        gaps,
        *,
        batch_size=1,
        pool=None,
        n_shards=1,
    ):
        super().__init__(problem, regularizer, averager)
        self.sampler = sampler
        self.batches = self.rounds = None
        # where a step needs much to be fetched first, blocks with the least gaps do without
        selective = batch_size > 1 and problem.space.is_kernel_space
        self.least_share = LEAST_PROMISE if selective else 0.0
        if n_shards > 1:
            self.rounds = Rounds(
                pool.crew, pool.problems[:n_shards], self.dual, regularizer, averager, self.gaps
            )
        if batch_size > 1:
            # a pass has no more
            batch_size = min(batch_size, problem.n_blocks)
            # where many steps cost less than one after the other; an average follows every step
            together = selective and type(averager) is Averager
            self.batches = Batches(
                pool or Pool(problem), self.dual, regularizer, batch_size, together
            )
        if gaps is not None:
            self.gaps[:] = gaps
            sampler.set_gaps(self.gaps)

    @property
    def places(self):
        """Who visits blocks, each with a problem, weights and an average of its own."""
        return [self] if self.rounds is None else self.rounds.shards

    def run_pass(self):
        """Visit every block once, and stored planes again; return the last known gap."""
        make_pass([self])
        return float(self.gaps.sum())

    def begin_pass(self):
        """Draw the blocks of a pass; return how many visits it has."""
        return self.sampler.begin_pass(self.problem.n_blocks)

    def visit(self, n_steps):
        """Make some of the visits of a pass."""
        raise NotImplementedError(f"{type(self).__name__} must implement visit")

    def begin_stored(self):
        """Draw the blocks of a pass over stored planes; return how many visits it has."""
        return 0

    def visit_stored(self, n_steps):
        """Make some of the visits of a pass over stored planes."""

    def end_pass(self):
        """Drop what is of no more use."""

    def visit_blocks(self, visitors, n_steps):
        """Make a pass, in batches or in rounds if asked.

        Parameters
        ----------
        visitors : list of Visitor
            What to do at a block, for each of `places`.
        n_steps : int
            Number of visits, for which the sampler is ready.

        Returns
        -------
        n_visits : int
            How many visits were made; in batches only those in which an oracle was asked.
        """
        if self.rounds is not None:
            return self.rounds.run_pass(visitors, self.sampler, n_steps)
        (visitor,) = visitors
        if self.batches is None:
            return run_pass(visitor, self.sampler, n_steps, self.stop)
        if self.least_share:
            self.batches.least = self.least_share * self.gaps.mean()
        return self.batches.run_pass(visitor, self.sampler, n_steps)

    def promising(self, promises, random_state):
        """Return the sampler of passes that leave out the blocks that promised little.

        Parameters
        ----------
        promises : ndarray of shape (n_blocks,)
            What each block promised when it was last visited; kept up to date by the visits.
        random_state : RandomState
            Order of the passes.

        Returns
        -------
        sampler : PromisingSampler
            In a kernel space of the blocks that need nothing fetched.
        """
        space = self.problem.space
        together = self.batches is not None and self.batches.together
        return PromisingSampler(
            self.problem.n_blocks,
            random_state,
            promises,
            LEAST_PROMISE,
            space.cached_blocks,
            space.arrange if together else None,
        )

    def visit_again(self, visitors, sampler, n_steps):
        """Make a pass over blocks whose oracles need not be asked ahead, in rounds if asked.

        Parameters
        ----------
        visitors : list of Visitor
            What to do at a block, for each of `places`.
        sampler : Sampler
            Says which blocks, all different; it is ready.
        n_steps : int
            Number of visits.
        """
        if self.rounds is not None:
            self.rounds.run_pass(visitors, sampler, n_steps, 1)
        elif self.batches is not None and self.batches.together:
            self.batches.run_stored(visitors[0], sampler, n_steps)
        else:
            run_pass(visitors[0], sampler, n_steps, self.stop)

    def certify(self, evaluator):
        """Return the certificate of the last iterate, or of the average if that is better."""
        self.sum_mixes()
        self.dual.rebuild(self.problem, self.regularizer, self.stop)
        last, gaps = certify_dual_point(self.problem, self.regularizer, self.dual, evaluator)
        self.learn_gaps(gaps)
        loss = float(np.dot(self.problem.block_weight, self.dual.losses()))
        average = self.averager.average(self.regularizer, loss)
        if average is None:
            return last
        v_average, loss_average = average
        dual = max(last.dual, self.regularizer.dual(v_average, loss_average))
        w_average = self.regularizer.image(v_average)
        return better_of(
            last, self.problem, self.regularizer, w_average, dual, evaluator, self.dual
        )

    def learn_gaps(self, gaps):
        """Take over the exact gaps of all blocks."""
        self.gaps[:] = gaps
        self.sampler.set_gaps(gaps)


class MixRun(BlockCoordinateRun):
    """Base of the runs in which a visit leaves nothing behind but the mix of the block."""

    def __init__(self, problem, regularizer, sampler, averager, gaps, **batching):
        super().__init__(problem, regularizer, sampler, averager, gaps, **batching)
        self.visitors = [
            self.visitor(place.problem, self.dual, place.regularizer, place.averager, self.gaps)
            for place in self.places
        ]

    def visit(self, n_steps):
        """Make some of the visits of a pass, a step at each."""
        self.n_oracle_calls += self.visit_blocks(self.visitors, n_steps)


class PlainRun(MixRun):
    """Plain steps."""

    visitor = PlainVisitor
    schedule = FixedSchedule(0)
    increase = 0.0


class ProjectionRun(MixRun):
    """Steps to the best mix of all planes of a block.

    No plane is stored: what would be passes over stored planes are visits, oracle calls like all
    others, of the blocks that promised something.

    Parameters
    ----------
    problem, regularizer, sampler, averager, gaps : object
        As for the other runs; the problem has `StateBlocks`.
    random_state : RandomState
        Order of the passes that go back to some blocks.
    schedule : FixedSchedule or SlopeSchedule
        How many of these follow a pass over all.
    **batching : object
        `batch_size`, `pool` and `n_shards`.
    """

    visitor = ProjectionVisitor

    def __init__(
        self, problem, regularizer, sampler, averager, gaps, *, random_state, schedule, **batching
    ):
        super().__init__(problem, regularizer, sampler, averager, gaps, **batching)
        self.again = self.promising(self.gaps, random_state)
        self.schedule = schedule

    @property
    def increase(self):
        """By how much all moves so far have increased the dual objective."""
        return (self.rounds or self.visitors[0]).increase

    def begin_stored(self):
        """Draw the blocks of a pass over those that promised something."""
        return self.again.begin_pass(self.problem.n_blocks)

    def visit_stored(self, n_steps):
        """Make some of the visits of such a pass."""
        self.n_oracle_calls += n_steps
        self.visit_again(self.visitors, self.again, n_steps)


class ActiveSetRun(BlockCoordinateRun):
    """Steps between stored planes.

    Parameters
    ----------
    problem, regularizer, sampler, averager, gaps : object
        As for the other runs.
    **batching : object
        `batch_size` and `pool`, likewise.
    step : Step
        End points of the steps.
    random_state : RandomState
        Order of the passes over stored planes.
    block_steps : int
        Largest number of steps within a block at one visit.
    schedule : FixedSchedule or SlopeSchedule
        How many passes over stored planes follow a pass with oracle calls.
    cache : tuple of float or None
        Shares (F, nu) of algorithm 5 of Osokin et al. 2016; None always asks the oracle.
    keeper : PlaneKeeper
        Which planes stay.
    """

    def __init__(
        self,
        problem,
        regularizer,
        sampler,
        averager,
        gaps,
        *,
        step,
        random_state,
        block_steps,
        schedule,
        cache,
        keeper,
        **batching,
    ):
        super().__init__(problem, regularizer, sampler, averager, gaps, **batching)
        self.slopes = np.where(np.isfinite(self.gaps), self.gaps, 0.0)
        self.states = [
            corrective_pass.ActiveSetState(
                place.problem,
                self.dual,
                place.regularizer,
                place.averager,
                step,
                capped(block_steps),
                self.gaps,
                self.slopes,
            )
            for place in self.places
        ]
        if cache is None:
            self.moves = [corrective_pass.Move(state) for state in self.states]
        else:
            self.moves = [corrective_pass.CachedMove(state, *cache) for state in self.states]
        self.stored_moves = [corrective_pass.StoredMove(state) for state in self.states]
        self.stored_sampler = self.promising(self.slopes, random_state)
        self.clock = 0
        self.schedule = schedule
        self.keeper = keeper

    @property
    def n_oracle_calls(self):
        """Calls of the oracle by the moves so far."""
        return sum(state.n_oracle_calls for state in self.states)

    @property
    def increase(self):
        """By how much all moves so far have increased the dual objective."""
        return (self.rounds or self.states[0]).increase

    def begin_pass(self):
        """Draw the blocks of a pass; return how many visits it has."""
        self.clock += 1
        for state in self.states:
            state.clock = self.clock
        self.averager.attend(0)
        return super().begin_pass()

    def visit(self, n_steps):
        """Make some of the visits of a pass."""
        self.visit_blocks(self.moves, n_steps)

    def begin_stored(self):
        """Draw the blocks of a pass over stored planes; return how many visits it has."""
        self.averager.attend(1)
        return self.stored_sampler.begin_pass(self.problem.n_blocks)

    def visit_stored(self, n_steps):
        """Make some of the visits of a pass over stored planes."""
        self.visit_again(self.stored_moves, self.stored_sampler, n_steps)

    def end_pass(self):
        """Drop planes that are of no more use."""
        self.keeper.tidy(self.dual, self.clock)

    def sum_mixes(self):
        """Sum the mixes anew from their planes, where these are known."""
        self.states[0].sum_mixes()

    def learn_gaps(self, gaps):
        """Take over the exact gaps of all blocks."""
        super().learn_gaps(gaps)
        for state in self.states:
            state.total_gap = float(np.sum(gaps))
        self.slopes[:] = gaps
