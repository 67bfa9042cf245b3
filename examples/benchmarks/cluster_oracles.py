"""Oracles of a batch on the workers of a cluster: calls by size of the batch, time by workers.

Usage: python cluster_oracles.py calls [CASE ...]
       python cluster_oracles.py workers [--milliseconds T ...] [--workers S ...]
       python cluster_oracles.py cores [CASE ...]

"calls": calls of the oracle for each training pair until the gap is 2 % of the objective, by
``batch_size``, in one process. "workers": seconds of a fit to 200 rows in ten classes, a structure
in Python whose oracle waits for T milliseconds, in one process by default options, and on clusters
of S processes of this machine with batches of 64. An oracle that waits needs no core, so this
measures exchanges for more processes than there are cores. "cores": seconds of a fit to a case on
one and on two processes, with batches of 16.

Cases: grids, digits, poses, horses, msrc; the last three need data sets, see sskit.datasets.
"""

import argparse
import time
import warnings

import _cases
import numpy as np
from distributed import Client, LocalCluster
from many_cores import grids
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from sskit import SegmentationModel, StructuredModel, StructuredSVM
from sskit.dask import Distributed
from sskit.solvers import BCFW

SIZES = 1, 8, 16, 32, 64


class Waiting(StructuredModel):
    """Ten classes of rows; argmax waits.

    Parameters
    ----------
    seconds : float
        How long.
    """

    def __init__(self, seconds):
        self.seconds = seconds

    def joint_feature(self, x, y):
        """Return the row, in the place of its class."""
        return np.outer(np.arange(10) == y, x).ravel()

    def loss(self, y_true, y):
        """Return whether the class is wrong."""
        return float(y != y_true)

    def argmax(self, x, w, y_true=None):
        """Wait, and return the best class."""
        time.sleep(self.seconds)
        scores = w.reshape(10, -1) @ x
        if y_true is not None:
            scores += np.arange(10) != y_true
        return int(scores.argmax())


def digits(seconds=0.0):
    """Return an estimator of digits, and 200 rows of them."""
    X, y = load_digits(return_X_y=True)
    return StructuredSVM(Waiting(seconds), lam=0.01), list(X[:200] / 16), y[:200].tolist()


def training(case):
    """Return the estimator and the training data of a case."""
    estimator, _, X, y, *_ = case
    return estimator, X, y


CASES = {
    "grids": lambda: (SegmentationModel(lam=0.01), *grids()),
    "digits": digits,
    "poses": lambda: training(_cases.poses()),
    "horses": lambda: training(_cases.photographs("horses", None)),
    "msrc": lambda: training(_cases.photographs("msrc", None)),
}


def calls(names):
    """Print calls for each pair by size of the batches."""
    for name in names:
        estimator, X, y = CASES[name]()
        for size in SIZES:
            model = clone(estimator).set_params(solver=BCFW(batch_size=size), random_state=0)
            start = time.process_time()
            model.fit(X, y)
            print(
                f"{name:8} {size:3} {model.n_oracle_calls_ / len(X):6.1f} calls a pair, "
                f"{time.process_time() - start:6.1f} s, {model.n_iter_} passes",
                flush=True,
            )


def clusters(model, X, y, numbers):
    """Print seconds on clusters of so many processes."""
    parts = [[list(data)] for data in (X, y)]
    for n_workers in numbers:
        options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
        with LocalCluster(n_workers=n_workers, **options) as made, Client(made):
            Distributed(clone(model).set_params(max_iter=1)).fit(*parts)  # imports
            start = time.perf_counter()
            fitted = Distributed(model).fit(*parts)
            seconds = time.perf_counter() - start
            print(
                f"  {fitted.n_workers_:2} workers {seconds:6.2f} s, of these "
                f"{fitted.history_['visit_time'].sum():.2f} in passes, "
                f"{fitted.estimator_.n_oracle_calls_} calls",
                flush=True,
            )


def alone(model, X, y):
    """Print the seconds of a fit in this process."""
    start = time.perf_counter()
    model.fit(X, y)
    print(f"  one process {time.perf_counter() - start:.2f} s, {model.n_oracle_calls_} calls")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["calls", "workers", "cores"])
    parser.add_argument("cases", nargs="*", default=["grids", "digits"], metavar="CASE")
    parser.add_argument("--milliseconds", type=float, nargs="+", default=[2.0, 10.0, 50.0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    given = parser.parse_args()
    if given.what == "calls":
        calls(given.cases)
    elif given.what == "workers":
        for milliseconds in given.milliseconds:
            print(f"{milliseconds:g} ms", flush=True)
            estimator, X, y = digits(milliseconds / 1000.0)
            estimator.set_params(random_state=0)
            alone(clone(estimator), X, y)
            clusters(clone(estimator).set_params(solver=BCFW(batch_size=64)), X, y, given.workers)
    else:
        for name in given.cases:
            print(name, flush=True)
            estimator, X, y = CASES[name]()
            estimator.set_params(random_state=0)
            alone(clone(estimator), X, y)
            clusters(clone(estimator).set_params(solver=BCFW(batch_size=16)), X, y, [1, 2])
