"""Answers of Python structures from other processes."""

import os
import pickle
import signal
import threading
import traceback

import numpy as np
from joblib import Parallel, delayed, wrap_non_picklable_objects
from joblib.parallel import get_active_backend

PARALLEL = ("threads", "processes")


def uses_processes(prefer):
    """Return whether joblib would start processes.

    Parameters
    ----------
    prefer : {"threads", "processes"}
        What the structure prefers; a backend chosen with ``joblib.parallel_config`` wins.

    Returns
    -------
    answer : bool
        False if workers share memory.
    """
    backend, _ = get_active_backend(prefer=prefer)
    return not getattr(backend, "supports_sharedmem", False)


class OraclePool:
    """Asks a structure, in several processes, about samples that a solver will ask for next.

    What the processes find waits here until the solver asks. So do errors: the first one that
    the solver meets is the one that it would meet without processes.

    Parameters
    ----------
    answers : Answers
        The structure and its samples.
    n_jobs : int
        Number of processes.
    """

    def __init__(self, answers, n_jobs):
        self.answers = answers
        self.n_jobs = n_jobs
        self.found = {}

    def precompute(self, blocks, w):
        """Find the answers of some samples, loss-augmented.

        Parameters
        ----------
        blocks : ndarray of int
            Numbers of the samples, each once.
        w : ndarray of shape (n_weights,)
            Weights.
        """
        shares = np.array_split(blocks, min(self.n_jobs, len(blocks)))
        for part in run_shares(
            find_answers,
            [(self.answers.subset(share.tolist()), w) for share in shares],
            self.answers.model,
            "processes",
        ):
            self.found.update(part)

    def clear(self):
        """Forget what nobody asked for."""
        self.found.clear()

    def pop(self, i):
        """Return (labelling, joint feature, loss) of sample i, or None if nothing was found.

        Parameters
        ----------
        i : int
            Number of the sample.

        Returns
        -------
        found : tuple or None
            The labelling, its joint feature as (index, value), its loss.

        Raises
        ------
        Exception
            What the structure raised.
        """
        packed = self.found.pop(i, None)
        return None if packed is None else unpack(packed)


def find_answers(answers, w):
    """Return the packed answers of a structure, by number of sample.

    Parameters
    ----------
    answers : Answers
        The structure and some samples.
    w : ndarray of shape (n_weights,)
        Weights.

    Returns
    -------
    found : dict of bytes
        For `unpack`.
    """
    return {i: pack(find_answer, answers, i, w) for i in answers.X}


def find_answer(answers, i, w):
    """Return the labelling that argmax finds for sample i, its joint feature and its loss."""
    y = answers.argmax(i, w.copy(), True)
    return y, answers.joint_feature(i, y), answers.loss(i, y)


def run_shares(function, shares, model, prefer):
    """Call a function in parallel and return its results in order.

    Parameters
    ----------
    function : callable
        What to call.
    shares : list of tuple
        Its arguments for each call.
    model : object
        The structure, for error messages.
    prefer : {"threads", "processes"}
        Hint for joblib.

    Returns
    -------
    results : list
        One for each share.

    Raises
    ------
    TypeError
        If the structure or its samples cannot be sent to another process, or a result back.
    Exception
        What the function raised.
    """
    parallel = Parallel(len(shares), prefer=prefer)
    if not uses_processes(prefer):
        return parallel(delayed(function)(*share) for share in shares)
    # Pickled here, for an error that says what is wrong; and joblib makes no read-only memory
    # maps of bytes, where a structure may want to change its input or return a part of it.
    try:
        calls = [dumps((function, *share)) for share in shares]
    except Exception as error:
        raise TypeError(
            f"{type(model).__name__} or its samples cannot be sent to other processes: {error}. "
            "Let them be pickled, or set parallel = 'threads' on the model"
        ) from error
    leader = os.getpid()
    results = parallel(delayed(pack)(call, sent, leader) for sent in calls)
    return [unpack(result) for result in results]


def call(sent, leader):
    """Call a function that another process has sent with its arguments.

    Parameters
    ----------
    sent : bytes
        The function and its arguments.
    leader : int
        Number of that process. A terminal sends Ctrl-C to all of them, but what it means is for
        the leader to say: a worker that broke off would break off the fit.

    Returns
    -------
    result : object
        Of the function.
    """
    if os.getpid() != leader and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    function, *arguments = loads(sent)
    return function(*arguments)


class WorkerTraceback(Exception):
    """Where an error was raised in another process: the cause of the error here."""


class Failure:
    """An error on its way from one process to another.

    Parameters
    ----------
    error : Exception
        The error.
    """

    def __init__(self, error):
        self.error = error

    def __reduce__(self):
        where = "".join(traceback.format_exception(self.error))
        return arrived, (sendable(self.error), sendable(self.error.__cause__), where)


def arrived(error, cause, where):
    """Return a failure whose error has a cause: its own, which pickling lost, or the traceback."""
    error.__cause__ = WorkerTraceback(f"\n{where}") if cause is None else cause
    return Failure(error)


def sendable(error):
    """Return an error, or one that says the same if it does not survive pickling."""
    try:
        loads(dumps(error))
    except Exception:
        other = RuntimeError(f"{type(error).__name__}: {error}")
        other.__notes__ = [*getattr(error, "__notes__", ())]
        return other
    return error


def pack(function, *arguments):
    """Return the result of a call, or the error that it raises, as bytes for `unpack`.

    Parameters
    ----------
    function : callable
        What to call.
    *arguments : object
        Its arguments.

    Returns
    -------
    packed : bytes
        Of the result or a `Failure`.
    """
    try:
        result = function(*arguments)
    except Exception as error:
        return dumps(Failure(error))
    try:
        return dumps(result)
    except Exception as error:
        told = f"a labelling cannot be sent to another process: {error}"
        return dumps(Failure(TypeError(told)))


def unpack(packed):
    """Return the result of a packed call, or raise its error."""
    result = loads(packed)
    if isinstance(result, Failure):
        raise result.error
    return result


def dumps(item):
    """Return an item as bytes; classes of the main script go by value, as joblib sends them."""
    return pickle.dumps(wrap_non_picklable_objects((item,), keep_wrapper=False))


def loads(packed):
    """Return the item that `dumps` made bytes of."""
    return pickle.loads(packed)[0]
