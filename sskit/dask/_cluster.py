"""The workers of a Dask cluster, each with the parts that the scheduler puts there."""

import math
import sys
import threading
import time
import warnings
from collections import Counter, defaultdict
from contextlib import suppress

import dask
from dask.sizeof import sizeof

from sskit.dask._helpers import LATE, POLL
from sskit.dask._local import LocalFit
from sskit.dask._parts import Part, error_of, has_dense_rows
from sskit.dask._places import Place, Places
from sskit.solvers.distributed.run import PartsLost

# An actor binds the client that is the current one, which Dask keeps in its configuration: two
# threads that set it in turns would leave it set.
CURRENT = threading.Lock()
# How often parts are asked for again when their futures are cancelled: the scheduler may have been
# restarted, or their data are gone.
MOST_TRIES = 4
# After so many losses without a pass in between the fit raises an error.
MOST_LOSSES = 10
# Data that are put together on a worker are at most this share of its memory: reading makes a copy,
# and there are weights and dual variables.
LARGEST_SHARE = 0.25


def find_client(client):
    """Return the client of the cluster that a fit is to use, or None.

    Parameters
    ----------
    client : distributed.Client, False or None
        The parameter of the fit. None is the default client, if there is one; False is none.

    Returns
    -------
    client : distributed.Client or None
        None if distributed has not been imported.
    """
    distributed = sys.modules.get("distributed")
    if client is None and distributed is not None:
        # a task that waits for other tasks would block the thread that they need
        with suppress(ValueError):
            distributed.get_worker()
            return None
        with suppress(ValueError):
            client = distributed.default_client()
    if client is None or client is False:
        return None
    if distributed is None or not isinstance(client, distributed.Client):
        raise TypeError(
            f"client must be a distributed.Client, False or None, got {type(client).__name__}"
        )
    if client.asynchronous:
        raise ValueError("client must not be asynchronous, since fit waits for its end")
    return client


class Cluster(Places):
    """Parts on the workers of a cluster, on each that has some an actor: its `LocalFit`.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    timeout : float
        Seconds to wait for a worker while there is none, or for the scheduler.
    n_workers : int, None or "dense"
        On how many workers parts are put together at most; None: on as few as have room for them.
        "dense": they stay where they are if their rows are dense, else as None.
    with_helpers : bool
        Whether workers without parts get all of them too, if these are on one, to answer questions
        of the oracle, which come many at a time.
    store : Checkpoint or None
        Has the starts of parts that were lost.
    estimator, parts, starts, remembers : object
        As of `Places`.
    """

    def __init__(self, client, timeout, n_workers, with_helpers, store, estimator, *arguments):
        # callbacks are called in this process
        super().__init__(type(estimator)(**estimator.get_params(deep=False)), *arguments)
        self.client, self.timeout, self.n_workers = client, timeout, n_workers
        self.store, self.with_helpers = store, with_helpers
        self.helpers = []
        self.n_told = self.n_losses = 0
        self.actors = []  # all of them, also those whose parts have no samples

    def hold(self):
        """Make actors of the parts that are missing, on workers that have some of these."""
        futures = self.load(self.missing)
        if self.n_workers == "dense":
            self.n_workers = len(self.parts) if self.are_dense(futures) else None
        actors = {}
        for address, numbers in self.assign(futures).items():
            values = {number: futures[number] for number in sorted(numbers)}
            parts = {number: self.make_part(number, None, True) for number in values}
            where = {} if address is None else {"workers": [address], "allow_other_workers": True}
            actor = self.client.submit(LocalFit, parts, values, actor=True, pure=False, **where)
            actors[tuple(values)] = actor
            self.actors.append(actor)
        self.wait(actors, "a worker to take parts")
        for numbers, actor in actors.items():
            if actor.status == "finished":
                # it may be lost by now
                with suppress(Exception), CURRENT, self.client.as_current():
                    self.places.append(Place(actor.result(), list(numbers), actor))
                    self.missing = [number for number in self.missing if number not in numbers]
        if self.missing:
            self.lose([], "workers that were to take parts")
        if self.with_helpers and len(self.places) == 1:
            self.recruit(futures)

    def recruit(self, futures):
        """Make actors of all parts on the workers that have none, and have room."""
        before, self.helpers, actors = self.helpers, [], {}
        with suppress(OSError, *LATE):
            self.client.cancel([helper.future for helper in before])
            keys = [future.key for future in futures.values()]
            n_bytes = sum(self.client.nbytes(keys, summary=False).values())
            limits = self.client.run(memory_limit, on_error="ignore")
            limits.pop(self.places[0].local._address, None)
            for address, limit in limits.items():
                if n_bytes <= LARGEST_SHARE * limit:
                    parts = {number: self.make_part(number, None, True) for number in futures}
                    options = {"actor": True, "pure": False, "workers": [address]}
                    actors[address] = self.client.submit(LocalFit, parts, futures, **options)
        self.actors += actors.values()
        ends = time.monotonic() + self.timeout
        while any(actors[a].status == "pending" for a in actors.keys() & self.addresses()):
            if time.monotonic() > ends:
                break
            time.sleep(POLL / 2)
        for actor in actors.values():
            if actor.status == "finished":
                # it may be lost by now
                with suppress(Exception), CURRENT, self.client.as_current():
                    self.helpers.append(Place(actor.result(), list(futures), actor))

    def addresses(self):
        """Return the addresses of the workers that the scheduler knows; none if it is silent."""
        with suppress(OSError, *LATE):
            return self.client.nthreads(callback_timeout=min(self.timeout, 10.0)).keys()
        return set()

    def find_helpers(self):
        """Make helpers ready for the present stage of the plan; return those that are there."""
        calls = []
        for helper in self.helpers:
            # one that is known to be lost
            with suppress(RuntimeError):
                calls.append((helper, helper.local.prepare(self.plan)))
        ready = {}
        for helper, call in calls:
            address = helper.local._address
            try:
                self.answer(helper, call)
                ready[address] = helper.local
            except PartsLost:
                continue  # told at the end
            except Exception as error:
                # of the data it is one of the place, too
                self.helpers.remove(helper)
                reason = f"{type(error).__name__}: {error}"
                warnings.warn(
                    f"{address} answers no questions of the oracle: {reason}", stacklevel=2
                )
        return ready

    def count_workers(self):
        """Return how many workers have parts or answer for them; tell of those that stopped."""
        stopped = {}
        for place in self.places if self.helpers else []:
            with suppress(PartsLost, RuntimeError):
                stopped |= self.answer(place, place.local.failures())
        for helper in self.helpers:
            if helper.future.status != "finished":
                stopped[helper.local._address] = "it was lost"
        for address, reason in stopped.items():
            warnings.warn(
                f"{address} stopped answering questions of the oracle, which others did from then "
                f"on: {reason}",
                stacklevel=4,
            )
        answering = {helper.local._address for helper in self.helpers} - stopped.keys()
        return len(self.places) + len(answering)

    def are_dense(self, futures):
        """Return whether the rows of one of some parts are dense.

        What is wrong with the part is found later, and so is that its worker is lost.
        """
        number, future = next(iter(futures.items()))
        arguments = number, self.estimator, future
        asked = {number: self.client.submit(is_dense, *arguments, pure=False)}
        self.wait(asked, "a worker to read part")
        with suppress(OSError, *LATE):
            return asked[number].status == "finished" and asked[number].result(self.timeout)
        return False

    def assign(self, futures):
        """Return the numbers of the parts that each worker is to have, by its address.

        Passes of several workers gain less than those of one, which has all data.
        """
        has = self.client.who_has(list(futures.values()))
        keys = [future.key for future in futures.values()]
        n_bytes = self.client.nbytes(keys, summary=False)
        numbers, load = defaultdict(list), Counter()
        for number, future in futures.items():
            address = next(iter(has.get(future.key) or ()), None)
            numbers[address].append(number)
            load[address] += n_bytes.get(future.key, 0)
        if self.n_workers is None:
            most = math.ceil(load.total() / (LARGEST_SHARE * self.least_memory(numbers)))
        else:
            most = self.n_workers - len(self.places)
        kept = [address for address, _ in load.most_common(max(most, 1))]
        for address in numbers.keys() - kept:
            for number in numbers.pop(address):
                least = min(kept, key=load.__getitem__)
                numbers[least].append(number)
                load[least] += n_bytes.get(futures[number].key, 0)
        return numbers

    def least_memory(self, addresses):
        """Return the bytes that each of some workers may use; 1 if none of them answers."""
        where = [address for address in addresses if address is not None]
        with suppress(OSError, *LATE):
            limits = self.client.run(memory_limit, workers=where, on_error="ignore").values()
            return min(limits, default=1)
        return 1

    def load(self, numbers):
        """Submit parts to the scheduler; return their futures by number."""
        futures, missing = {}, numbers
        for _ in range(MOST_TRIES):
            # each by itself, so that an error of one part stops no other
            for number in missing:
                with suppress(OSError):  # the worker that was to get it is gone
                    futures[number] = self.compute(number)
            self.wait(futures, "a worker to compute part")
            for number, future in futures.items():
                if future.status == "error":
                    error = future.exception()
                    raise error_of(number, error) from error
            missing = [n for n in numbers if n not in futures or futures[n].status != "finished"]
            if not missing:
                return futures
            time.sleep(POLL)
        raise ValueError(
            f"part {missing[0]}: its data are gone, since a worker was lost, expected data that "
            "can be computed again"
        )

    def compute(self, number):
        """Return the future of a part; data in memory are sent."""
        values = self.parts[number]
        if self.lazy[number]:
            return self.client.compute(as_part(*values))
        return self.client.scatter([values], hash=False, timeout=self.timeout)[0]

    def wait(self, futures, what):
        """Wait for futures by number; for `timeout` seconds if there is no worker."""
        last_alive = time.monotonic()
        while waiting := [number for number, each in futures.items() if each.status == "pending"]:
            with suppress(OSError, *LATE):
                # the scheduler may not answer
                if self.client.nthreads(callback_timeout=min(self.timeout, 10.0)):
                    last_alive = time.monotonic()
            if time.monotonic() - last_alive > self.timeout:
                raise TimeoutError(
                    f"waited {self.timeout:g} seconds for {what} {waiting[0]}; see timeout"
                )
            time.sleep(POLL / 2)

    def call_each(self, places, method, args):
        """Return the results of a method of some places; see `Places.ask`."""
        calls = []
        for place in places:
            try:
                calls.append((place, getattr(place.local, method)(*args)))
            except RuntimeError:  # it is known to be lost
                calls.append((place, None))
        answers, gone, errors = [], [], []
        for place, answer in calls:
            try:
                answers.append(self.answer(place, answer))
            except PartsLost:
                gone.append(place)
            except Exception as error:
                errors.append(error)
        if gone:
            self.lose(gone, ", ".join(place.local._address for place in gone))
        if errors:
            raise errors[0]
        self.n_bytes += sizeof(args) + sizeof(answers)
        if method == "call":
            self.n_losses = 0
        return answers

    def answer(self, place, answer):
        """Wait for the answer of an actor; meanwhile pass on presses of Ctrl-C."""
        while answer is not None and place.future.status == "finished":
            try:
                return answer.result(POLL)
            except LATE:
                self.press()
                self.tell_lost()
            except OSError:
                break
        raise PartsLost

    def tell_lost(self):
        """Tell the place with the parts which helpers are lost."""
        for helper in self.helpers:
            if helper.future.status != "finished":
                for place in self.places:
                    with suppress(RuntimeError):
                        place.local.lose(helper.local._address)

    def press(self):
        """Send all workers how often Ctrl-C was pressed, if that has changed."""
        if self.stop is not None and self.stop.n_presses > self.n_told:
            self.n_told = self.stop.n_presses
            for place in self.places:
                with suppress(RuntimeError):
                    place.local.press(self.n_told)

    def lose(self, gone, name):
        """Drop the places that are gone, and raise PartsLost."""
        lost = [number for place in gone for number in place.numbers]
        self.places = [place for place in self.places if place not in gone]
        self.missing = sorted({*self.missing, *lost})
        self.n_lost += len(lost)
        self.n_losses += 1
        if lost:
            warnings.warn(
                f"lost {name} with {len(lost)} parts of the data, which are loaded again",
                stacklevel=2,
            )
        if self.n_losses > MOST_LOSSES:
            raise RuntimeError(
                f"workers were lost {self.n_losses} times in a row, the last of them {name}; "
                "perhaps the data of one part need more memory than a worker has"
            )
        if self.store is not None:
            self.starts |= self.store.load()
        raise PartsLost(name)

    def close(self):
        """Delete the fit on the workers."""
        with suppress(OSError, *LATE):
            self.client.cancel(self.actors)
        super().close()


def is_dense(number, estimator, values):
    """Return whether a part with these values has dense rows."""
    return has_dense_rows(Part(number, estimator, lambda: values).check())


def memory_limit(dask_worker):
    """Return the bytes that a worker may use; Dask gives it."""
    from distributed.system import MEMORY_LIMIT

    return dask_worker.memory_manager.memory_limit or MEMORY_LIMIT


@dask.delayed(pure=False, traverse=False)
def as_part(*values):
    """Return values together, once they are computed."""
    return values
