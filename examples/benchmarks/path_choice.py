"""Choosing lam by folds: is the choice ever worse than the default, and what does it cost?

`RegularizationPath` with three folds against one fit with the default lam, without tuning: the
options of all estimators are their defaults. With name:n the training data are n pairs, drawn by
the seed, which also draws the folds. The table has the score of the default on test data, that of
the choice and their difference, lam over the default lam, and processor time: of the fit with the
default, and of the whole choice, its last fit included, over that. It ends with the worst
difference and the longest time.

    python examples/benchmarks/path_choice.py [case[:n] ...] [--seeds 0 1 2] [--cv 3]
"""

import argparse
import warnings

import numpy as np
from _cases import CASES
from _common import processor_time
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from sskit import RegularizationPath

# sizes at which a fit takes seconds
TABLE = [
    "digits",
    "USPS:2000",
    "OCR-small",
    "OCR-large",
    "CoNLL-2000:500",
    "CoNLL-2000:1000",
    "CoNLL-2000:3000",
    "CoNLL-2000",
    "CoNLL-2000, NP:1000",
    "CoNLL-2000, ADJP:1000",
    "CoNLL-2000, ADJP:3000",
    "POS:500",
    "POS:1000",
    "POS, WDT:1000",
    "yeast",
    "RCV1, 30 topics:1000",
    "bibtex:1000",
    "imclef07a:1000",
]


def scaled(X, X_test):
    """Return rows with columns of mean 0 and variance 1, as is usual."""
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def drawn(X, y, n, seed):
    """Return n training pairs."""
    rows = np.random.RandomState(seed).permutation(_num_samples(X))[:n]
    return _safe_indexing(X, rows), _safe_indexing(y, rows)


def compare(data, title, n, seed, cv):
    """Print a row of the table; return the difference of scores and the ratio of times."""
    estimator, score, X, y, X_test, y_test = data
    if n:
        X, y = drawn(X, y, n, seed)
    if isinstance(X, np.ndarray):
        X, X_test = scaled(X, X_test)
    estimator.set_params(random_state=seed)
    folds = KFold(cv, shuffle=True, random_state=seed)
    plain, one = processor_time(lambda: clone(estimator).fit(X, y))
    choice, all_ = processor_time(
        lambda: RegularizationPath(estimator, cv=folds, scoring=score).fit(X, y)
    )
    default, chosen = (score(m, X_test, y_test) for m in (plain, choice.best_estimator_))
    print(
        f"{title:24s}{seed:3d}{default:9.4f}{chosen:9.4f}{chosen - default:+9.4f}"
        f"{choice.best_lam_ / choice.default_lam_:7.3g}{one:9.2f}{all_ / one:7.1f}",
        flush=True,
    )
    return chosen - default, all_ / one


def main(arguments):
    """Print the table."""
    print(
        "case                   seed  default   chosen     diff    lam  seconds  ratio", flush=True
    )
    found = []
    for title in arguments.cases:
        name, _, n = title.partition(":")
        data = CASES[name]()
        for seed in arguments.seeds:
            found.append(compare(data, title, int(n or 0), seed, arguments.cv))
    differences, ratios = np.array(found).T
    print(
        f"of {len(found)}: worst difference {differences.min():+.4f}, "
        f"mean {differences.mean():+.4f}; longest time {ratios.max():.1f} fits"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=TABLE)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--cv", type=int, default=3)
    warnings.simplefilter("ignore", ConvergenceWarning)
    main(parser.parse_args())
