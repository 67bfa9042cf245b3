"""Clusters on this machine, whose workers can be killed."""

import os
import signal
import subprocess
import sys
import time

import numpy as np

from helpers.structures import Classes
from sskit import SequenceTagger
from sskit.datasets import make_chains

N_CLASSES = 6
rng = np.random.default_rng(0)
CENTRES = rng.normal(size=(N_CLASSES, 30))
CLASSES = rng.integers(N_CLASSES, size=600)
ROWS = 0.4 * CENTRES[CLASSES] + rng.normal(size=(600, 30))


def load(k, n_parts):
    place = slice(600 * k // n_parts, 600 * (k + 1) // n_parts)
    return ROWS[place], CLASSES[place]


def hidden_chains():
    """Sequences some of whose labels are not known, and a tagger that completes them."""
    X, y = make_chains(30, n_features=3, n_states=3, noise=1.2, max_length=5, random_state=0)
    y = [[-1 if (i + t) % 3 else int(k) for t, k in enumerate(row)] for i, row in enumerate(y)]
    return X, y, SequenceTagger(lam=0.05, tol=0.01, ignore_label=-1, random_state=0, max_iter=900)


def rows_of_classes(n=24):
    """Rows, the first number of each its own, and three classes."""
    X = np.random.default_rng(1).normal(size=(n, 4))
    X[:, 0] = np.arange(n)
    return X, np.arange(n) % 3


class Faulty(Classes):
    """Fails for a row once there are weights."""

    def argmax(self, x, w, y_true=None):
        if x[0] == 17 and w.any():
            raise ValueError("row 17 is not for me")
        return super().argmax(x, w, y_true)


class Failing(Classes):
    """Has no memory in one process once there are weights."""

    def __init__(self, process):
        super().__init__()
        self.process = process

    def argmax(self, x, w, y_true=None):
        if os.getpid() == self.process and w.any():
            raise MemoryError("no room for this row")
        return super().argmax(x, w, y_true)


class Careless(Classes):
    """Never answers the last class."""

    exact = False

    def argmax(self, x, w, y_true=None):
        return min(super().argmax(x, w, y_true), 1)


class Slow(Classes):
    """Takes its time."""

    def argmax(self, x, w, y_true=None):
        time.sleep(0.01)
        return super().argmax(x, w, y_true)


def process_id(dask_worker):
    return os.getpid()


def kill(client, *which):
    """Kill workers, by their places in the order of their addresses."""
    found = sorted(client.run(process_id, on_error="ignore").items())
    for k in which:
        os.kill(found[k % len(found)][1], signal.SIGKILL)


def start_worker(address, folder):
    """A worker for a scheduler, which is not started again."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
    options = ["--nthreads", "1", "--no-dashboard", "--local-directory", str(folder)]
    # what tests send to it is found where they find it
    return subprocess.Popen(
        command + options,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


# What tests ask of workers stands here, where these find it.


def n_actors(dask_worker):
    """How many fits a worker has parts of."""
    return len(dask_worker.state.actors)


def has_no_client():
    """Whether a fit within a task finds no client."""
    import distributed

    from sskit.dask._cluster import find_client

    distributed.get_client()
    return find_client(None) is None


def has_begun(dask_worker):
    """Whether a worker has begun with its parts."""
    # an actor that is being made is None
    actors = list(dask_worker.state.actors.values())
    return any(actor is not None and actor.local for actor in actors)
