"""Places of parts in this process, as many as one likes."""

import numpy as np
from sklearn.base import clone

from helpers.parts import CASES, split
from sskit.core.stop import Stop
from sskit.estimators.reading.summary import merge_summaries
from sskit.solvers.common.fit import Fit
from sskit.solvers.common.progress import Progress
from sskit.solvers.common.solution import Proof
from sskit.solvers.distributed.local import DualPart, LocalDual
from sskit.solvers.distributed.run import DistributedRun, Record


class ManyPlaces:
    """What a run asks of places, done at one after the other."""

    n_bytes = n_lost = 0

    def __init__(self, problems, owners, solver, make_regularizer, keeps=True, kind=LocalDual):
        bounded = make_regularizer().bounded
        self.solver = solver.resolved(problems[0], bounded)
        self.problems, self.keeps = problems, keeps
        self.make_regularizer, self.kind = make_regularizer, kind
        self.stop = Stop()
        owned = [np.flatnonzero(np.equal(owners, owner)).tolist() for owner in sorted(set(owners))]
        self.places = list(map(self.make_place, owned))

    def make_part(self, number, regularizer):
        seed, lam = np.random.RandomState(number), self.make_regularizer().lam
        return DualPart(
            lambda: self.problems[number], self.solver, regularizer, lam, seed, self.stop,
            keeps=self.keeps,
        )  # fmt: skip

    def make_parts(self, numbers, regularizer):
        return {number: self.make_part(number, regularizer) for number in numbers}

    def make_place(self, numbers):
        regularizer = self.make_regularizer()
        parts = self.make_parts(numbers, regularizer)
        order = np.random.RandomState(numbers[0])
        return self.kind(parts, regularizer, self.stop, order)

    def begin(self):
        return [place.begin(len(self.places)) for place in self.places]

    def ask(self, method, *args):
        return [getattr(place, method)(*args) for place in self.places]

    def save(self):
        return {number: point for saved in self.ask("save") for number, point in saved.items()}


def make_fit(places, gap_every=10):
    """Return the fit of a run on places, which have begun."""
    run = DistributedRun(places, places.make_regularizer(), Record(places))
    unit, proof = run.begin()
    progress = Progress("places", 0)
    fit = Fit(run, unit, gap_every=gap_every, proof=proof, stop=places.stop, progress=progress)
    assert fit.proof in Proof
    return fit


def tasks_of(name, n_parts, **options):
    """Training tasks of the parts of a case, and that of all data."""
    estimator, *data = CASES[name]
    estimator = clone(estimator).set_params(**options)
    checked = [estimator._read_data(*part, part=True) for part in split(data, n_parts)]
    merged = merge_summaries([part.summary for part in checked])
    agreed = estimator._agree(merged, estimator._options())
    summary = estimator._summarize_again(
        agreed, lambda f: [estimator._count(part, f) for part in checked]
    )
    tasks = [estimator._bind_scaled(part, summary) for part in checked]
    return tasks, estimator._make_task(*data)
