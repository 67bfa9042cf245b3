"""How long Ctrl-C takes to end a fit, on large problems and slow oracles.

Ctrl-C is pressed some time after the first pass has begun. Processor time (of a structure in
Python, whose oracle sleeps, time on the clock) until the pass has ended, and until the exact pass
after it has; then, in another fit, from a second Ctrl-C during that exact pass until the fit has
ended without it.

    python examples/benchmarks/interruptions.py [--after 2.0 2.7 3.9] [--only NAME ...]
        [--out FOLDER]
"""

import argparse
import csv
import os
import signal
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sskit import (
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
    StructuredModel,
    StructuredSVM,
)
from sskit.core import stop as _stop
from sskit.estimators.base import estimator as _base


class SleepyClasses(StructuredModel):
    """Multiclass classification whose argmax takes 50 ms, mostly asleep."""

    def joint_feature(self, x, y):
        """Return the features at the place of the class."""
        return np.outer(np.arange(4) == y, x).ravel()

    def loss(self, y_true, y):
        """Return 1 for a wrong class."""
        return float(y_true != y)

    def argmax(self, x, w, y_true=None):
        """Return the best class, late."""
        time.sleep(0.05)
        scores = w.reshape(4, -1) @ x
        if y_true is not None:
            scores += np.arange(4) != y_true
        return int(scores.argmax())


def rows(n, n_classes=5, n_features=20):
    """Return rows and noisy classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features))
    scores = X @ rng.normal(size=(n_features, n_classes))
    return X, (scores + 2.0 * rng.normal(size=scores.shape)).argmax(axis=1)


def chains(n, n_labels, length=15):
    """Return sequences whose features tell of their labels."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(n_labels, 30))
    y = [rng.integers(n_labels, size=length) for _ in range(n)]
    return [means[labels] + rng.normal(size=(length, 30)) for labels in y], y


def images(n, side):
    """Return grids with a rectangle in noise, as graphs."""
    rng = np.random.default_rng(0)
    number = np.arange(side * side).reshape(side, side)
    pairs = (number[:, :-1], number[:, 1:]), (number[:-1], number[1:])
    edges = np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in pairs])
    X, y = [], []
    for _ in range(n):
        (top, bottom), (left, right) = np.sort(rng.integers(side, size=(2, 2)))
        labels = np.zeros((side, side), dtype=int)
        labels[top:bottom, left:right] = 1
        noise = rng.normal(size=(side, side, 2))
        features = np.dstack([labels + 1.5 * noise[..., 0], noise[..., 1], np.ones_like(labels)])
        X.append((features.reshape(-1, 3), edges, np.ones((len(edges), 1))))
        y.append(labels.ravel())
    return X, y


# name: estimator, data, clock
CASES = {
    "rbf, 30,000 rows": (
        StructSVMClassifier(kernel="rbf", gamma=0.05, kernel_cache=1000),
        lambda: rows(30_000),
        time.process_time,
    ),
    "linear, 400,000 rows": (StructSVMClassifier(), lambda: rows(400_000), time.process_time),
    "linear, plain steps": (
        StructSVMClassifier(steps="fw"),
        lambda: rows(400_000),
        time.process_time,
    ),
    "chains, 200 labels": (SequenceTagger(), lambda: chains(4000, 200), time.process_time),
    "gdmm, 1,000 labels": (
        SequenceTagger(solver="gdmm"),
        lambda: chains(600, 1000),
        time.process_time,
    ),
    "cuts, 32,400 pixels": (SegmentationModel(), lambda: images(12, 180), time.process_time),
    "Python oracle, 50 ms": (
        StructuredSVM(SleepyClasses()),
        lambda: rows(40, 4, 10),
        time.perf_counter,
    ),
}


class WatchedStop(_stop.Stop):
    """Remembers when the last pass ended, and lets a thread press Ctrl-C."""

    clock, after = time.process_time, ()

    def __init__(self, max_time=None):
        self.pressed, self.ended = [], None
        _stop.presses.clear()

    def begin_pass(self):
        """Let the thread go when the first pass begins."""
        if self.ended is None:
            self.ended = np.nan
            threading.Thread(target=self.press_keys, daemon=True).start()
        super().begin_pass()

    def begin_certificate(self):
        """Remember when that was."""
        self.ended = self.clock()
        super().begin_certificate()

    def press_keys(self):
        """Press Ctrl-C after the times that were asked for; the second during the exact pass."""
        time.sleep(self.after[0])
        for _ in self.after:
            self.pressed.append(self.clock())
            os.kill(os.getpid(), signal.SIGINT)
            while not self.ended >= self.pressed[0]:
                time.sleep(1e-3)


def interrupt(model, X, y, clock, after):
    """Fit with a press after each of some times; return when it was pressed, ended and over."""
    stops = []

    def make_stop(max_time=None):
        stops.append(WatchedStop(max_time))
        stops[-1].clock, stops[-1].after = clock, after
        return stops[-1]

    _base.Stop = make_stop
    model.set_params(tol=0, max_iter=10**6, random_state=0).fit(X, y)
    return stops[-1].pressed, stops[-1].ended, clock()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--after", type=float, nargs="+", default=[2.0, 2.7, 3.9])
    parser.add_argument("--only", nargs="+", default=list(CASES), choices=CASES, metavar="NAME")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    found = []
    for name in options.only:
        model, data, clock = CASES[name]
        X, y = data()
        for seconds in options.after:
            (first,), ended, over = interrupt(model, X, y, clock, [seconds])
            pressed, _, left = interrupt(model, X, y, clock, [seconds] * 2)
            skipped = left - pressed[-1] if len(pressed) == 2 and not model.certified_ else np.nan
            found.append((name, seconds, ended - first, over - ended, skipped))
        most = np.nanmax([row[2:] for row in found if row[0] == name], axis=0)
        print(
            f"{name:22s} the pass ends after {most[0]:.2f} s, the exact pass takes {most[1]:.2f} "
            f"s; a second Ctrl-C ends it after {most[2]:.2f} s",
            flush=True,
        )
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.out / "interruptions.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("case", "after", "pass", "exact_pass", "second"))
        writer.writerows(found)
