"""Fits on a cluster: every part stays on the worker that has it."""

import sys
import time
import warnings

import dask

from sskit.dask._parts import error_of, is_lazy
from sskit.dask._sites import ClusterSites
from sskit.dask._tasks import Tasks
from sskit.solvers.distributed.sites import SitesLost

# So often the parts whose tasks are cancelled are asked for again: the scheduler may have been
# restarted, or their data are gone.
MOST_TRIES = 3
# Seconds between two looks whether parts have been computed.
LOOK = 0.05


def find_client(client):
    """Return the client of the cluster that a fit is to use, or None.

    Parameters
    ----------
    client : distributed.Client, False or None
        The parameter of the fit. None is the default client, if there is one; False is none.

    Returns
    -------
    client : distributed.Client or None
        Who has not imported distributed has none.
    """
    distributed = sys.modules.get("distributed")
    if client is None and distributed is not None:
        try:
            # a task that waits for others would take the place that they need
            distributed.get_worker()
            return None
        except ValueError:
            pass
        try:
            client = distributed.default_client()
        except ValueError:
            return None
    if client is None or client is False:
        return None
    if distributed is None or not isinstance(client, distributed.Client):
        raise TypeError(
            f"client must be a distributed.Client, False or None, got {type(client).__name__}"
        )
    if client.asynchronous:
        raise ValueError("client must not be asynchronous, since fit waits for its end")
    return client


class ClusterPlaces:
    """Parts on the workers of a cluster: where they are, or where the scheduler computes them.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    timeout : float
        Seconds to wait for a lost part, or for any worker.
    estimator : StructuredEstimator
        To be fitted.
    parts : list of tuple (X, y, sample_weight, token_weight)
        From `collect`.
    starts : dict of int to WarmStart
        Where parts begin, by their numbers.
    remembers : bool
        Whether a later fit may go on from here.
    last_start : callable
        Returns where a part with a number is to begin after it was lost, `WarmStart` or None.
    """

    passing = False

    def __init__(self, client, timeout, estimator, parts, starts, remembers, last_start):
        self.tasks = Tasks(client, timeout)
        # callbacks stay here
        self.estimator = type(estimator)(**estimator.get_params(deep=False))
        self.parts = parts
        self.starts = dict(starts)
        self.remembers = remembers
        self.last_start = last_start
        self.address = dict.fromkeys(range(len(parts)))
        self.futures = {}
        self.surveys = {}
        self.marks = {}
        self.n_lost = 0

    @property
    def n_sites(self):
        """Number of workers that have parts."""
        return len(set(self.address.values()))

    def survey(self):
        """Return the `Facts` of every part, None for those that have no samples."""
        self.settle(None)
        surveys = [self.surveys[number] for number in range(len(self.parts))]
        for number, survey in enumerate(surveys):
            if survey is None:
                del self.address[number]
        return surveys

    def settle(self, limit):
        """Have every part on a live worker, and surveyed.

        Parameters
        ----------
        limit : float or None
            Seconds to wait for parts to be computed.
        """
        tasks = self.tasks
        while True:
            if tasks.gone:
                self.lose()
                limit = tasks.timeout
            numbers = [number for number in self.address if number not in self.surveys]
            if not numbers:
                return
            unplaced = [number for number in numbers if number not in self.futures]
            if unplaced:
                self.address |= self.locate(unplaced, limit)
            parts = {number: self.futures.get(number) for number in numbers}
            if None in parts.values():
                # a survey that nobody waits for any more has let go of it
                continue
            calls = [
                (self.address[number], self.submit_survey(number, parts.pop(number)))
                for number in numbers
            ]
            try:
                self.surveys |= zip(numbers, tasks.answers(calls), strict=True)
            except SitesLost:
                continue

    def submit_survey(self, number, part):
        """Return the future of the survey of a part; as it was loaded it is then let go."""
        start = self.tasks.scatter(self.starts.get(number))
        survey = self.tasks.submit(
            self.address[number], "survey", number, part, self.estimator, self.remembers, start
        )
        key = part.key

        def let_go(survey):
            # it may have been loaded again since
            if getattr(self.futures.get(number), "key", None) == key:
                self.futures.pop(number, None)

        survey.add_done_callback(let_go)
        return survey

    def lose(self):
        """Forget where the parts are that were on workers which are gone."""
        gone = self.tasks.gone
        lost = [number for number, address in self.address.items() if address in gone]
        warnings.warn(
            f"lost {', '.join(sorted(gone))} with {len(lost)} parts of the data, which are loaded "
            "again",
            UserWarning,
            stacklevel=2,
        )
        self.n_lost += len(lost)
        for number in lost:
            self.address[number] = None
            self.surveys.pop(number, None)
            self.futures.pop(number, None)
            start = self.last_start(number)
            if start is not None:
                self.starts[number] = start
        gone.clear()

    def locate(self, numbers, limit):
        """Let the scheduler compute parts; return the addresses of the workers that have them."""
        began = seen = time.monotonic()
        n_tries = dict.fromkeys(numbers, 0)
        self.futures |= self.compute(numbers)
        while True:
            states = {number: self.futures[number].status for number in numbers}
            again = [number for number in numbers if states[number] in ("cancelled", "lost")]
            for number in again:
                n_tries[number] += 1
                if n_tries[number] > MOST_TRIES:
                    raise ValueError(
                        f"part {number}: its data are gone, since a worker was lost, expected data "
                        "that can be computed again"
                    )
            if again:
                time.sleep(LOOK)
                # by themselves, so that what one part lacks stops no other
                for number in again:
                    self.futures |= self.compute([number])
                continue
            waiting = [number for number in numbers if states[number] == "pending"]
            if not waiting:
                break
            if self.tasks.live():
                seen = time.monotonic()
            elif time.monotonic() - seen > self.tasks.timeout:
                self.tasks.refuse_to_wait(f"a worker to compute part {waiting[0]}")
            if limit is not None and time.monotonic() - began > limit:
                raise ValueError(
                    f"part {waiting[0]}: it was lost with a worker, and not computed again within "
                    f"{limit:g} seconds; see timeout"
                )
            time.sleep(LOOK)
        for number in numbers:
            if states[number] == "error":
                error = self.futures[number].exception()
                raise error_of(number, error) from error
        return self.find(numbers, limit)

    def find(self, numbers, limit):
        """Return the addresses of the workers that have parts, which are computed."""
        futures = [self.futures[number] for number in numbers]
        has = self.tasks.client.who_has(futures)
        found = {
            number: next(iter(has.get(future.key) or ()), None)
            for number, future in zip(numbers, futures, strict=True)
        }
        if None in found.values():
            return self.locate(numbers, limit)
        return found

    def compute(self, numbers):
        """Return futures of parts by number; data that are no collections are sent."""
        delayed, futures = {}, {}
        for number in numbers:
            values = self.parts[number]
            if any(is_lazy(value) for value in values):
                name = f"sskit-part-{number}-{self.tasks.fit}-{time.monotonic_ns()}"
                together = dask.delayed(as_part, pure=False, traverse=False)
                delayed[number] = together(*values, dask_key_name=name)
            else:
                futures[number] = self.tasks.scatter(values)
        found = self.tasks.client.compute(list(delayed.values()))
        return futures | dict(zip(delayed, found, strict=True))

    def count(self, facts):
        """Return what a second look at each part says, given the facts of all."""
        return self.ask(
            lambda: [(place, "count", number, facts) for number, place in self.address.items()]
        )

    def make_plan(self, estimator, facts, solver, seeds):
        """Return the `Plan` of the fit, and the `TrainingTask` without its problem."""
        rest = self.estimator, facts, solver, seeds

        def calls():
            number = min(self.address)
            return [(self.address[number], "make_plan", number, *rest)]

        return self.ask(calls)[0]

    def ask(self, calls):
        """Return the answers to the calls that a function makes, anew if a worker is lost."""
        while True:
            try:
                return self.tasks.call(calls())
            except SitesLost:
                self.settle(self.tasks.timeout)

    def begin(self, plan, stop):
        """Load every part once; see `LocalPlaces.begin`."""
        sites = ClusterSites(self, plan)
        return sites, *sites.begin()

    def advance(self, *stages, points):
        """Let every part go on to a later stage; see `LocalPlaces.advance`."""
        return self.ask(
            lambda: [
                (place, "advance", number, *stages, points[number])
                for number, place in self.address.items()
            ]
        )

    def fingerprints(self):
        """Return the fingerprints of the problems of the parts by number, if they are wanted."""
        return self.marks

    def close(self):
        """Let the workers forget the fit."""
        self.futures.clear()
        self.tasks.close()


def as_part(*values):
    """Return a part as it comes to its worker."""
    return values
