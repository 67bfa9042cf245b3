"""Memory of a fit besides its data, by estimator and solver.

Every fit runs in a separate process, which reads its data and nothing else; the largest memory from
then on, minus that of the data, is the memory of the fit. Linux only. Usage: python memory.py
[small | large] (half a minute; large, with the sets in SSKIT_DATA, some two minutes)
"""

import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
from _common import conll, ocr

from sskit import MultilabelPairwise, SegmentationModel, SequenceTagger, StructSVMClassifier
from sskit.datasets import make_digit_strings
from sskit.solvers import BCFW, CuttingPlane, FrankWolfe

CHAIN = {
    "SequenceTagger()": SequenceTagger(random_state=0),
    "SequenceTagger(warm_start=True)": SequenceTagger(warm_start=True, random_state=0),
    "SequenceTagger(solver=BCFW(cache_size=10))": SequenceTagger(
        solver=BCFW(cache_size=10), random_state=0
    ),
    'SequenceTagger(solver="frank_wolfe")': SequenceTagger(
        solver=FrankWolfe(), max_iter=30, random_state=0
    ),
    'SequenceTagger(solver="cutting_plane")': SequenceTagger(
        solver=CuttingPlane(), max_iter=30, random_state=0
    ),
}
ROWS = {
    "StructSVMClassifier(standardize=False)": StructSVMClassifier(
        lam=1e-3, standardize=False, random_state=0
    )
}
KERNEL = {
    f'StructSVMClassifier(kernel="rbf", kernel_cache={size})': StructSVMClassifier(
        lam=1e-3, kernel="rbf", kernel_cache=size, tol=0.05, random_state=0
    )
    for size in (500, 50)
}
LABELS = {"MultilabelPairwise()": MultilabelPairwise(tol=0.05, random_state=0)}
GRAPHS = {"SegmentationModel()": SegmentationModel(tol=0.05, max_iter=20, random_state=0)}


def dense_rows(n, dtype):
    """Return rows of 100 features in five classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=n)
    centres = rng.normal(size=(5, 100))
    X = centres[y] + 4 * rng.normal(size=(n, 100))
    return X.astype(dtype), y


def label_sets(n):
    """Return rows and sets of 30 labels."""
    X, y = dense_rows(n, np.float64)
    rng = np.random.default_rng(1)
    return X, (X @ rng.normal(size=(100, 30)) + 4 * rng.normal(size=(n, 30)) > 15).astype(int)


def graphs(n, dtype):
    """Return strips of 300 nodes with 100 features each."""
    rng = np.random.default_rng(0)
    edges = np.stack([np.arange(299), np.arange(1, 300)], axis=1)
    y = [np.repeat(rng.permutation(2), 150) for _ in range(n)]
    X = [
        ((labels[:, None] + 3 * rng.normal(size=(300, 100))).astype(dtype), edges, None)
        for labels in y
    ]
    return X, y


def data_sets(size):
    """Yield (name, X, y, estimators): data and what is fitted to them."""
    large = size == "large"
    n = 20_000 if large else 1_000
    for dtype in (np.float64, np.float32):
        yield f"{n} rows of 100, {np.dtype(dtype).name}", *dense_rows(n, dtype), ROWS
    n = 4_000 if large else 300
    yield f"{n} rows of 100", *dense_rows(n, np.float64), KERNEL
    n = 1_000 if large else 50
    for dtype in (np.float64, np.float32):
        yield f"{n} graphs of 300 nodes, {np.dtype(dtype).name}", *graphs(n, dtype), GRAPHS
    yield "the same from a file", *graphs(n, np.float32), GRAPHS
    n = 2_000 if large else 300
    yield f"30 labels of {n} rows", *label_sets(n), LABELS
    if large:
        yield "OCR-large", *ocr("large")[:2], CHAIN
        yield "CoNLL-2000", *conll()[:2], CHAIN
    else:
        yield "digit strings", *make_digit_strings(200, random_state=0), CHAIN


def memory(what):
    """Return a figure of this process in MiB: "VmRSS" now, "VmHWM" at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) / 1024
    raise OSError(f"no {what} in /proc/self/status")


def run(file, name):
    """Fit one estimator to the data in a file and print what it took."""
    mapped = "from a file" in name
    X, y, estimators = joblib.load(file, mmap_mode="r" if mapped else None)
    fit = estimators[name.partition(": ")[2]]
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the largest memory so far
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit.fit(X, y)
    print(
        f"{name:75s} {before:6.0f} MiB before, {memory('VmHWM') - before:6.0f} more,"
        f" {time.process_time() - began:6.1f} s",
        flush=True,
    )


def main(size):
    """Write each data set to a file and start a process for each fit."""
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, X, y, estimators) in enumerate(data_sets(size)):
            file = f"{folder}/{number}"
            joblib.dump((X, y, estimators), file)
            for fit in estimators:
                command = [sys.executable, __file__, "--one", file, f"{name}: {fit}"]
                subprocess.run(command, check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run(*sys.argv[2:])
    else:
        main(sys.argv[1] if sys.argv[1:] else "small")
