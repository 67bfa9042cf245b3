"""Fits in processes with little memory to spare.

As a script, given cases with headrooms in MB as JSON, it prints a line of JSON for each of them:
what became of the fit, and whether the estimator was as before if it failed.
"""

import json
import os
import pickle
import resource
import signal
import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import sskit

SHORT = {"random_state": 0, "max_iter": 2, "tol": 1e-3}
SECONDS = 120


def rows(n):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, 4)) + y[:, None], y


def sequences(n):
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=(n, 8))
    return list(rng.normal(size=(n, 8, 6)) + y[:, :, None]), list(y)


def sets(n):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 5)), rng.integers(2, size=(n, 8))


# An estimator, what makes data of a size, and the size at which memory is to end
CASES = {
    "rows": (sskit.StructSVMClassifier(**SHORT), rows, 1_000_000),
    "fewer rows": (sskit.StructSVMClassifier(**SHORT), rows, 60_000),
    "kernel": (sskit.StructSVMClassifier(kernel="rbf", **SHORT), rows, 4_000),
    "sequences": (sskit.SequenceTagger(**SHORT), sequences, 20_000),
    "sets": (sskit.MultilabelPairwise(**SHORT), sets, 50_000),
}


def used():
    """Return the size of the address space of this process, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def fit_within(estimator, X, y, headroom):
    """Fit with so many MB to spare; return what became of it, once there is memory again."""
    before = pickle.dumps(vars(estimator))
    resource.setrlimit(resource.RLIMIT_AS, (used() + headroom * 2**20, resource.RLIM_INFINITY))
    outcome = "fitted"
    try:
        estimator.fit(X, y)
    except MemoryError:
        outcome = "MemoryError"
    except BaseException as error:
        outcome = repr(error)[:300]
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
    same = pickle.dumps(vars(estimator)) == before
    return outcome, same


def grow_stack():
    """Make the stack of this process as large as it will be: where memory ends it cannot grow."""
    nested = []
    for _ in range(900):
        nested = [nested]
    repr(nested)


def in_a_process(estimator, X, y, headroom):
    """Do so in a fork; what ends it is an outcome too."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        grow_stack()
        outcome = fit_within(estimator, X, y, headroom)
        os.write(write, json.dumps(outcome).encode())
        os._exit(0)
    os.close(write)
    said = b"".join(iter(lambda: os.read(read, 2**16), b""))
    os.close(read)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.loads(said) if status == 0 else (signal.Signals(-status).name, False)


def main(cases):
    warnings.simplefilter("ignore", ConvergenceWarning)
    for case, headrooms in json.loads(cases).items():
        estimator, make, size = CASES[case]
        estimator.fit(*make(60))
        X, y = make(size)
        for headroom in headrooms:
            outcome = in_a_process(estimator, X, y, headroom)
            print(json.dumps([case, headroom, *outcome]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
