"""The workers of a fit: one in this process; base of those of a cluster."""

from functools import partial
from typing import NamedTuple

import dask

from sskit.dask._parts import Part, is_lazy
from sskit.dask._worker import DataWorker
from sskit.solvers.distributed.run import WorkersLost, persist


class Held(NamedTuple):
    """A worker and the parts that it has.

    Attributes
    ----------
    worker : DataWorker or Actor
        The object whose methods are called.
    numbers : list of int
        Its parts.
    future : Future or None
        Of the actor.
    """

    worker: object
    numbers: list
    future: object = None


class Workers:
    """Parts in this process; lazy ones are computed for each pass, and dropped.

    Parameters
    ----------
    estimator : StructuredEstimator
        To be fitted.
    parts : list of tuple (X, y, sample_weight, token_weight)
        From `collect`.
    starts : dict of int to WarmStart
        Warm starts of parts, by their numbers.
    remembers : bool
        Whether a later fit may continue from here.

    Attributes
    ----------
    plan : Plan
        Of the fit, once there is one.
    stop : Stop
        Tells when to end.
    n_bytes, n_lost : int
        Bytes that were sent, and number of parts that were lost and loaded again.
    """

    n_bytes = n_lost = 0

    def __init__(self, estimator, parts, starts, remembers):
        self.estimator, self.parts = estimator, parts
        self.starts, self.remembers = dict(starts), remembers
        self.lazy = [any(map(is_lazy, values)) for values in parts]
        self.plan = self.stop = None
        self.held, self.missing, self.summaries = [], [*range(len(parts))], {}

    def make_part(self, number, load, keeps):
        """Return a `Part`."""
        start = self.starts.get(number)
        return Part(number, self.estimator, load, keeps, self.remembers, start)

    def hold(self):
        """Make workers of the parts that are missing."""
        parts = {
            n: self.make_part(n, partial(compute_here, self.parts[n]), not self.lazy[n])
            for n in self.missing
        }
        self.held.append(Held(DataWorker(parts), self.missing))

    def settle(self):
        """Give all parts a worker, and let it summarise them."""
        while True:
            try:
                if self.missing:
                    self.hold()
                    self.missing = []
                self.summaries |= union(self.ask("summarize"))
                break
            except WorkersLost:
                continue
        # those that have samples
        self.held = [
            held for held in self.held if any(self.summaries[n] is not None for n in held.numbers)
        ]

    def summarize(self):
        """Return the `Summary` of every part, None for those that have no samples."""
        self.settle()
        return [self.summaries[number] for number in range(len(self.parts))]

    def ask(self, method, *args, n_asked=None):
        """Return the results of a method of all workers, or of some.

        Parameters
        ----------
        method : str
            Its name.
        *args : object
            Its arguments.
        n_asked : int, default=None
            Number of workers that are called; None: all.

        Returns
        -------
        answers : list
            By worker.

        Raises
        ------
        WorkersLost
            If some were lost.
        """
        return [getattr(held.worker, method)(*args) for held in self.held[:n_asked]]

    def surely(self, method, *args, n_asked=None):
        """Return the answers of the workers; calls are repeated if some are lost meanwhile."""
        return persist(partial(self.ask, method, *args, n_asked=n_asked), self.settle)

    def count(self, summary):
        """Return the counts of a second pass over each part, given the summary of all."""
        counts = union(self.surely("count", summary))
        return [counts[number] for number in sorted(counts)]

    def begin(self):
        """Let all workers begin; return the result of each, see `Worker.begin`."""
        self.settle()
        return self.ask("begin", self.plan, len(self.held), self.stop)

    def save(self):
        """Return fingerprint and `DualPoint` of every part by number."""
        return union(self.ask("save"))

    def close(self):
        """Drop everything."""
        self.held.clear()


def union(answers):
    """Return the answers of workers, which are dicts by part, as one."""
    return {number: value for answer in answers for number, value in answer.items()}


def compute_here(values):
    """Return values, computed by this thread if they are lazy."""
    return dask.compute(*values, traverse=False, scheduler="synchronous")
