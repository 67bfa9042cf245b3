"""Choosing lam: a path with cross-validation against a warm-started grid and the default lam.

Three folds for both. The grid has 31 values, 2^15, ..., 2^-15, in units of the default lam, fitted
from the largest on, each from where the last one ended. Both then fit all data with the lam that
had the best mean score. The table has lam over the default lam, the test score, passes (oracle calls
over training pairs, those of exact passes included; of all folds, and the path of all data) and
seconds of processor time.

    python examples/benchmarks/path_choice.py [case ...] [--eps 0.1] [--patience 100] [--seeds 0]
"""

import argparse
import time
import warnings

import numpy as np
from _cases import CASES
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.utils.metaestimators import _safe_split

from sskit import RegularizationPath

POWERS = 2.0 ** np.arange(15, -16, -1)


def chosen_by_grid(estimator, score, X, y, folds, lams):
    """Return the lam with the best mean score, and the passes that it took."""
    scores, passes = np.zeros(len(lams)), 0.0
    for train, test in folds.split(X):
        model = clone(estimator).set_params(warm_start=True)
        part, held_out = _safe_split(model, X, y, train), _safe_split(model, X, y, test, train)
        for k, lam in enumerate(lams):
            model.set_params(lam=lam).fit(*part)
            passes += model.n_oracle_calls_ / len(train)
            scores[k] += score(model, *held_out)
    return lams[np.argmax(scores)], passes


def main(arguments):
    """Print one row for each case, seed and method."""
    print("case              seed  method      lam/default   score    passes  seconds", flush=True)
    for name in arguments.cases:
        estimator, score, X, y, X_test, y_test = CASES[name]()
        for seed in arguments.seeds:
            estimator.set_params(random_state=seed)
            folds = KFold(3, shuffle=True, random_state=seed)
            plain, begun = clone(estimator).fit(X, y), time.process_time()

            def tell(method, model, passes, seed=seed, plain=plain, name=name):
                print(
                    f"{name:17s} {seed:4d}  {method:10s} {model.lam_ / plain.lam_:12.5g}  "
                    f"{score(model, X_test, y_test):.4f}  {passes:8.0f}  "
                    f"{time.process_time() - begun:7.1f}",
                    flush=True,
                )

            tell("default", plain, plain.n_oracle_calls_ / len(X))
            for eps in arguments.eps:
                begun = time.process_time()
                path = RegularizationPath(
                    estimator,
                    eps=eps,
                    cv=folds,
                    scoring=score,
                    patience=arguments.patience,
                    lam_min=float(POWERS[-1]) * plain.lam_,
                ).fit(X, y)
                calls = path.cv_n_oracle_calls_ / (2 / 3) + path.n_oracle_calls_[-1]
                tell(f"path {eps:g}", path.best_estimator_, calls / len(X))
            if not arguments.no_grid:
                begun = time.process_time()
                lam, passes = chosen_by_grid(estimator, score, X, y, folds, POWERS * plain.lam_)
                tell("grid", clone(estimator).set_params(lam=lam).fit(X, y), passes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=["digits", "OCR-small"])
    parser.add_argument("--eps", nargs="+", type=float, default=[0.1])
    parser.add_argument("--patience", type=float, default=100.0)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--no-grid", action="store_true")
    warnings.simplefilter("ignore", ConvergenceWarning)
    main(parser.parse_args())
