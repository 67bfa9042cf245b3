"""Choosing lam: a path with cross-validation against a warm-started grid and the default lam.

The same folds for both. The grid has 31 values, 2^15, ..., 2^-15, in units of the default lam,
fitted from the largest on, each from where the last one ended. Both then fit all data with the
lam that had the best mean score. The table has lam over the default lam, the test score, passes
(oracle calls over training pairs, those of exact passes included; of all folds, and the path of
all data) and seconds of processor time.

With --train so many training pairs are drawn; with --powers the grid is that of other powers of
two: the last ones take most of the time.

    python examples/benchmarks/path_choice.py [case ...] [--eps 0.1] [--patience 10] [--seeds 0]
                                              [--train 1000] [--powers 15 -15] [--cv 3]
"""

import argparse
import time
import warnings

import numpy as np
from _cases import CASES
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples

from sskit import RegularizationPath


def chosen_by_grid(estimator, score, X, y, folds, lams):
    """Return the lam with the best mean score, and the passes that it took."""
    scores, passes = np.zeros(len(lams)), 0.0
    for train, test in folds.split(np.zeros(_num_samples(X))):
        model = clone(estimator).set_params(warm_start=True)
        part, held_out = _safe_split(model, X, y, train), _safe_split(model, X, y, test, train)
        for k, lam in enumerate(lams):
            model.set_params(lam=lam).fit(*part)
            passes += model.n_oracle_calls_ / len(train)
            scores[k] += score(model, *held_out)
    return lams[np.argmax(scores)], passes


class Report:
    """Prints rows of the table about one case and seed."""

    def __init__(self, name, seed, score, test, default_lam):
        self.name, self.seed, self.score, self.test = name, seed, score, test
        self.default_lam = default_lam

    def row(self, method, model, passes, begun):
        """Print the row of a model."""
        seconds = time.process_time() - begun
        print(
            f"{self.name:17s} {self.seed:4d}  {method:10s} {model.lam_ / self.default_lam:12.5g}  "
            f"{self.score(model, *self.test):.4f}  {passes:8.0f}  {seconds:7.1f}",
            flush=True,
        )


def drawn(X, y, n):
    """Return n training pairs, the same in each run."""
    rows = np.random.RandomState(0).permutation(_num_samples(X))[:n]
    return _safe_indexing(X, rows), _safe_indexing(y, rows)


def compare(name, seed, arguments):
    """Print the rows of all methods."""
    estimator, score, X, y, *test = CASES[name]()
    if arguments.train:
        X, y = drawn(X, y, arguments.train)
    estimator.set_params(random_state=seed)
    n, folds = _num_samples(X), KFold(arguments.cv, shuffle=True, random_state=seed)
    first, last = arguments.powers
    begun = time.process_time()
    plain = clone(estimator).fit(X, y)
    lams = 2.0 ** np.arange(first, last - 1, -1) * plain.lam_
    report = Report(name, seed, score, test, plain.lam_)
    report.row("default", plain, plain.n_oracle_calls_ / n, begun)
    for eps in arguments.eps:
        begun = time.process_time()
        path = RegularizationPath(
            estimator,
            eps=eps,
            cv=folds,
            scoring=score,
            patience=arguments.patience,
            lam_min=float(2.0**-15 * plain.lam_),
        ).fit(X, y)
        # passes over what a fold is trained on, and over all data
        share = 1.0 - 1.0 / arguments.cv
        passes = path.cv_n_oracle_calls_ / (share * n) + path.n_oracle_calls_[-1] / n
        report.row(f"path {eps:g}", path.best_estimator_, passes, begun)
    if not arguments.no_grid:
        begun = time.process_time()
        lam, passes = chosen_by_grid(estimator, score, X, y, folds, lams)
        report.row("grid", clone(estimator).set_params(lam=lam).fit(X, y), passes, begun)


def main(arguments):
    """Print the table."""
    print("case              seed  method      lam/default   score    passes  seconds", flush=True)
    for name in arguments.cases:
        for seed in arguments.seeds:
            compare(name, seed, arguments)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=["digits", "OCR-small"])
    parser.add_argument("--eps", nargs="+", type=float, default=[0.1])
    parser.add_argument("--patience", type=float, default=10.0)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--train", type=int)
    parser.add_argument("--cv", type=int, default=3)
    parser.add_argument("--powers", nargs=2, type=int, default=[15, -15])
    parser.add_argument("--no-grid", action="store_true")
    warnings.simplefilter("ignore", ConvergenceWarning)
    main(parser.parse_args())
