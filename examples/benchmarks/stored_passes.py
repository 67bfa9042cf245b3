"""Stored passes by the slope rule: calls and time by what an oracle's pass counts as.

Fits with default settings. A pass over stored planes follows while it raises the dual objective as
steeply as all since the last pass with the oracle, whose work counts as W passes over stored
planes: an estimate, so that nothing is timed. The script prints, for each W, calls of the oracle
for each training pair and seconds of the processor, medians of three seeds.

    python examples/benchmarks/stored_passes.py [CASE ...]

Cases: trees, grids, digits, strings; text, sets, mails, poses, horses and msrc need data sets, see
sskit.datasets.
"""

import argparse
import time
import warnings

import _cases
import numpy as np
from batches import SlowDigits
from many_cores import grids, trees
from multilabel_tables import yeast
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from slow_oracle import SlowDigits as SlowStrings

from sskit import SegmentationModel, StructuredSVM, TreeTagger
from sskit.datasets import make_digit_strings
from sskit.solvers import BCFW
from sskit.solvers.block_coordinate import runs

WORK = 100.0, 30.0, 10.0, 3.0, 1.0


def training(case):
    """Return the estimator and the training data of a case."""
    estimator, _, X, y, *_ = case
    return estimator, X, y


def digits():
    """Return a structure in Python whose oracle takes 2 ms, and rows."""
    X, y = load_digits(return_X_y=True)
    return StructuredSVM(SlowDigits(), lam=0.01), X[:200] / 16, y[:200]


def strings():
    """Return a chain in Python whose oracle takes 2 ms, and strings of digits."""
    data = make_digit_strings(30, random_state=0)
    return StructuredSVM(SlowStrings(), lam=0.01, tol=0.01), *data


def text():
    """Return sentences with parts of speech as trees of one branch."""
    _, X, y = training(_cases.words())
    return TreeTagger(), [(x, np.arange(-1, x.shape[0] - 1)) for x in X], y


def sets():
    """Return sets of labels; "auto" of these has no cache and no costly oracle."""
    estimator, X, y = training(_cases.sets(yeast))
    return estimator.set_params(solver=BCFW()), X, y


CASES = {
    "trees": lambda: (TreeTagger(), *trees()),
    "grids": lambda: (SegmentationModel(lam=0.01), *grids()),
    "digits": digits,
    "strings": strings,
    "text": text,
    "sets": sets,
    "mails": lambda: training(_cases.mails()),
    "poses": lambda: training(_cases.poses()),
    "horses": lambda: training(_cases.photographs("horses", None)),
    "msrc": lambda: training(_cases.photographs("msrc", None)),
}


def main(names):
    """Print a line for each case and W."""
    schedule = runs.Schedule
    for name in names:
        estimator, X, y = CASES[name]()
        for work in WORK:
            # every problem is taken for one of this work
            runs.Schedule = lambda n, given=None, clock=False, work=work: schedule(
                n, given and work, clock
            )
            found = []
            for seed in range(3):
                model, start = clone(estimator).set_params(random_state=seed), time.process_time()
                model.fit(X, y)
                seconds = time.process_time() - start
                found.append((model.n_oracle_calls_ / len(X), seconds))
            calls, seconds = np.median(found, axis=0)
            print(f"{name:8} {work:5g}: {calls:6.1f} calls a pair, {seconds:6.2f} s", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=["trees", "grids", "digits", "strings"])
    main(parser.parse_args().cases)
