"""Where the parts of a fit are in this process; base of places elsewhere."""

from functools import partial
from typing import NamedTuple

import dask

from sskit.dask._parts import Part, is_lazy
from sskit.dask._share import Share
from sskit.solvers.distributed.run import SitesLost


class Held(NamedTuple):
    """A share, or the actor that is one, and the parts that it has.

    Attributes
    ----------
    share : Share or Actor
        What is asked.
    numbers : list of int
        Its parts, those without samples aside once they are surveyed.
    future : Future or None
        Of the actor.
    """

    share: object
    numbers: list
    future: object = None


class Places:
    """Parts in this process; those that have yet to be computed are so for each pass, and dropped.

    Parameters
    ----------
    estimator : StructuredEstimator
        To be fitted.
    parts : list of tuple (X, y, sample_weight, token_weight)
        From `collect`.
    starts : dict of int to WarmStart
        Where parts begin, by their numbers.
    remembers : bool
        Whether a later fit may go on from here.

    Attributes
    ----------
    plan : Plan
        Of the fit, once there is one.
    stop : Stop
        Says when to end.
    marks : dict of int to Fingerprint
        Of the problems of the parts, once they have begun, if they are wanted.
    n_bytes, n_lost : int
        What was sent, and parts that were lost and loaded again.
    """

    n_bytes = n_lost = 0

    def __init__(self, estimator, parts, starts, remembers):
        self.estimator, self.parts = estimator, parts
        self.starts, self.remembers = dict(starts), remembers
        self.lazy = [any(map(is_lazy, values)) for values in parts]
        self.plan = self.stop = None
        self.surveys, self.marks = {}, {}
        self.held, self.missing = [], [*range(len(parts))]

    @property
    def passing(self):
        """Whether parts are computed anew for each pass."""
        return any(self.lazy)

    def make_part(self, number, load, keeps):
        """Return a `Part`."""
        start = self.starts.get(number)
        return Part(number, self.estimator, load, keeps, self.remembers, start)

    def hold(self):
        """Make shares of the parts that are missing."""
        parts = {
            number: self.make_part(
                number, partial(compute_here, self.parts[number]), not self.lazy[number]
            )
            for number in self.missing
        }
        self.held.append(Held(Share(parts), self.missing))

    def settle(self):
        """Have all parts in shares, and surveyed."""
        while True:
            try:
                if self.missing:
                    self.hold()
                    self.missing = []
                for surveys in self.ask("survey"):
                    self.surveys |= surveys
                break
            except SitesLost:
                continue
        for k, held in enumerate(self.held):
            full = [number for number in held.numbers if self.surveys[number] is not None]
            self.held[k] = held._replace(numbers=full)
        self.held = [held for held in self.held if held.numbers]

    def survey(self):
        """Return the `Facts` of every part, None for those that have no samples."""
        self.settle()
        return [self.surveys[number] for number in range(len(self.parts))]

    def ask(self, method, *args, n_asked=None):
        """Return what a method of all shares returns, or of some.

        Parameters
        ----------
        method : str
            Its name.
        *args : object
            What it is given.
        n_asked : int, default=None
            How many are asked; None: all.

        Returns
        -------
        answers : list
            By share.

        Raises
        ------
        SitesLost
            If some are gone.
        """
        return self.answers([(held, method, *args) for held in self.held[:n_asked]])

    def answers(self, calls):
        """Return the answers to calls, each of (Held, name of the method, *arguments)."""
        return [getattr(held.share, method)(*args) for held, method, *args in calls]

    def surely(self, method, *args, n_asked=None):
        """Return what shares answer, which are asked anew if some are lost meanwhile."""
        while True:
            try:
                return self.ask(method, *args, n_asked=n_asked)
            except SitesLost:
                self.settle()

    def count(self, facts):
        """Return what a second look at each part says, given the facts of all."""
        found = {}
        for counted in self.surely("count", facts):
            found |= counted
        return [found[number] for number in sorted(found)]

    def make_plan(self, *given):
        """Return the `Plan` of the fit, and the `TrainingTask` without its problem."""
        return self.surely("make_plan", *given, n_asked=1)[0]

    def advance(self, *stages):
        """Let every part go on to a later stage; return what `Part.advance` says of each."""
        return sum(self.surely("advance", *stages), [])

    def limits(self):
        """Return what sites know of when to end."""
        return self.stop

    # what a run asks of its sites, see `DistributedRun`

    def begin(self):
        """Let all sites begin; return what each says, see `Site.begin`."""
        self.settle()
        begun, marks = zip(
            *self.ask("begin", self.plan, len(self.held), self.limits()), strict=True
        )
        for each in marks:
            self.marks |= each
        return begun

    def call(self, method, news, *args):
        """Let all sites follow the news, and return what a method then does."""
        return self.ask("call", news, method, *args)

    def save(self):
        """Yield (number, `DualPoint`) for every part."""
        for held in self.held:
            for number in held.numbers:
                yield number, self.answers([(held, "save", number)])[0]

    def close(self):
        """Forget everything."""
        self.held.clear()


def compute_here(values):
    """Return values that may be lazy, computed by this thread."""
    return dask.compute(*values, traverse=False, scheduler="synchronous")
