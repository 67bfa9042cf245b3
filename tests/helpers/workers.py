"""Workers in this process, as many as one likes."""

import numpy as np

from sskit.core.stop import Stop
from sskit.solvers.common.fit import Fit
from sskit.solvers.common.progress import Progress
from sskit.solvers.common.solution import Proof
from sskit.solvers.distributed.run import DistributedRun, Record
from sskit.solvers.distributed.worker import PartRun, Worker


class LocalWorkers:
    """What a run asks of workers, done by one after the other."""

    n_bytes = n_lost = 0

    def __init__(self, problems, owners, solver, make_regularizer, keeps=True, worker=Worker):
        bounded = make_regularizer().bounded
        self.solver = solver.resolved(problems[0], bounded)
        self.problems, self.keeps = problems, keeps
        self.make_regularizer, self.worker = make_regularizer, worker
        self.stop = Stop()
        owned = [np.flatnonzero(np.equal(owners, owner)).tolist() for owner in sorted(set(owners))]
        self.workers = list(map(self.make_worker, owned))

    def make_part(self, number, regularizer):
        seed, lam = np.random.RandomState(number), self.make_regularizer().lam
        return PartRun(
            lambda: self.problems[number], self.solver, regularizer, lam, seed, self.stop,
            keeps=self.keeps,
        )  # fmt: skip

    def make_parts(self, numbers, regularizer):
        return {number: self.make_part(number, regularizer) for number in numbers}

    def make_worker(self, numbers):
        regularizer = self.make_regularizer()
        parts = self.make_parts(numbers, regularizer)
        order = np.random.RandomState(numbers[0])
        return self.worker(parts, regularizer, self.stop, order)

    def begin(self):
        return [worker.begin(len(self.workers)) for worker in self.workers]

    def ask(self, method, *args):
        return [getattr(worker, method)(*args) for worker in self.workers]

    def save(self):
        return {number: point for saved in self.ask("save") for number, point in saved.items()}


def make_fit(workers, gap_every=10):
    """Return the fit of a run on workers, which have begun."""
    run = DistributedRun(workers, workers.make_regularizer(), Record(workers))
    unit, proof = run.begin()
    progress = Progress("workers", 0)
    fit = Fit(run, unit, gap_every=gap_every, proof=proof, stop=workers.stop, progress=progress)
    assert fit.proof in Proof
    return fit
