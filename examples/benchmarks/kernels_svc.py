"""Time of exact fits with a Gaussian kernel compared with SVC, with two classes and with many.

For each data set: seconds of processor time of scikit-learn's SVC and of block-coordinate
Frank-Wolfe in the same kernel space, their ratio, test accuracies, support vectors, and the gap
that is reached. With two classes lam is 2 / (C n) for the C of SVC; with more it is a factor over
C n. Needs the data sets in the folder SSKIT_DATA.

    python examples/benchmarks/kernels_svc.py [letters usps covtype7 a9a covtype checkers]
        [--cache 500] [--tol 0.01] [--factors 1] [--no-svc]
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from _common import ocr, processor_time
from kernels_a9a import read as read_a9a
from kernels_covtype import CATEGORIES, N_TEST, checkers, covtype
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from sskit import StructSVMClassifier


def letters():
    """Return 16,000 letters of OCR in 16 principal components, and 10,000 others."""
    parts = [np.concatenate(part) for part in ocr("large")]
    X, y = np.concatenate(parts[::2])[:, :128], np.concatenate(parts[1::2])
    rows = np.random.default_rng(0).permutation(len(y))[:26_000]
    X = PCA(16, random_state=0).fit_transform(X[rows])
    X /= np.abs(X).max()
    return X[:16_000], y[rows[:16_000]], X[16_000:], y[rows[16_000:]]


def usps():
    """Return the digits of USPS."""
    with np.load(Path(os.environ["SSKIT_DATA"]) / "usps" / "usps.npz") as file:
        X, X_test = (file[f"X_{part}"] / 1000.0 - 1.0 for part in ("train", "test"))
        return X, file["y_train"], X_test, file["y_test"]


def covtype7():
    """Return 16,000 rows of covtype with seven classes, and 5,000 others."""
    with np.load(Path(os.environ["SSKIT_DATA"]) / "covtype" / "covtype_train.npz") as file:
        data = dict(file)
    rows = np.random.default_rng(0).permutation(len(data["y"]))[: 16_000 + N_TEST]
    kinds = [data[name][rows, None] == np.unique(data[name]) for name in CATEGORIES]
    X = np.hstack([minmax_scale(data["numeric"][rows].astype(np.float64)), *kinds])
    y = data["y"][rows]
    return X[N_TEST:], y[N_TEST:], X[:N_TEST], y[:N_TEST]


def halves(X, y):
    """Return what follows the first N_TEST rows, and these."""
    return X[N_TEST:], y[N_TEST:], X[:N_TEST], y[:N_TEST]


def covtype2():
    """Return 49,990 rows of 22 columns of covtype, class 2 against the rest."""
    X, y = covtype(49_990)
    return halves(X[:, :22], y)


# data, gamma, C
CASES = {
    "letters": (letters, 2.0, 4.0),
    "usps": (usps, 0.0078, 10.0),
    "covtype7": (covtype7, 2.0, 4.0),
    "a9a": (lambda: read_a9a(None), 0.05, 1.0),
    "covtype": (covtype2, 2.0, 2.0),
    "checkers": (lambda: halves(*checkers(8_000)), 200.0, 10.0),
}


def compare(name, options):
    """Print the lines of one data set."""
    make, gamma, C = CASES[name]
    X, y, X_test, y_test = make()
    n, own = X.shape[0], float("nan")
    print(f"{name}: {n} rows of {X.shape[1]}, {len(np.unique(y))} classes", flush=True)
    if not options.no_svc:
        svc = SVC(gamma=gamma, C=C, cache_size=options.cache)
        _, own = processor_time(lambda: svc.fit(X, y))
        score, count = svc.score(X_test, y_test), len(svc.support_)
        print(f"{'SVC':12s} {own:8.2f} s         {score:.4f} {count:7d}", flush=True)
    for factor in [2.0] if len(np.unique(y)) == 2 else options.factors:
        model = StructSVMClassifier(
            kernel="rbf",
            gamma=gamma,
            lam=factor / (C * n),
            tol=options.tol,
            kernel_cache=options.cache,
            max_iter=options.max_iter,
            random_state=0,
        )
        _, seconds = processor_time(lambda model=model: model.fit(X, y))
        score, count = model.score(X_test, y_test), len(model.support_)
        print(
            f"factor {factor:<5g} {seconds:8.2f} s  {seconds / own:6.2f} {score:.4f} {count:7d}"
            f"  gap {model.dual_gap_:.5f}  {model.n_iter_} passes",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(CASES))
    parser.add_argument("--cache", type=float, default=500.0)
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--factors", nargs="+", type=float, default=[1.0])
    parser.add_argument("--max-iter", type=int, default=600)
    parser.add_argument("--no-svc", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in options.names:
        compare(name, options)
