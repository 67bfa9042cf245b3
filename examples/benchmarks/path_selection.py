"""Choosing lam: a path with cross-validation against GridSearchCV, test error and cost.

Five folds for both. The grid has 31 values, 2^15, ..., 2^-15; both refit the estimator on all data
with the lam that they chose, at tol = 0.01. Cost counts all fits: folds, path or grid, refit.

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


def data_sets():
    """Return {name: (estimator, X, y, X_test, y_test)}."""
    digits, classes = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(
        digits / 16.0, classes, test_size=0.5, random_state=0, stratify=classes
    )
    strings, texts = make_digit_strings(1000, random_state=0)
    options = {"random_state": 0, "max_iter": 5000}
    return {
        "digits": (StructSVMClassifier(**options), X, y, X_test, y_test),
        "digit strings": (
            SequenceTagger(**options), strings[:300], texts[:300], strings[300:], texts[300:],
        ),
        "OCR-small": (SequenceTagger(**options), *ocr("small")),
    }  # fmt: skip


def main(names):
    """Print one row for each data set and method."""
    columns = f"{'lam':>9s} {'cv score':>9s} {'test error':>10s} {'seconds':>8s}"
    print(f"{'data':14s} {'method':22s} {columns}")
    folds = KFold(5, shuffle=True, random_state=0)
    for name in names:
        estimator, X, y, X_test, y_test = data_sets()[name]
        methods = {
            "GridSearchCV": GridSearchCV(estimator, GRID, cv=folds),
            "path": RegularizationPath(estimator, lam_min=2.0**-15, cv=folds),
            "path, one std error": RegularizationPath(
                estimator, lam_min=2.0**-15, cv=folds, refit="one_standard_error"
            ),
        }
        for method, search in methods.items():
            began = time.perf_counter()
            with warnings.catch_warnings():
                # tiny lam of the grid take more than max_iter passes
                warnings.simplefilter("ignore", ConvergenceWarning)
                search.fit(X, y)
            seconds = time.perf_counter() - began
            lam = search.best_params_["lam"]
            error = 1.0 - search.best_estimator_.score(X_test, y_test)
            print(
                f"{name:14s} {method:22s} {lam:9.3g} {search.best_score_:9.4f} {error:10.4f} "
                f"{seconds:8.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:] or ["digits", "digit strings", "OCR-small"])
