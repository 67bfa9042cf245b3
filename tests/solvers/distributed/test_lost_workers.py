"""Workers are lost at every moment that there is: the fit goes on, and its certificate is true."""

import numpy as np
import pytest
from helpers.parts import CASES, split
from helpers.workers import LocalWorkers, make_fit
from sklearn.base import clone

from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW
from sskit.solvers.common.solution import Status
from sskit.solvers.distributed.run import WorkersLost
from sskit.solvers.distributed.worker import Worker
from sskit.solvers.oracle_calls.pool import make_pool

LAM = 0.2
N_PARTS = 4
STARTS = ("visit", "evaluate", "follow", "begin")


class Mortal(Worker):
    """A worker that may be lost whenever something is asked of it."""

    clock = None

    def __getattribute__(self, name):
        if name in STARTS:
            object.__getattribute__(self, "clock").tick(self)
        return super().__getattribute__(name)


class Clock:
    """Counts what is asked of all workers; at some moments one is lost."""

    def __init__(self, fatal):
        self.fatal = fatal
        self.moment = 0
        self.lost = None

    def tick(self, worker):
        self.moment += 1
        if self.moment in self.fatal:
            self.lost = worker
            raise WorkersLost(f"at moment {self.moment}")


class MortalWorkers(LocalWorkers):
    """Workers of which one is lost now and then; its parts go to another, or to a new one."""

    def __init__(self, tasks, owners, joins):
        self.joins, self.clock = joins, Clock(())
        problems, n_weights = [task.problem for task in tasks], tasks[0].layout.n_weights
        super().__init__(
            problems,
            owners,
            BCFW(averaging=False),
            lambda: Regularizer(LAM, n_weights),
            worker=Mortal,
        )

    def make_worker(self, numbers):
        worker = super().make_worker(numbers)
        worker.clock = self.clock
        return worker

    def begin(self):
        """As on a cluster: parts that were put somewhere stay there if that is interrupted."""
        lost = self.clock.lost
        if lost in self.workers:
            numbers, place = list(lost.parts), self.workers.index(lost)
            self.n_lost += len(numbers)
            self.workers.remove(lost)
            if self.joins and self.workers:
                first = self.workers[0]
                first.parts |= self.make_parts(numbers, first.regularizer)
            else:
                self.workers.insert(place, self.make_worker(numbers))
        return super().begin()


@pytest.fixture(scope="module")
def tasks():
    """Training tasks of the parts, and that of all data."""
    estimator, *data = CASES["rows with weights"]
    estimator = clone(estimator)
    checked = [estimator._read_data(*part, part=True) for part in split(data, N_PARTS)]
    summary = estimator._agree([estimator._summarize(part) for part in checked])
    summary = estimator._with_columns(summary)
    whole = estimator._make_task(*data)
    return [estimator._bind_scaled(part, summary) for part in checked], whole


def fit(tasks, owners, fatal=(), joins=True, tol=0.05):
    """A fit that loses workers at some moments; its solution, run, and moments."""
    workers = MortalWorkers(tasks, owners, joins)
    driver = make_fit(workers, gap_every=5)
    workers.clock.fatal, workers.clock.moment = fatal, 0
    status = driver.reach(tol, max_iter=5000)
    assert status == Status.CONVERGED
    return driver.solution(status), driver.run, workers.clock.moment


@pytest.mark.parametrize("joins", [True, False])
@pytest.mark.parametrize("owners", [[0, 1, 0, 1], [0, 1, 2, 2], [0, 0, 0, 0]])
def test_a_worker_is_lost_at_any_moment(tasks, owners, joins):
    parts, whole = tasks
    reference, _, n_moments = fit(parts, owners, joins=joins)
    evaluator = make_pool(whole.problem)
    regularizer = Regularizer(LAM, whole.layout.n_weights)
    # the first rounds and the last ones, and some of those between
    first, last = range(1, min(16, n_moments + 1)), range(max(n_moments - 9, 1), n_moments + 1)
    for moment in sorted({*first, *range(16, n_moments, 29), *last}):
        # in turn alone, and with a second one that is lost while the first one is replaced
        fatal = {moment} if moment % 2 == joins else {moment, moment + 1 + moment % 5}
        solution, run, _ = fit(parts, owners, fatal, joins)
        hinges = evaluator.hinges(regularizer.padded(solution.w))
        value = 0.5 * LAM * solution.w @ solution.w + whole.problem.block_weight @ hinges
        assert solution.certified
        assert solution.primal == pytest.approx(value, rel=1e-9)
        assert solution.dual <= reference.primal * (1 + 1e-9)
        assert reference.dual <= value * (1 + 1e-9)
        rounds = run.history()
        assert run.workers.n_lost > 0
        # what is lost after the last round is in no row
        assert rounds["n_lost"].sum() in (run.workers.n_lost, run.n_lost)
        assert np.all(np.diff(solution.history["n_oracle_calls"]) >= 0)
