"""Choosing lam: a path with cross-validation against GridSearchCV, test error and cost.

Five folds for both. The grid has 31 values, 2^15, ..., 2^-15; both refit the estimator on all data
with the lam that they chose. At tol = 0.01 the error of one fit on digits varies by 0.005 with
where it happens to stop, more than the methods differ: digits and strings have tol = 0.001. Seconds
count all fits: folds, path or grid, refit. Digits and digit strings are split (or made) twenty
times; the table has means over these, and the mean difference of the test error to the grid's with
its standard error.

Usage: python path_selection.py [data set ...]      (about five minutes)
"""

import sys
import time
import warnings

import numpy as np
from _common import ocr
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, train_test_split

from sskit import RegularizationPath, SequenceTagger, StructSVMClassifier
from sskit.datasets import make_digit_strings

GRID = {"lam": 2.0 ** np.arange(15, -16, -1)}


def digits(seed):
    """Return (estimator, X, y, X_test, y_test): half of scikit-learn's digits each."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(
        X / 16.0, y, test_size=0.5, random_state=seed, stratify=y
    )
    return StructSVMClassifier(), X, y, X_test, y_test


def strings(seed):
    """Return the same of strings of digits, 200 and 600."""
    X, y = make_digit_strings(800, random_state=seed)
    return SequenceTagger(), X[:200], y[:200], X[200:], y[200:]


def words(seed):
    """Return the same of OCR letters; there is one split of them."""
    del seed
    return SequenceTagger(loss="hamming"), *ocr("small")


# splits, and tol of the fits
DATA = {
    "digits": (digits, 20, 1e-3),
    "digit strings": (strings, 20, 1e-3),
    "OCR-small": (words, 1, 1e-2),
}


def searches(estimator, seed):
    """Return {name: search}."""
    folds = KFold(5, shuffle=True, random_state=seed)
    options = {"cv": folds, "lam_min": float(GRID["lam"][-1])}
    return {
        "GridSearchCV": GridSearchCV(estimator, GRID, cv=folds),
        "path, eps 0.1": RegularizationPath(estimator, eps=0.1, **options),
        "path, eps 0.02": RegularizationPath(estimator, eps=0.02, **options),
        "same, one std error": RegularizationPath(
            estimator, eps=0.02, refit="one_standard_error", **options
        ),
    }


def main(names):
    """Print one row for each data set and method."""
    print(f"{'data':14s} {'method':20s} {'log2 lam':>9s} {'error':>7s} {'to grid':>16s} {'s':>7s}")
    for name in names:
        make, n_repeats, tol = DATA[name]
        rows = {}
        for seed in range(n_repeats):
            estimator, X, y, X_test, y_test = make(seed)
            estimator.set_params(random_state=seed, max_iter=2000, tol=tol)
            for method, search in searches(estimator, seed).items():
                began = time.perf_counter()
                with warnings.catch_warnings():
                    # tiny lam of the grid take more than max_iter passes
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    search.fit(X, y)
                seconds = time.perf_counter() - began
                error = 1.0 - search.best_estimator_.score(X_test, y_test)
                row = (np.log2(search.best_params_["lam"]), error, seconds)
                rows.setdefault(method, []).append(row)
        base = np.array(rows["GridSearchCV"])
        for method, found in rows.items():
            found = np.array(found)
            lam, error, seconds = found.mean(axis=0)
            more = found[:, 1] - base[:, 1]
            spread = more.std(ddof=1) / np.sqrt(n_repeats) if n_repeats > 1 else np.nan
            print(
                f"{name:14s} {method:20s} {lam:9.1f} {error:7.4f} {more.mean():+8.4f} "
                f"+-{spread:6.4f} {seconds:6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:] or list(DATA))
