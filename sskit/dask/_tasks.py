"""Tasks of one fit on a cluster: each on a worker of its own, and none waited for in vain."""

import asyncio
import threading
import time
import uuid
import warnings
from concurrent.futures import Future, wait

from sskit.dask._share import ask, forget, forget_strangers, press
from sskit.solvers.distributed.sites import SitesLost

# Seconds between two looks whether Ctrl-C was pressed and all workers are there.
INTERVAL = 0.1
# So many losses without a round in between are no accident.
MOST_LOSSES = 10
# Before Python 3.11 there are two.
LATE = (TimeoutError, asyncio.TimeoutError)


class Tasks:
    """Asks the workers of a cluster, and waits for their answers.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    timeout : float
        Seconds to wait for the scheduler, or for any worker.

    Attributes
    ----------
    gone : set of str
        Addresses of workers that were lost, or have lost what they had of the fit.
    """

    def __init__(self, client, timeout):
        self.client = client
        self.timeout = timeout
        self.fit = f"{client.id}-{uuid.uuid4().hex}"
        self.era = self.n_losses = self.n_told = 0
        self.gone = set()
        in_background(self.sweep)

    def sweep(self):
        """Let workers forget the fits of clients that have died."""
        clients = self.client.run_on_scheduler(client_ids)
        self.client.run(forget_strangers, clients, on_error="ignore")

    def submit(self, address, method, *args):
        """Return the future of a method of the share on a worker; see `Share`."""
        token = f"sskit-{method.replace('_', '-')}-{uuid.uuid4().hex}"
        return self.client.submit(
            ask,
            self.fit,
            self.era,
            token,
            method,
            *args,
            key=token,
            workers=[address],
            allow_other_workers=False,
            pure=False,
        )

    def scatter(self, value):
        """Return a future of a value of this process, which tasks can have as an argument."""
        if value is None:
            return None
        ends = time.monotonic() + self.timeout
        while True:
            try:
                return self.client.scatter([value], hash=False, timeout=self.timeout)[0]
            except LATE:
                self.refuse_to_wait("a worker to send data to")
            except OSError:
                # the worker that was to get them is gone
                if time.monotonic() > ends:
                    raise
                time.sleep(INTERVAL)

    def call(self, calls, stop=None):
        """Ask several workers; return their answers.

        Parameters
        ----------
        calls : list of tuple (address, method, *args)
            What is asked of whom.
        stop : Stop, default=None
            Workers are told when Ctrl-C is pressed.

        Returns
        -------
        answers : list
            One for each.
        """
        return self.answers([(each[0], self.submit(*each)) for each in calls], stop)

    def answers(self, tasks, stop=None, also=()):
        """Wait for tasks; return their answers.

        Parameters
        ----------
        tasks : list of tuple (str, Future)
            Address of the worker, and what is waited for.
        stop : Stop, default=None
            Workers are told when Ctrl-C is pressed.
        also : list of tuple (str, Future)
            What the tasks depend on.

        Returns
        -------
        answers : list
            One for each task.

        Raises
        ------
        SitesLost
            If a worker was lost; then no task is waited for any more.
        """
        futures = [future for _, future in tasks]
        addresses = {address for address, _ in [*tasks, *also]}
        answer = in_background(self.client.gather, futures)
        seen = time.monotonic()
        try:
            while True:
                wait([answer], timeout=INTERVAL)
                if answer.done():
                    if answer.exception() is None:
                        return answer.result()
                    self.fail(tasks, also, answer.exception())
                if stop is not None and stop.n_presses > self.n_told:
                    self.n_told = stop.n_presses
                    in_background(self.client.run, press, self.fit, self.n_told, on_error="ignore")
                live = self.live()
                if live is not None:
                    seen = time.monotonic()
                    if not addresses <= live:
                        self.lose(addresses - live)
                elif time.monotonic() - seen > self.timeout:
                    self.refuse_to_wait("the scheduler")
        except BaseException:
            self.cancel([future for _, future in [*tasks, *also]])
            raise

    def fail(self, tasks, also, error):
        """Raise SitesLost, or the error of the first task that failed, whichever came first."""
        # the scheduler may not have learnt of the loss yet that is behind the error
        live = self.wait_for_all(tasks)
        gone = {address for address, _ in [*also, *tasks] if address not in live}
        for group in (also, tasks):
            gone = gone or {address for address, future in group if has_lost(future)}
        if gone:
            self.lose(gone)
        for _, future in tasks:
            if future.status == "error":
                raise future.exception()
        if isinstance(error, asyncio.CancelledError) or "Cancelled" in type(error).__name__:
            # what they depend on was elsewhere
            self.lose(set())
        raise error

    def wait_for_all(self, tasks):
        """Wait until all tasks have ended or a worker is lost; return the workers there are."""
        ends = time.monotonic() + self.timeout
        while True:
            live = self.live()
            if live is None and time.monotonic() > ends:
                self.refuse_to_wait("the scheduler")
            if live is not None and not {address for address, _ in tasks} <= live:
                return live
            if live is not None and all(future.status != "pending" for _, future in tasks):
                return live
            time.sleep(INTERVAL)

    def lose(self, addresses):
        """Remember which workers are lost, let old tasks do nothing, and raise SitesLost."""
        self.gone |= addresses
        self.era += 1
        self.n_losses += 1
        listed = ", ".join(sorted(addresses)) or "with data on the way"
        if self.n_losses > MOST_LOSSES:
            raise RuntimeError(
                f"workers were lost {self.n_losses} times in a row, the last of them {listed}; "
                "perhaps the data of one part need more memory than a worker has"
            )
        raise SitesLost(listed)

    def live(self):
        """Return the addresses of all workers; None if the scheduler does not answer."""
        try:
            return set(self.client.nthreads(callback_timeout=min(self.timeout, 10.0)))
        except (OSError, *LATE):
            return None

    def cancel(self, futures):
        """Let tasks end that have not begun; in the background, for who knows who still answers."""
        in_background(self.client.cancel, futures)

    def refuse_to_wait(self, what):
        """Raise the error of who has waited too long."""
        raise TimeoutError(f"waited {self.timeout:g} seconds for {what}; see timeout")

    def close(self):
        """Let the workers forget the fit."""
        done = in_background(self.client.run, forget, self.fit, on_error="ignore")
        try:
            done.result(timeout=min(self.timeout, 10.0))
        except Exception as error:
            warnings.warn(
                f"workers could not be told that the fit has ended ({type(error).__name__})",
                UserWarning,
                stacklevel=2,
            )


def client_ids(dask_scheduler):
    """Return by what the scheduler knows the clients that are there."""
    return list(dask_scheduler.clients)


def has_lost(future):
    """Return whether a task found that its worker has nothing of the fit."""
    if future.status != "error":
        return False
    return type(future.exception()).__name__ in ("ShareLost", "KilledWorker")


def in_background(function, *args, **kwargs):
    """Return the future of a call in another thread, for which the process does not wait."""
    answer = Future()

    def call():
        try:
            answer.set_result(function(*args, **kwargs))
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    return answer
