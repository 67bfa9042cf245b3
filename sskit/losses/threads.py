"""Threads for batches: those of a batch wait for the next one."""

import os

from sskit._numbers import n_workers
from sskit.parallel.crew import Crew

MOST_WORKERS = 64
# Crews by process and number of workers. One is taken out while it works, so that batches of
# several threads of Python do not meet; a process that was forked has none of its parent's.
_IDLE = {}


def count_workers(n_jobs, n_samples):
    """Return how many threads a batch is worth."""
    if n_jobs == 1:
        return 1
    return min(n_workers(n_jobs, max(n_samples, 1)), MOST_WORKERS)


def run(make_task, n_jobs, n_samples):
    """Let threads do a task.

    Parameters
    ----------
    make_task : callable
        Makes the task for a number of workers.
    n_jobs : int or None
        As joblib takes it.
    n_samples : int
        Size of the batch.
    """
    count = count_workers(n_jobs, n_samples)
    task = make_task(count)
    idle = _IDLE.setdefault((os.getpid(), count), [])
    try:
        crew = idle.pop()
    except IndexError:
        crew = Crew(count)
    try:
        task.run(crew)
    finally:
        idle.append(crew)
