"""Fits on a cluster: every part stays on the worker that has it."""

import sys
import time
import warnings
from typing import NamedTuple

import dask

from sskit.dask._parts import error_of, is_lazy
from sskit.dask._tasks import Tasks
from sskit.solvers.distributed.pieces import n_pieces_of
from sskit.solvers.distributed.sites import Sites, SitesLost

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
    parts : list of tuple (X, y, sample_weight)
        From `collect`.
    starts : dict of int to WarmStart
        Where parts begin, by their numbers.
    remembers : bool
        Whether a later fit may go on from here.
    last_start : callable
        Returns where a part with a number is to begin after it was lost, `WarmStart` or None.
    """

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
            unplaced = [number for number, address in self.address.items() if address is None]
            if unplaced:
                self.address |= self.locate(unplaced, limit)
            numbers = [number for number in self.address if number not in self.surveys]
            if not numbers:
                return
            calls = [
                (
                    self.address[number],
                    "survey",
                    number,
                    self.futures[number],
                    self.estimator,
                    self.remembers,
                    tasks.scatter(self.starts.get(number)),
                )
                for number in numbers
            ]
            try:
                self.surveys |= zip(numbers, tasks.call(calls), strict=True)
            except SitesLost:
                continue

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

    def make_plan(self, estimator, facts, solver, seeds):
        """Return the `Plan` of the fit, and the `TrainingTask` without its problem."""
        while True:
            number = min(self.address)
            call = (
                self.address[number], "make_plan", number, self.estimator, facts, solver, seeds
            )  # fmt: skip
            try:
                return self.tasks.call([call])[0]
            except SitesLost:
                self.settle(self.tasks.timeout)

    def begin(self, plan, stop):
        """Load every part once; see `LocalPlaces.begin`."""
        sites = ClusterSites(self, plan)
        return sites, *sites.begin()

    def fingerprints(self):
        """Return the fingerprints of the problems of the parts by number, if they are wanted."""
        return self.marks

    def close(self):
        """Let the workers forget the fit."""
        self.futures.clear()
        self.tasks.close()


class Begun(NamedTuple):
    """What sites say when they have begun, each a tuple with an entry for every site.

    Attributes
    ----------
    unit : tuple of float
        What the parts add to P(0).
    exact : tuple of bool
        Whether all oracles truly maximise.
    reports : tuple of Report
        Of the parts.
    marks : tuple of dict of int to Fingerprint
        Of the parts, if they are wanted.
    """

    unit: tuple
    exact: tuple
    reports: tuple
    marks: tuple


class ClusterSites(Sites):
    """Sites on the workers of a cluster, one on each that has parts.

    Parameters
    ----------
    places : ClusterPlaces
        Where the parts are; all of them are surveyed.
    plan : Plan
        Of the fit.
    """

    def __init__(self, places, plan):
        self.places = places
        self.tasks = places.tasks
        self.plan = plan
        self.addresses = []

    @property
    def n_sites(self):
        """How many there are."""
        return len(self.addresses)

    @property
    def n_lost(self):
        """Parts that have been lost, and were loaded again."""
        return self.places.n_lost

    def begin(self):
        """Make the sites; return P(0), and whether all oracles truly maximise."""
        while True:
            try:
                found = self.take()
                self.merge(anew=True)
                return sum(found.unit), all(found.exact)
            except SitesLost:
                self.places.settle(self.tasks.timeout)

    def take(self):
        """Let every worker have a site of its parts; return what these say, `Begun`."""
        places = self.places
        parts = {}
        for number, address in sorted(places.address.items()):
            parts.setdefault(address, []).append(number)
        self.addresses = list(parts)
        plan = self.tasks.scatter(self.plan)
        calls = [(address, "take", parts[address], self.n_sites, plan) for address in parts]
        found = Begun(*zip(*self.tasks.call(calls), strict=True))
        # what is bound needs no data any more but its own
        places.futures.clear()
        for marks in found.marks:
            places.marks |= marks
        return found

    def recover(self):
        """Put the parts of lost sites elsewhere; see `Sites`."""
        self.places.settle(self.tasks.timeout)
        return list(self.take().reports)

    def at_all(self, method, *args, stop=None):
        """Return what a method of all sites returns."""
        return self.tasks.call([(address, method, *args) for address in self.addresses], stop)

    def visit(self, extrapolation, stop):
        """Let every site make a pass; return a list of `Report`."""
        limits = (stop.seconds_left, stop.n_presses)
        return self.at_all("visit", extrapolation, limits, stop=stop)

    def evaluate(self, stop):
        """Let every site make an exact pass; return a list of (`Report`, hinge)."""
        limits = (stop.seconds_left, stop.n_presses)
        return self.at_all("evaluate", limits, stop=stop)

    def merge(self, anew):
        """Add up what all sites have found, and let them follow; see `Sites`.

        Pieces go from worker to worker. Where the weights are few there is one piece.
        """
        if self.n_sites == 1 and not anew:
            norms = self.at_all("norms")[0]
        else:
            norms = self.exchange(anew)
        self.tasks.n_losses = 0
        return norms

    def exchange(self, anew):
        """Let sites add up pieces, and follow."""
        submit, addresses = self.tasks.submit, self.addresses
        n = n_pieces_of(self.plan.n_weights, self.n_sites)
        owners = addresses[:n]
        outgoing = [
            [(address, submit(address, "outgoing", k, n)) for address in addresses]
            for k in range(n)
        ]
        combined = [
            (owner, submit(owner, "combine", k, n, k, [piece for _, piece in outgoing[k]], anew))
            for k, owner in enumerate(owners)
        ]
        pieces = [piece for _, piece in combined]
        follow = [
            (address, submit(address, "follow", j if j < n else -1, pieces, anew))
            for j, address in enumerate(addresses)
        ]
        before = [task for group in outgoing for task in group] + combined
        found = self.tasks.answers(follow, also=before)
        self.n_bytes += sum(sent for _, sent in found)
        return found[0][0]

    def total(self):
        """Return the dual sum of all sites, shape (n_weights,)."""
        return self.tasks.call([(self.addresses[0], "total")])[0]

    def save(self):
        """Yield (number, `DualPoint`) for every part."""
        for number in sorted(self.places.address):
            yield number, self.point(number)

    def point(self, number):
        """Return the `DualPoint` of a part."""
        while True:
            try:
                return self.tasks.call([(self.places.address[number], "save", number)])[0]
            except SitesLost:
                self.restore()

    def restore(self):
        """Let all sites follow the dual variables that are left, after some were lost."""
        while True:
            try:
                self.recover()
                self.merge(anew=True)
                break
            except SitesLost:
                continue


def as_part(X, y, sample_weight):
    """Return a part as it comes to its worker."""
    return X, y, sample_weight
