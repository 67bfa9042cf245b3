"""The state of a run of block-coordinate Frank-Wolfe."""

import numpy as np

from sskit.core.sampler import PromisingSampler
from sskit.solvers.block_coordinate.eviction import tidy
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
    """Make a pass over the blocks of one run or several, and passes that go back to some.

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
        visits = [run.begin_pass(stored=True) for run in runs]
        take_turns([run.visit for run in runs], visits, n_slices)
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
    """The dual point, its averages, its certificate, and who moves it.

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
    visitor : callable
        Makes a `BlockVisitor`, of what all of these take.
    schedule : Schedule
        How many passes over stored planes follow a pass with the oracle. Where none are stored,
        these passes ask the oracles of the blocks that promised something.
    random_state : RandomState
        Order of these passes.
    keep : tuple, default=None
        What `tidy` takes to decide which planes stay; None if none are stored.
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
        visitor,
        schedule,
        random_state,
        keep=None,
        batch_size=1,
        pool=None,
        n_shards=1,
    ):
        super().__init__(problem, regularizer, averager)
        self.sampler, self.schedule, self.keep = sampler, schedule, keep
        self.batches = self.rounds = None
        space = problem.space
        # where a step needs much to be fetched first, blocks with the least gaps do without
        selective = batch_size > 1 and space.is_kernel_space
        self.least_share = LEAST_PROMISE if selective else 0.0
        # where many steps cost less than one after the other; an average follows every step
        together = selective and type(averager) is Averager
        if gaps is not None:
            self.gaps[:] = gaps
            sampler.set_gaps(self.gaps)
        self.promises = np.where(np.isfinite(self.gaps), self.gaps, 0.0)
        places = [self]
        if n_shards > 1:
            self.rounds = Rounds(
                pool.crew, pool.problems[:n_shards], self.dual, regularizer, self.gaps
            )
            places = self.rounds.shards
        if batch_size > 1:
            # a pass has no more
            batch_size = min(batch_size, problem.n_blocks)
            self.batches = Batches(
                pool or Pool(problem), self.dual, regularizer, batch_size, self.gaps, together
            )
        self.visitors = [
            visitor(
                place.problem,
                self.dual,
                place.regularizer,
                averager,
                self.gaps,
                self.promises,
            )
            for place in places
        ]
        # in a kernel space of the blocks that need nothing fetched
        self.promising = PromisingSampler(
            problem.n_blocks,
            random_state,
            self.promises,
            LEAST_PROMISE,
            space.cached_blocks,
            space.arrange if together else None,
        )
        self.stored = False

    @property
    def n_oracle_calls(self):
        """Calls of the oracle so far."""
        return sum(visitor.n_oracle_calls for visitor in self.visitors)

    @property
    def increase(self):
        """By how much all moves so far have increased the dual objective."""
        return (self.rounds or self.visitors[0]).increase

    def run_pass(self):
        """Visit every block once, and stored planes again; return the last known gap."""
        make_pass([self])
        return float(self.gaps.sum())

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
        if self.keep is None:
            self.dual.merge_all()
        for visitor in self.visitors:
            visitor.begin_pass(stored)
        self.averager.attend(int(stored))
        return (self.promising if stored else self.sampler).begin_pass(self.problem.n_blocks)

    def visit(self, n_steps):
        """Make some of the visits of the pass that has begun, in batches or in rounds if asked."""
        sampler = self.promising if self.stored else self.sampler
        visitor = self.visitors[0]
        if self.rounds is not None:
            self.rounds.run_pass(self.visitors, sampler, n_steps, int(self.stored))
        elif self.batches is None or (self.stored and not self.batches.together):
            run_pass(visitor, sampler, n_steps, self.stop)
        elif self.stored:
            self.batches.run_stored(visitor, sampler, n_steps)
        else:
            if self.least_share:
                self.batches.least = self.least_share * self.gaps.mean()
            self.batches.run_pass(visitor, sampler, n_steps)

    def end_pass(self):
        """Drop planes that are of no more use."""
        if self.keep is not None:
            tidy(self.dual, self.visitors[0].clock, *self.keep)

    def certify(self, evaluator):
        """Return the certificate of the last iterate, or of the average if that is better."""
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
        self.gaps[:] = self.promises[:] = gaps
        self.sampler.set_gaps(gaps)
        for visitor in self.visitors:
            visitor.mean_gap = float(np.mean(gaps))
