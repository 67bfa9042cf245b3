"""Searches on the workers of a cluster, beside one process and processes of joblib.

Usage: python cluster_searches.py [CASE ...] [--workers S]

Seconds, by the clock, of a grid search over four values of ``lam`` in three folds, of a path whose
``lam`` three folds choose, and of a calibration in three splits: in one process, in S processes of
joblib, and on a cluster of S processes of this machine. Then the megabytes that went over the
loopback meanwhile, beside those of the training data. Predictions have to be the same.

Cases: letters, chunks, tags; all need data sets, see sskit.datasets.
"""

import argparse
import time
import warnings

import _cases
import joblib
import numpy as np
import psutil
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from sskit import CalibratedTagger, RegularizationPath, SequenceTagger
from sskit.utils import RaggedArray

FACTORS = 0.25, 1.0, 4.0, 16.0  # of the default lam
MEGABYTE = 2.0**20
CASES = {
    "letters": lambda: _cases.letters("large"),
    "chunks": _cases.chunks,
    "tags": _cases.words,
}


def searches(lam):
    """Return the searches by name."""
    tagger = SequenceTagger(random_state=0)
    return {
        "grid": GridSearchCV(tagger, {"lam": [factor * lam for factor in FACTORS]}, cv=3),
        "path": RegularizationPath(tagger, cv=3),
        "calibration": CalibratedTagger(tagger, cv=3),
    }


def sent():
    """Return the bytes that were sent over the loopback so far."""
    return psutil.net_io_counters(pernic=True)["lo"].bytes_sent


def timed(search, X, y, n_jobs, **backend):
    """Return a fit with a backend of joblib, its seconds, and the megabytes sent meanwhile.

    The jobs are those of the search: its estimator has one thread.
    """
    before, start = sent(), time.perf_counter()
    with joblib.parallel_config(**backend):
        fitted = clone(search).set_params(n_jobs=n_jobs).fit(X, y)
    return fitted, time.perf_counter() - start, (sent() - before) / MEGABYTE


def report(name, n_workers):
    """Print the seconds of the searches of a case."""
    _, _, X, y, *_ = CASES[name]()
    if isinstance(X, list):
        X = RaggedArray(np.concatenate(X), np.cumsum([0, *map(len, X)]))
    lam = SequenceTagger(random_state=0, max_iter=1).fit(X, y).lam_
    values = [X.values] if isinstance(X.values, np.ndarray) else [X.values.data, X.values.indices]
    size = sum(array.nbytes for array in values) / MEGABYTE
    print(f"{name}: {len(y)} sequences, {size:.0f} MB", flush=True)
    options = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as made, Client(made, set_as_default=False) as client:
        places = {
            "processes": {"backend": "loky", "n_jobs": n_workers},
            "cluster": {"backend": "dask", "client": client, "n_jobs": n_workers},
        }
        # all have imported what they need
        for place in places.values():
            timed(searches(lam)["grid"], X[:60], y[:60], **place)
        for what, search in searches(lam).items():
            alone, seconds, _ = timed(search, X, y, 1, backend="loky")
            line = f"  {what:11} one process {seconds:6.1f} s"
            for where, place in places.items():
                fitted, seconds, megabytes = timed(search, X, y, **place)
                for one, other in zip(fitted.predict(X[:50]), alone.predict(X[:50]), strict=True):
                    np.testing.assert_array_equal(one, other)
                line += f", {where} {seconds:6.1f} s"
            print(f"{line}, {megabytes:.0f} MB sent", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=[*CASES], metavar="CASE")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    for case in given.cases:
        report(case, given.workers)
