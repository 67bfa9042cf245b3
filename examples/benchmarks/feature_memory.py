"""Memory of a fit besides features in single and half precision, and in CSR matrices.

Every fit runs in a separate process, which finds its data in files: dense features are
memory-mapped, those of CSR matrices are read. Memory is that of the process itself, without pages
of a file that the system keeps in memory; it is measured every few milliseconds. Linux only. Usage:
python feature_memory.py [small | large] (half a minute; large needs 6 GB of disk, 8 GB of memory
and ten minutes)
"""

import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sskit import MultilabelPairwise, SequenceTagger, StructSVMClassifier, TreeTagger
from sskit.inputs.ragged import split
from sskit.utils import RaggedArray

N_FEATURES, N_LABELS, LENGTH = 768, 17, 25
N_COLUMNS, N_STORED = 100_000, 26
PASSES = {"max_iter": 3, "random_state": 0}
ESTIMATORS = {
    "SequenceTagger": SequenceTagger(**PASSES),
    "TreeTagger": TreeTagger(**PASSES),
    "StructSVMClassifier": StructSVMClassifier(lam=1e-3, standardize=False, **PASSES),
    "MultilabelPairwise": MultilabelPairwise(edges="tree", standardize=False, **PASSES),
}
FITS = [
    *((name, kind) for name in ESTIMATORS for kind in ("float32", "float16")),
    ("SequenceTagger", "CSR float32"),
    ("SequenceTagger", "CSR float64"),
]


def write_dense(folder, n_rows, dtype):
    """Write features of tokens to a file, some rows at a time, and their labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_LABELS, size=n_rows)
    centres = 0.1 * rng.standard_normal((N_LABELS, N_FEATURES), dtype=np.float32)
    X = np.lib.format.open_memmap(
        folder / f"{dtype}.npy", mode="w+", dtype=dtype, shape=(n_rows, N_FEATURES)
    )
    for first in range(0, n_rows, 8192):
        labels = y[first : first + 8192]
        noise = rng.standard_normal((len(labels), N_FEATURES), dtype=np.float32)
        X[first : first + 8192] = centres[labels] + noise
    np.save(folder / f"{dtype}-labels.npy", y)


def write_sparse(folder, n_rows, dtype):
    """Write features of which each row has a few dozen, some more often than others."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_LABELS, size=n_rows)
    columns = np.empty((n_rows, N_STORED), dtype=np.int32)
    for first in range(0, n_rows, 65536):
        labels = y[first : first + 65536]
        fraction = rng.random((len(labels), N_STORED)) ** 3
        block = (fraction * (N_COLUMNS - N_LABELS)).astype(np.int32)
        block[:, :4] += (labels[:, None] - block[:, :4]) % N_LABELS
        columns[first : first + 65536] = np.sort(block, axis=1)
    new = np.ones(columns.shape, dtype=bool)
    new[:, 1:] = columns[:, 1:] != columns[:, :-1]
    np.savez(
        folder / f"CSR {dtype}.npz",
        data=np.ones(new.sum(), dtype=dtype),
        indices=columns[new],
        indptr=np.concatenate([[0], np.cumsum(new.sum(axis=1))]).astype(np.int32),
    )
    np.save(folder / f"CSR {dtype}-labels.npy", y)


def load(folder, kind):
    """Return features, their bytes and labels."""
    y = np.load(folder / f"{kind}-labels.npy")
    if kind.startswith("CSR"):
        parts = [np.load(folder / f"{kind}.npz")[name] for name in ("data", "indices", "indptr")]
        X = sp.csr_array(tuple(parts), shape=(len(y), N_COLUMNS))
        return X, sum(part.nbytes for part in parts), y
    X = np.load(folder / f"{kind}.npy", mmap_mode="r")
    return X, X.nbytes, y


def given(name, X, y):
    """Return what an estimator takes of features and labels."""
    offsets = np.append(np.arange(0, len(y), LENGTH), len(y))
    if name == "SequenceTagger":
        return RaggedArray(X, offsets), split(y, offsets)
    if name == "TreeTagger":
        parents = [(np.arange(b - a) - 1) // 2 for a, b in zip(offsets, offsets[1:], strict=False)]
        for part in parts(parents):
            part[0] = -1
        return list(zip(split(X, offsets), parents, strict=True)), split(y, offsets)
    if name == "MultilabelPairwise":
        return X, (y[:, None] == np.arange(N_LABELS)).astype(np.int8)
    return X, y


def parts(arrays):
    """Return arrays that have an entry."""
    return [array for array in arrays if len(array)]


def own_memory():
    """Return how many MiB this process has that are no pages of files."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    raise OSError("no RssAnon in /proc/self/status")


class Watch:
    """Ask for the largest memory while something runs."""

    def __enter__(self):
        self.before = self.most = own_memory()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.measure)
        self.thread.start()
        return self

    def measure(self):
        """Ask again and again."""
        while not self.over.wait(0.005):
            self.most = max(self.most, own_memory())

    def __exit__(self, *error):
        self.over.set()
        self.thread.join()
        self.more = self.most - self.before


def run(folder, name, kind):
    """Fit one estimator to the data in a folder and print what it took."""
    X, n_bytes, y = load(Path(folder), kind)
    X, y = given(name, X, y)
    began = time.process_time()
    with warnings.catch_warnings(), Watch() as watch:
        warnings.simplefilter("ignore")
        model = ESTIMATORS[name].fit(X, y)
    seconds = time.process_time() - began
    with Watch() as asked:
        model.predict(X)
    print(
        f"{name:20s} {kind:12s} {n_bytes / 2**20:6.0f} MiB of features,"
        f" fit {watch.more:6.0f} MiB more, {seconds:6.1f} s; predict {asked.more:5.0f} MiB more",
        flush=True,
    )


def main(size):
    """Write each data set to files and start a process for each fit."""
    n_rows = 2**20 if size == "large" else 2**15
    with tempfile.TemporaryDirectory() as folder:
        for kind in dict.fromkeys(kind for _, kind in FITS):
            if kind.startswith("CSR"):
                write_sparse(Path(folder), 2 * n_rows + n_rows // 10, kind.partition(" ")[2])
            else:
                write_dense(Path(folder), n_rows, kind)
            for name in [name for name, other in FITS if other == kind]:
                command = [sys.executable, __file__, "--one", folder, name, kind]
                subprocess.run(command, check=True)
            for file in Path(folder).iterdir():
                file.unlink()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run(*sys.argv[2:])
    else:
        main(sys.argv[1] if sys.argv[1:] else "small")
