"""Oracle calls of Python structures in other processes."""

import os
import pickle
import signal
import threading
from contextlib import suppress

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

PARALLEL = ("threads", "processes")


def uses_processes(prefer):
    """Return whether joblib would start processes.

    Parameters
    ----------
    prefer : {"threads", "processes"}
        Default of the structure; a backend chosen with ``joblib.parallel_config`` overrides it.

    Returns
    -------
    answer : bool
        False if workers have the same memory.
    """
    backend, _ = get_active_backend(prefer=prefer)
    return not getattr(backend, "supports_sharedmem", False)


class OraclePool:
    """Calls a structure, in several processes, for samples that a solver will need next.

    It exists because its answers live for a portion of an exact pass, the structure for all of a
    fit: they are kept until the solver needs them. If the structure raises an error, there is no
    answer: the solver then calls the structure itself, and the error is the same as without
    processes.

    Parameters
    ----------
    binding : PythonBinding
        Calls the structure.
    X, Y : list of length n
        Samples.
    n_jobs : int
        Number of processes.

    Attributes
    ----------
    computed : dict
        By number of sample: the labelling, its joint feature as (index, value), its loss.
    """

    def __init__(self, binding, X, Y, n_jobs):
        self.binding, self.X, self.Y = binding, X, Y
        self.n_jobs = n_jobs
        self.computed = {}

    def precompute(self, blocks, w):
        """Find the answers of some samples, loss-augmented.

        Parameters
        ----------
        blocks : ndarray of int
            Numbers of the samples, each once.
        w : ndarray of shape (n_weights,)
            Weights.
        """
        parts = [
            (self.binding, {i: (self.X[i], self.Y[i]) for i in part.tolist()}, w)
            for part in np.array_split(blocks, min(self.n_jobs, len(blocks)))
        ]
        for part in run_parts(find_answers, parts, self.binding.model, "processes"):
            self.computed.update(part)

    def clear(self):
        """Drop the answers that were not used."""
        self.computed.clear()


def find_answers(binding, samples, w):
    """Return the answers of a structure by number of sample, without those that raise errors.

    Parameters
    ----------
    binding : PythonBinding
        Calls the structure.
    samples : dict of int to tuple (x, y)
        Some samples by number.
    w : ndarray of shape (n_weights,)
        Weights.

    Returns
    -------
    computed : dict
        See `OraclePool`.
    """
    computed = {}
    for i, (x, y_true) in samples.items():
        with suppress(Exception):
            y = binding.argmax(i, x, w.copy(), y_true)
            computed[i] = y, binding.joint_feature(i, x, y), binding.loss(i, y_true, y)
    return computed


def run_parts(function, parts, model, prefer):
    """Call a function in parallel and return its results in order.

    Parameters
    ----------
    function : callable
        What to call.
    parts : list of tuple
        Its arguments for each call.
    model : object
        The structure, for error messages.
    prefer : {"threads", "processes"}
        Hint for joblib.

    Returns
    -------
    results : list
        One for each part.

    Raises
    ------
    TypeError
        If the structure or its samples cannot be sent to another process.
    Exception
        What the function raised.
    """
    # no memory maps that are read only: a structure may change its input or return a part of it
    parallel, leader = Parallel(len(parts), prefer=prefer, max_nbytes=None), os.getpid()
    try:
        return parallel(delayed(call)(leader, function, *part) for part in parts)
    except pickle.PicklingError as error:
        raise TypeError(
            f"{type(model).__name__} or its samples cannot be sent to other processes. Let them "
            "be pickled, or set parallel = 'threads' on the model"
        ) from error


def call(leader, function, *arguments):
    """Call a function for another process, or for this one.

    Parameters
    ----------
    leader : int
        Number of that process. A terminal sends Ctrl-C to all of them, and only the leader handles
        it: a worker that ended would end the fit.
    function : callable
        What to call.
    *arguments : object
        Its arguments.

    Returns
    -------
    result : object
        Of the function.
    """
    if os.getpid() != leader and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return function(*arguments)
