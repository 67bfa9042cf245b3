"""Data in parts: passes by number of workers, and parts that are loaded for each pass.

Usage: python parts.py [rounds | default | cluster [case ...] | memory [GIGABYTES]] [--log]
    [--workers N ...]

"rounds": passes until the gap is 2 % of the objective, with 1 to 64 workers that make their passes
at the same weights and add their updates, all in one process, so the result does not depend on the
number of cores. "default": the same with 1 to 4 workers for estimators with default settings.
"cluster": seconds of a fit to data in one piece, and to eight parts of them on a Dask cluster of
two processes: by one of both, by two threads of it, and by both. "memory": sequences of dense rows
in a file of each part, which is loaded for each pass and dropped: peak memory and seconds, beside a
fit to one memory-mapped file. With --log fits are of the likelihood with default settings, where
the estimators of all cases have one.

Most cases need data sets, see sskit.datasets.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import _cases
import dask
import numpy as np
from _common import conll, ocr
from distributed import Client, LocalCluster
from many_cores import embeddings, grids, sentences, trees
from multilabel_tables import rcv1, yeast
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sskit import SegmentationModel, SequenceTagger, TreeTagger
from sskit.dask import Distributed
from sskit.dask._places import InProcess
from sskit.utils import RaggedArray

N_WORKERS = 1, 2, 4, 16, 64
MOST_PASSES = 300
N_FEATURES, N_LABELS, N_PARTS = 768, 17, 60

CASES = {
    "ocr": lambda: (SequenceTagger(lam=1e-3, loss="hamming"), *ocr("large")[:2]),
    "conll": lambda: (SequenceTagger(), *conll()[:2]),
    "embeddings": lambda: (SequenceTagger(), *embeddings(n_tokens=60_000, n_features=96)),
    "sentences": lambda: (SequenceTagger(), *sentences(n_sentences=20_000)),
}


def training(case):
    """Return the estimator and the training data of one of all cases."""
    estimator, _, X, y, *_ = case()
    return estimator, X, y


# Estimators with default settings.
DEFAULTS = {
    "letters": lambda: training(lambda: _cases.letters("large")),
    "tags": lambda: training(_cases.words),
    "chunks": lambda: training(_cases.chunks),
    "embeddings": CASES["embeddings"],
    "trees": lambda: (TreeTagger(), *trees()),
    "mails": lambda: training(_cases.mails),
    "grids": lambda: (SegmentationModel(lam=0.01), *grids()),
    "digits": lambda: training(_cases.digits),
    "usps": lambda: training(_cases.usps),
    "yeast": lambda: training(lambda: _cases.sets(yeast)),
    "topics": lambda: training(lambda: _cases.sets(lambda: rcv1(30))),
    "codes": lambda: training(_cases.codes),
}


CLUSTER = CASES | {
    "networks": lambda: (SequenceTagger(), *embeddings()),
    "sentences": lambda: (SequenceTagger(), *sentences(n_sentences=5000)),
}


class ManyPlaces(InProcess):
    """A place for each part in this process."""

    def hold(self):
        """Make a place of each part."""
        numbers = self.missing
        for number in numbers:
            self.missing = [number]
            super().hold()


class Simulated(Distributed):
    """Fits with as many places as there are parts."""

    def _fit_by(self, places, *given):
        many = ManyPlaces(places.estimator, places.parts, places.starts, places.remembers)
        return super()._fit_by(many, *given)


def of_likelihood(case):
    """Return a case with the likelihood, with default settings."""

    def make():
        estimator, *data = case()
        return type(estimator)(surrogate="log"), *data

    return make


def rounds(name, case, numbers):
    """Print the passes of a case by number of workers."""
    estimator, X, y = case()
    order = np.random.RandomState(0).permutation(len(y))
    for n_workers in numbers:
        groups = np.array_split(order, n_workers)
        parts = [[taken(data, group) for group in groups] for data in (X, y)]
        model = clone(estimator).set_params(max_iter=MOST_PASSES, random_state=0)
        start = time.perf_counter()
        fitted = Simulated(model).fit(*parts).estimator_
        fraction = fitted.dual_gap_ / fitted.primal_objective_
        print(
            f"{name:11} {n_workers:3} workers: {fitted.n_iter_:4} passes, gap {fraction:.3f}, "
            f"{time.perf_counter() - start:.0f} s",
            flush=True,
        )


def taken(data, index):
    """Return some samples of an array or a list."""
    return data[index] if hasattr(data, "shape") else [data[i] for i in index]


def cluster(name, case):
    """Print the seconds of fits to parts on a cluster of two processes."""
    estimator, X, y = case()
    groups = np.array_split(np.random.RandomState(0).permutation(len(y)), 8)
    parts = [[taken(data, group) for group in groups] for data in (X, y)]
    model, times = clone(estimator).set_params(random_state=0), {}
    start = time.perf_counter()
    model.fit(X, y)
    times["in one piece"] = time.perf_counter() - start, model.n_iter_
    made = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with made, Client(made) as client:
        for n_workers, n_jobs in ((None, 1), (None, 2), (2, 1)):
            model.set_params(n_jobs=n_jobs)
            fit = Distributed(model, client=client, n_workers=n_workers).fit
            start = time.perf_counter()
            fitted = fit(*parts)
            what = f"{fitted.n_workers_} workers, {n_jobs} jobs"
            times[what] = time.perf_counter() - start, fitted.estimator_.n_iter_
    text = ", ".join(f"{what}: {t:.1f} s, {n} passes" for what, (t, n) in times.items())
    print(f"{name:11} {text}", flush=True)


def write_parts(folder, gigabytes):
    """Write sequences of rows that tell their labels, in parts and as a whole."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(N_FEATURES, N_LABELS)).astype(np.float32)
    n_rows = int(gigabytes * 2**30 / (4 * N_FEATURES * N_PARTS)) // 25 * 25
    shape = N_PARTS * n_rows, N_FEATURES
    whole = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, shape)
    labels = np.empty(len(whole), dtype=np.int64)
    for k in range(N_PARTS):
        rows = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
        scores = rows @ truth / np.sqrt(N_FEATURES)
        part = slice(k * n_rows, (k + 1) * n_rows)
        whole[part] = rows
        labels[part] = (scores + rng.normal(scale=0.7, size=scores.shape)).argmax(axis=1)
        np.save(folder / f"X{k}.npy", rows)
    np.save(folder / "y.npy", labels)


def load(folder, k):
    """Return the sequences of part k, or of all."""
    X = np.load(folder / f"X{k}.npy")
    y = np.load(folder / "y.npy")[k * len(X) : (k + 1) * len(X)]
    offsets = np.arange(0, len(X) + 1, 25)
    return RaggedArray(X, offsets), RaggedArray(y, offsets)


def fit(folder, kind):
    """Fit one of two kinds; print peak memory and seconds."""
    tagger = SequenceTagger(random_state=0, verbose=0)
    before, start = peak(), time.perf_counter()
    if kind == "parts":
        parts = [dask.delayed(load, nout=2)(folder, k) for k in range(N_PARTS)]
        fitted = Distributed(tagger).fit(*zip(*parts, strict=True)).estimator_
    else:
        X = np.load(folder / "X.npy", mmap_mode="r")
        offsets = np.arange(0, len(X) + 1, 25)
        y = RaggedArray(np.load(folder / "y.npy"), offsets)
        fitted = tagger.fit(RaggedArray(X, offsets), y)
    print(
        f"{kind:6}: {time.perf_counter() - start:.0f} s, peak {peak():.0f} MiB (before the fit "
        f"{before:.0f}), {fitted.n_iter_} passes, P(w) {fitted.primal_objective_:.5g}, "
        f"D {fitted.dual_objective_:.5g}",
        flush=True,
    )


def peak():
    """Return the largest resident memory so far, in MiB; of a mapped file with its pages."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def memory(gigabytes):
    """Print what fits to a file, and to a file for each part, take."""
    with tempfile.TemporaryDirectory() as name:
        write_parts(Path(name), gigabytes)
        for kind in ("mapped", "parts"):
            subprocess.run([sys.executable, __file__, kind, name], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    kinds = ["rounds", "default", "cluster", "memory", "mapped", "parts"]
    parser.add_argument("what", nargs="?", choices=kinds)
    parser.add_argument("more", nargs="*")
    parser.add_argument("--log", action="store_true")
    parser.add_argument("--workers", nargs="+", type=int)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", "Sending large graph")
    if arguments.what in ("mapped", "parts"):
        fit(Path(arguments.more[0]), arguments.what)
    made = of_likelihood if arguments.log else lambda case: case
    if arguments.what in (None, "rounds"):
        for name in arguments.more or CASES:
            rounds(name, made(CASES[name]), arguments.workers or N_WORKERS)
    if arguments.what in (None, "default"):
        for name in arguments.more or DEFAULTS:
            rounds(name, made(DEFAULTS[name]), arguments.workers or N_WORKERS[:3])
    if arguments.what in (None, "cluster"):
        for name in arguments.more or CLUSTER:
            cluster(name, made(CLUSTER[name]))
    if arguments.what in (None, "memory"):
        memory(float(arguments.more[0]) if arguments.more else 0.5)
