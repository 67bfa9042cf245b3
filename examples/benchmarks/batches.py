"""Batches of oracle calls: passes and time to a gap, by the size of the batches and n_jobs.

Two tables of the benchmarks: OCR letters, where an oracle call takes two
microseconds, in threads; and a structure written in Python whose oracle takes two milliseconds
of processor time, in processes. The first needs the OCR data set, see sskit.datasets.

    python examples/benchmarks/batches.py
"""

import time
import warnings

import numpy as np
from _common import ocr
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger, StructuredModel, StructuredSVM
from sskit.solvers import BCFW

SIZES = [1, 2, 4, 8, 16, 64]


class SlowDigits(StructuredModel):
    """Ten classes of rows; argmax keeps the processor busy for 2 ms."""

    parallel = "processes"

    def joint_feature(self, x, y):
        return np.outer(np.arange(10) == y, x).ravel()

    def loss(self, y_true, y):
        return float(y != y_true)

    def argmax(self, x, w, y_true=None):
        end = time.thread_time() + 2e-3
        scores = w.reshape(10, -1) @ x
        if y_true is not None:
            scores += np.arange(10) != y_true
        while time.thread_time() < end:
            pass
        return int(scores.argmax())


def measure(make, X, y, repeats):
    """Print a line for every size: passes, calls an example, best seconds for n_jobs 1 and 2."""
    for size in SIZES:
        seconds = {1: [], 2: []}
        for _ in range(repeats):
            for n_jobs, times in seconds.items():
                start = time.perf_counter()
                model = make(n_jobs, size).fit(X, y)
                times.append(time.perf_counter() - start)
        one, two = (min(times) for times in seconds.values())
        print(
            f"{size:4d} {model.n_iter_:5d} passes {model.n_oracle_calls_ / len(X):7.1f} calls an "
            f"example {one:7.3f} s {two:7.3f} s  gap {model.dual_gap_:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    options = {"lam": 0.01, "tol": 1e-2, "max_iter": 2000, "random_state": 0}
    X, y, _, _ = ocr("small")
    for steps in ("pairwise", "fw"):
        print(f"OCR letters, steps={steps!r}, threads")
        measure(
            lambda n_jobs, size, steps=steps: SequenceTagger(
                loss="hamming", n_jobs=n_jobs, solver=BCFW(steps=steps, batch_size=size), **options
            ),
            X,
            y,
            repeats=3,
        )
    print("Python oracle of 2 ms, processes")
    X, y = load_digits(return_X_y=True)
    measure(
        lambda n_jobs, size: StructuredSVM(
            SlowDigits(), n_jobs=n_jobs, solver=BCFW(batch_size=size), **options
        ),
        X[:200] / 16.0,
        y[:200],
        repeats=1,
    )
