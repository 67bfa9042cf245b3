"""Projections or stored planes: which steps suit classifiers, by labels and regularisation?

Processor time of whole fits to the default tolerance with steps="projection" and with
steps="pairwise", their passes and relative gaps, for lam of 100, 10 and 1 over the number of rows,
and of fits with a Gaussian kernel. Needs the data sets in the folder SSKIT_DATA.

    python examples/benchmarks/classifier_steps.py [iris digits usps a9a covtype7 letters leaves
        made] [--repeats 5] [--kernels]
"""

import argparse
import os
import statistics
import warnings
from pathlib import Path

import numpy as np
from _common import ocr, processor_time
from kernels_a9a import read as read_a9a
from kernels_svc import CASES, covtype7, usps
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning

from sskit import StructSVMClassifier
from sskit.solvers import BCFW


def digits():
    """Return the digits of scikit-learn."""
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def letters():
    """Return 16,000 letters of OCR, their pixels."""
    parts = [np.concatenate(part) for part in ocr("large")]
    return np.concatenate(parts[::2])[:16_000, :128], np.concatenate(parts[1::2])[:16_000]


def leaves():
    """Return X-rays and the leaf of the hierarchy that each belongs to."""
    with np.load(Path(os.environ["SSKIT_DATA"]) / "imclef07a" / "imclef07a.npz") as file:
        sets = file["Y_train"]
        return file["X_train"] / 7.0, (sets * np.arange(1, sets.shape[1] + 1)).max(axis=1)


def made():
    """Return rows of 100 classes that overlap."""
    return make_classification(
        20_000, 100, n_informative=60, n_classes=100, n_clusters_per_class=1, class_sep=2.0,
        random_state=0,
    )  # fmt: skip


DATA = {
    "iris": lambda: load_iris(return_X_y=True),
    "digits": digits,
    "usps": lambda: usps()[:2],
    "a9a": lambda: read_a9a(None)[:2],
    "covtype7": lambda: covtype7()[:2],
    "letters": letters,
    "leaves": leaves,
    "made": made,
}


def measure(steps, X, y, repeats, **options):
    """Return the median time of fits, their passes and their gap."""
    model = StructSVMClassifier(
        solver=BCFW(steps=steps), standardize=False, max_iter=300, random_state=0, **options
    )  # fmt: skip
    times = [processor_time(lambda: model.fit(X, y))[1] for _ in range(repeats)]
    return statistics.median(times), model.n_iter_, model.dual_gap_ / model.primal_objective_


def compare(name, X, y, repeats, **options):
    """Print a line."""
    pairwise, projection = (
        measure(steps, X, y, repeats, **options) for steps in ("pairwise", "projection")
    )
    cells = "  ".join(f"{s:8.3f} s {n:4d} {gap:.4f}" for s, n, gap in (pairwise, projection))
    lam = options["lam"] * X.shape[0]
    print(
        f"{name:10s} {len(np.unique(y)):4d} labels, lam {lam:5.1f} / n  {cells}  "
        f"{projection[0] / pairwise[0]:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(DATA))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--kernels", action="store_true", help="fits with a Gaussian kernel too")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for chosen in options.names:
        X, y = DATA[chosen]()
        for factor in (100.0, 10.0, 1.0):
            compare(chosen, X, y, options.repeats, lam=factor / X.shape[0])
    for chosen in ("letters", "usps", "covtype7") if options.kernels else ():
        make, gamma, C = CASES[chosen]
        X, y = make()[:2]
        lam = 1.0 / (C * X.shape[0])
        compare(
            f"{chosen} rbf", X, y, 1, lam=lam, kernel="rbf", gamma=gamma, kernel_cache=500.0
        )  # fmt: skip
