"""Solvers on a structure in Python whose oracle takes 2 ms a call.

Strings of handwritten digits; Viterbi is written in NumPy and then waits until the 2 ms are over,
as if it were a cut or a parser. Oracle calls and time of a fit to the relative gap 0.01, against
plain block-coordinate Frank-Wolfe.

    python examples/benchmarks/slow_oracle.py [--strings 30] [--seeds 3] [--lam 0.01]
        [--passes 300] [--out FOLDER]
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from _common import processor_time
from sklearn.exceptions import ConvergenceWarning

from sskit import StructuredModel, StructuredSVM
from sskit.datasets import make_digit_strings
from sskit.solvers import BCFW, MultiPlane

TOL = 0.01
ONE_STEP = {"block_steps": 1, "stored_passes": 0}
PLAIN = {
    "plain, permutation": BCFW(steps="fw", sampling="permutation", averaging=False),
    "plain, permutation, averaged": BCFW(steps="fw", sampling="permutation"),
    "plain, uniform": BCFW(steps="fw", sampling="uniform", averaging=False),
    "plain, uniform, averaged": BCFW(steps="fw", sampling="uniform"),
}
OURS = {
    "auto": BCFW(),
    "pairwise + gap + cache, 1 step": BCFW(sampling="gap", cache=True, **ONE_STEP),
    "pairwise + gap + cache": BCFW(sampling="gap", cache=True, stored_passes=0),
    "the same, exact pass every 40": BCFW(
        sampling="gap", cache=True, stored_passes=0, gap_every=40
    ),
    "multi-plane": MultiPlane(),
    "multi-plane, pairwise": MultiPlane(steps="pairwise", averaging=False),
}


class SlowDigits(StructuredModel):
    """A chain of digits whose argmax takes a while.

    Parameters
    ----------
    seconds : float, default=0.002
        Processor time of a call of argmax.
    """

    def __init__(self, seconds=0.002):
        self.seconds = seconds

    def joint_feature(self, x, y):
        """Return the sums of the features by label, then counts of the transitions."""
        unary = np.zeros((10, x.shape[1]))
        np.add.at(unary, y, x)
        pairs = np.zeros((10, 10))
        np.add.at(pairs, (y[:-1], y[1:]), 1.0)
        return np.concatenate([unary.ravel(), pairs.ravel()])

    def loss(self, y_true, y):
        """Return the fraction of wrong digits."""
        return float(np.mean(y_true != y))

    def argmax(self, x, w, y_true=None):
        """Return the best labelling, by Viterbi, after the full time."""
        began = time.thread_time()
        d = 10 * x.shape[1]
        scores = x @ w[:d].reshape(10, -1).T
        transitions = w[d:].reshape(10, 10)
        if y_true is not None:
            scores += (np.arange(10) != y_true[:, None]) / len(x)
        best, back = scores[0], []
        for row in scores[1:]:
            table = best[:, None] + transitions
            back.append(table.argmax(axis=0))
            best = table.max(axis=0) + row
        labels = [int(best.argmax())]
        for pointers in reversed(back):
            labels.append(int(pointers[labels[-1]]))
        while time.thread_time() - began < self.seconds:
            pass
        return np.array(labels[::-1])


def fit(solver, X, y, seed, options):
    """Return (calls an example, seconds, relative gap) of a fit."""
    classifier = StructuredSVM(
        SlowDigits(),
        lam=options.lam,
        tol=TOL,
        max_iter=options.passes,
        solver=solver,
        random_state=seed,
    )
    _, seconds = processor_time(lambda: classifier.fit(X, y))
    return classifier.n_oracle_calls_ / len(X), seconds, classifier.dual_gap_


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strings", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--lam", type=float, default=0.01)
    parser.add_argument("--passes", type=int, default=300, help="at most, for each fit")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = make_digit_strings(options.strings, random_state=0)
    rows, medians = [], {}
    for name, solver in (PLAIN | OURS).items():
        fits = [fit(solver, X, y, seed, options) for seed in range(options.seeds)]
        rows += [(name, seed, *found) for seed, found in enumerate(fits)]
        medians[name] = calls, seconds, gap = np.median(fits, axis=0)
        print(
            f"{name:32s} {calls:7.1f} calls an example, {seconds:6.1f} s, gap {gap:.4f}"
            + ", not arrived" * bool(gap > TOL),
            flush=True,
        )
    print(
        "\nfactors of calls (and seconds) over ours, of " + "; ".join(PLAIN) + "; at least, where "
        "one has not arrived"
    )
    for ours in OURS:
        cells = (
            f"{medians[plain][0] / medians[ours][0]:6.1f} "
            f"({medians[plain][1] / medians[ours][1]:.1f})"
            for plain in PLAIN
        )
        print(f"{ours:32s}" + "  ".join(cells))
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.out / "slow_oracle.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("solver", "seed", "calls", "seconds", "gap"))
        writer.writerows(rows)
