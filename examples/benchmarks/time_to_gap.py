"""Time of a fit to a relative gap, in units of one exact gap pass of the same build.

OCR-large with lam 0.001 and OCR-small with lam 1/626, normalised Hamming loss. "Relative" has two
readings: the gap over P(0), which is 1 here and what `tol` means, and the gap over P(w), which is
the harder one. Every entry is a separate fit, from lists of matrices to the certificate; the exact
passes that give the unit are timed between the fits. Needs the OCR data set, see sskit.datasets.

    python examples/benchmarks/time_to_gap.py [--sets large small] [--seeds 3] [--passes 500]
        [--solvers NAME ...] [--out FOLDER]
"""

import argparse
import csv
import itertools
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from _common import chain_problem, ocr, processor_time
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW, MultiPlane
from sskit.solvers.oracle_calls.pool import make_pool

# lam, and the certified optimum of P
SETS = {"large": (0.001, 0.302881), "small": (1 / 626, 0.0490815)}
SOLVERS = {
    "auto": BCFW(),
    "3 stored passes": BCFW(stored_passes=3),
    "10 stored passes": BCFW(stored_passes=10),
    "gap, stored by slope": BCFW(sampling="gap"),
    "gap, 10 stored passes": BCFW(sampling="gap", stored_passes=10),
    "multi-plane": MultiPlane(),
    "multi-plane pairwise": MultiPlane(steps="pairwise", averaging=False),
    "plain": BCFW(steps="fw"),
}
COLUMNS = ("set", "solver", "over", "gap", "seed", "seconds", "calls", "arrived", "unit")
READINGS = tuple(itertools.product(("P(0)", "P(w)"), (1e-2, 1e-3)))


class ExactPass:
    """An exact gap pass at the weights that a few passes of BCFW have found."""

    def __init__(self, X, y, lam):
        self.problem = chain_problem(X, y)
        self.regularizer = Regularizer(lam, self.problem.n_weights)
        self.evaluator = make_pool(self.problem)
        self.run = BCFW().start(self.problem, self.regularizer, np.random.RandomState(0))
        for _ in range(10):
            self.run.run_pass()
        self.times = []

    def measure(self, repeats=5):
        """Make some passes."""
        for _ in range(repeats):
            _, seconds = processor_time(
                lambda: self.evaluator.evaluate(self.regularizer.w, self.run.dual)
            )
            self.times.append(seconds)

    def unit(self):
        """Return the median time of a pass."""
        return statistics.median(self.times)


def table(name, options):
    """Fit every solver to every gap on one data set; return the rows and print them."""
    lam, optimum = SETS[name]
    X, y, _, _ = ocr(name)
    exact = ExactPass(X, y, lam)
    fits = []
    for solver, (over, gap), seed in itertools.product(
        options.solvers, READINGS, range(options.seeds)
    ):
        largest = gap if over == "P(0)" else gap * optimum
        # the fit ends at tol * (P(w) + P(0) / 1000), where P(w) is at most optimum + largest
        tol = largest / (optimum + largest + 1e-3)
        tagger = SequenceTagger(
            lam=lam,
            loss="hamming",
            tol=tol,
            max_iter=options.passes,
            solver=SOLVERS[solver],
            random_state=seed,
        )
        exact.measure()
        _, seconds = processor_time(lambda tagger=tagger: tagger.fit(X, y))
        arrived = tagger.dual_gap_ <= largest
        calls = tagger.n_oracle_calls_ / len(X)
        fits.append((name, solver, over, gap, seed, seconds, calls, arrived))
    exact.measure()
    unit = exact.unit()
    print(
        f"\nOCR-{name}, lam = {lam:g}: one exact gap pass takes {unit * 1e3:.2f} ms. Units, "
        f"calls an example, seconds (medians of {options.seeds}); - where it had not arrived after "
        f"{options.passes} passes"
    )
    columns = [f"gap {gap:g} of {over}" for over, gap in READINGS]
    print(f"{'':32s}" + "".join(f"{column:>24s}" for column in columns))
    best = dict.fromkeys(READINGS, np.inf)
    auto = dict.fromkeys(READINGS, np.inf)
    for solver in options.solvers:
        cells = []
        for reading in READINGS:
            chosen = [fit for fit in fits if fit[1] == solver and fit[2:4] == reading]
            units = statistics.median(fit[5] / unit if fit[7] else np.inf for fit in chosen)
            calls = statistics.median(fit[6] for fit in chosen)
            cell = f"{units:6.0f} {calls:6.0f} {units * unit:7.2f}" if np.isfinite(units) else "-"
            cells.append(cell)
            best[reading] = min(best[reading], units)
            if solver == "auto":
                auto[reading] = units
        print(f"{solver:32s}" + "".join(f"{cell:>24s}" for cell in cells))
    ratios = (
        f"{auto[reading] / best[reading]:.2f}" if np.isfinite(auto[reading]) else "-"
        for reading in READINGS
    )
    print(f"{'auto / best':32s}" + "".join(f"{ratio:>24s}" for ratio in ratios), flush=True)
    return [(*fit, unit) for fit in fits]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--passes", type=int, default=500, help="at most, for each fit")
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    began = time.perf_counter()
    rows = [row for name in options.sets for row in table(name, options)]
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.out / "time_to_gap.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    print(f"\n{time.perf_counter() - began:.0f} s by the clock")
