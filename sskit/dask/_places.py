"""Where the parts of a fit are: in this process, or (see `Cluster`) on the workers of a cluster."""

from functools import partial
from typing import NamedTuple

import dask

from sskit.dask._local import LocalFit
from sskit.dask._parts import Part, is_lazy
from sskit.solvers.distributed.run import PartsLost, persist


class Place(NamedTuple):
    """A place and the parts that it has.

    Attributes
    ----------
    local : LocalFit or Actor
        The object whose methods are called.
    numbers : list of int
        Its parts.
    future : Future or None
        Of the actor.
    """

    local: object
    numbers: list
    future: object = None


class Places:
    """Where the parts of a fit are, and calls of all: base of `InProcess` and `Cluster`.

    A subclass has `hold`, which makes places of the parts that are missing, and `call_each`.

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
        self.places, self.missing, self.summaries = [], [*range(len(parts))], {}

    def make_part(self, number, load, keeps):
        """Return a `Part`."""
        start = self.starts.get(number)
        return Part(number, self.estimator, load, keeps, self.remembers, start)

    def settle(self):
        """Give all parts a place, and let it summarise them."""
        while True:
            try:
                if self.missing:
                    self.hold()
                    self.missing = []
                self.summaries |= union(self.ask("summarize"))
                break
            except PartsLost:
                continue
        # those that have samples
        self.places = [
            place
            for place in self.places
            if any(self.summaries[n] is not None for n in place.numbers)
        ]

    def summarize(self):
        """Return the `Summary` of every part, None for those that have no samples."""
        self.settle()
        return [self.summaries[number] for number in range(len(self.parts))]

    def ask(self, method, *args, n_asked=None):
        """Return the results of a method of all places, or of some.

        Parameters
        ----------
        method : str
            Its name, of `LocalFit`.
        *args : object
            Its arguments.
        n_asked : int, default=None
            Number of places that are asked; None: all.

        Returns
        -------
        answers : list
            By place.

        Raises
        ------
        PartsLost
            If some were lost.
        """
        return self.call_each(self.places[:n_asked], method, args)

    def surely(self, method, *args, n_asked=None):
        """Return the answers of the places; calls are repeated if parts are lost meanwhile."""
        return persist(partial(self.ask, method, *args, n_asked=n_asked), self.settle)

    def count(self, summary):
        """Return the counts of a second pass over each part, given the summary of all."""
        counts = union(self.surely("count", summary))
        return [counts[number] for number in sorted(counts)]

    def begin(self):
        """Let all places begin; return the result of each, see `LocalDual.begin`."""
        self.settle()
        return self.ask("begin", self.plan, len(self.places), self.stop, self.find_helpers())

    def find_helpers(self):
        """Return others that answer for the oracles of the only place, by address, made ready."""
        return {}

    def save(self):
        """Return fingerprint and `DualPoint` of every part by number."""
        return union(self.ask("save"))

    def count_workers(self):
        """Return how many workers have parts."""
        return len(self.places)

    def close(self):
        """Drop everything."""
        self.places.clear()


class InProcess(Places):
    """Parts in this process, one place; lazy ones are computed for each pass, and dropped."""

    def hold(self):
        """Make a place of the parts that are missing."""
        parts = {
            n: self.make_part(n, partial(compute_here, self.parts[n]), not self.lazy[n])
            for n in self.missing
        }
        self.places.append(Place(LocalFit(parts), self.missing))

    def call_each(self, places, method, args):
        """Return the results of a method of some places."""
        return [getattr(place.local, method)(*args) for place in places]


def union(answers):
    """Return the answers of places, which are dicts by part, as one."""
    return {number: value for answer in answers for number, value in answer.items()}


def compute_here(values):
    """Return values, computed by this thread if they are lazy."""
    return dask.compute(*values, traverse=False, scheduler="synchronous")
