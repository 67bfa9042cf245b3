"""A whole path against a grid of 31 lam, solved to the same gap (Osokin et al. 2016, figure 8).

The grid is 2^15, 2^14, ..., 2^-15, each fit from the start or continuing from the last one. Passes
count all oracle calls, those of exact passes included. Writes path_grid.csv: the cumulative passes
and seconds at which each method had each lam.

Usage: python path_grid.py [data set ...]      (about two minutes)
"""

import csv
import sys
import time

import numpy as np
from _common import ocr
from sklearn.base import clone
from sklearn.datasets import load_digits

from sskit import RegularizationPath, SequenceTagger, StructSVMClassifier

EPS = 0.1
GRID = 2.0 ** np.arange(15, -16, -1)
SOLVERS = {
    "BCFW, gap sampling": {"steps": "fw", "sampling": "gap"},
    "pairwise, gap sampling, cache": {"steps": "pairwise", "sampling": "gap", "cache": True},
    "auto": {},
}


def data_sets():
    """Return {name: (estimator, X, y)}."""
    digits, classes = load_digits(return_X_y=True)
    words, letters, *_ = ocr("small")
    options = {"random_state": 0, "max_iter": 100_000}
    return {
        "digits": (StructSVMClassifier(**options), digits / 16.0, classes),
        "OCR-small": (SequenceTagger(loss="hamming", **options), words, letters),
    }


def grid(estimator, X, y, warm_start):
    """Return rows (lam, cumulative passes, seconds)."""
    model, calls, rows, began = clone(estimator), 0, [], time.perf_counter()
    model.set_params(tol=EPS, warm_start=warm_start)
    for lam in GRID:
        calls += model.set_params(lam=lam).fit(X, y).n_oracle_calls_
        rows.append((lam, calls / len(X), time.perf_counter() - began))
    return rows


def path(estimator, X, y):
    """Return rows (lam, cumulative passes, seconds)."""
    traced = RegularizationPath(estimator, eps=EPS, lam_min=GRID[-1]).fit(X, y)
    passes = traced.n_oracle_calls_ / len(X)
    return list(zip(traced.lams_, passes, traced.times_, strict=True))


def main(names):
    """Run all methods with all solvers."""
    out = []
    for name in names:
        estimator, X, y = data_sets()[name]
        for solver, options in SOLVERS.items():
            base = clone(estimator).set_params(**options)
            runs = {
                "grid": grid(base, X, y, False),
                "grid, warm start": grid(base, X, y, True),
                "path": path(base, X, y),
            }
            warm = runs["grid, warm start"][-1]
            print(f"{name}, {solver}")
            for label, rows in runs.items():
                _, passes, seconds = rows[-1]
                print(
                    f"  {label:28s} {len(rows):4d} models {passes:7.0f} passes "
                    f"({passes / warm[1]:.2f}) {seconds:6.2f} s ({seconds / warm[2]:.2f})"
                )
                out += [(name, solver, label, *row) for row in rows]
    with open("path_grid.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "solver", "method", "lam", "passes", "seconds"])
        writer.writerows(out)


if __name__ == "__main__":
    main(sys.argv[1:] or ["digits", "OCR-small"])
