"""States of runs of block-coordinate Frank-Wolfe."""

import numpy as np

from sskit.core._sampler import PermutationSampler
from sskit.solvers import _active_set, _bcfw
from sskit.solvers._certify import certify_dual_point, certify_weights
from sskit.solvers._dual_run import DualRun
from sskit.solvers._visit import Visit


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
    """

    def __init__(self, problem, regularizer, sampler, averager, gaps):
        super().__init__(problem, regularizer, averager)
        self.sampler = sampler
        if gaps is not None:
            self.gaps[:] = gaps
            sampler.set_gaps(self.gaps)

    def certify(self, evaluator):
        """Return the certificate of the last iterate, or of the average if that is better."""
        self.dual.rebuild(self.problem, self.regularizer)
        last, gaps = certify_dual_point(self.problem, self.regularizer, self.dual, evaluator)
        self.learn_gaps(gaps)
        loss = float(np.dot(self.problem.block_weight, self.dual.losses()))
        v = np.asarray(self.regularizer.v)[: self.problem.n_weights]
        average = self.averager.average(v, loss)
        if average is None:
            return last
        v_average, loss_average = average
        dual = max(last.dual, self.regularizer.dual(v_average, loss_average))
        averaged = certify_weights(
            self.problem, self.regularizer, self.regularizer.image(v_average), dual, evaluator
        )
        return averaged if averaged.primal < last.primal else last

    def learn_gaps(self, gaps):
        """Take over the exact gaps of all blocks."""
        self.gaps[:] = gaps
        self.sampler.set_gaps(gaps)


class PlainRun(BlockCoordinateRun):
    """Plain steps: a visit leaves nothing behind but the mix of the block."""

    def __init__(self, problem, regularizer, sampler, averager, gaps):
        super().__init__(problem, regularizer, sampler, averager, gaps)
        self.visit = Visit(problem)
        self.n_oracle_calls = 0

    def run_pass(self):
        """Take one step for every block; return the sum of the gaps last seen."""
        n_steps = self.problem.n_blocks
        self.sampler.begin_pass(n_steps)
        _bcfw.run_pass(
            self.problem,
            self.dual,
            self.regularizer,
            self.sampler,
            self.averager,
            self.visit,
            n_steps,
            self.gaps,
        )
        self.n_oracle_calls += n_steps
        return float(self.gaps.sum())


class ActiveSetRun(BlockCoordinateRun):
    """Steps between stored planes.

    Parameters
    ----------
    problem, regularizer, sampler, averager, gaps : object
        As for the other runs.
    step : Step
        End points of the steps.
    random_state : RandomState
        Order of the passes over stored planes.
    block_steps : int
        Largest number of steps within a block at one visit.
    stored_passes : int
        Passes over stored planes after each pass with oracle calls.
    cache : tuple of float or None
        Shares (F, nu) of algorithm 5 of Osokin et al. 2016; None always asks the oracle.
    plane_life : int
        Passes after which a plane without weight goes if it was not found again.
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
        stored_passes,
        cache,
        plane_life,
    ):
        super().__init__(problem, regularizer, sampler, averager, gaps)
        self.state = _active_set.ActiveSetState(
            problem, self.dual, regularizer, averager, step, block_steps, self.gaps
        )
        if cache is None:
            self.move = _active_set.Move(self.state)
        else:
            self.move = _active_set.CachedMove(self.state, *cache)
        self.stored_move = _active_set.StoredMove(self.state)
        self.stored_sampler = PermutationSampler(problem.n_blocks, random_state)
        self.stored_passes = stored_passes
        self.plane_life = plane_life

    @property
    def n_oracle_calls(self):
        """Calls of the oracle by the moves so far."""
        return self.state.n_oracle_calls

    def run_pass(self):
        """Visit every block once, and its stored planes again; return the last known gap."""
        n_steps = self.problem.n_blocks
        self.state.clock += 1
        self.sampler.begin_pass(n_steps)
        _active_set.run_pass(self.move, self.sampler, n_steps)
        for _ in range(self.stored_passes):
            self.stored_sampler.begin_pass(n_steps)
            _active_set.run_pass(self.stored_move, self.stored_sampler, n_steps)
        self.dual.retire_all(self.state.clock - self.plane_life, True)
        return float(self.gaps.sum())

    def certify(self, evaluator):
        """Return the certificate of the last iterate, or of the average if that is better."""
        self.state.sum_mixes()
        return super().certify(evaluator)

    def learn_gaps(self, gaps):
        """Take over the exact gaps of all blocks."""
        super().learn_gaps(gaps)
        self.state.total_gap = float(np.sum(gaps))
