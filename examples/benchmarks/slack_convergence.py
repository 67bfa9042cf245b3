"""Convergence of slack-rescaled training on yeast, by solver and search.

Choi, Meshi, Srebro (2016). Fast and scalable structural SVM with slack rescaling. AISTATS. Figure
4: their stochastic subgradient descent and cutting planes with the searches that they compare, and
block-coordinate Frank-Wolfe. All sets of the 14 labels with a weight for each pair, which can be
tried, so that the objective of every iterate is known exactly whatever its search missed; the plot
shows the objective minus a dual bound of a long run with exact answers, a certified bound on the
suboptimality. Evaluating it is not timed. Needs the data set yeast, see sskit.datasets.

    python examples/benchmarks/slack_convergence.py [--rows 100] [--seconds 1.5] [--out FOLDER]
"""

import argparse
import csv
import itertools
import time
from pathlib import Path

import numpy as np
from _data import load_yeast

from sskit import MultilabelPairwise, SlackRescaling
from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW, CuttingPlane, Subgradient
from sskit.solvers.oracle_calls.pool import make_pool

SOLVERS = {"bcfw": BCFW(), "subgradient": Subgradient(), "cutting_plane": CuttingPlane()}
SEARCHES = ("exact", "angular", "bisecting")
GAPS = (0.1, 0.03, 0.01)
COLUMNS = ("solver", "search", "passes", "queries", "seconds", "gap")
RESULTS = Path(__file__).parent / "results"


class Yeast:
    """The training problem, its objective, and a lower bound of that."""

    def __init__(self, n_rows):
        data = load_yeast()
        rows = np.random.default_rng(0).permutation(len(data.data))[:n_rows]
        model = MultilabelPairwise(inference="exhaustive", standardize=False)
        task = model._make_task(data.data[rows], data.target[rows], None)
        self.margin, self.lam, self.n_rows = task.problem, task.default_lam, n_rows
        exact = SlackRescaling("exact").wrap(self.margin)
        self.evaluator = make_pool(exact)
        self.unit = self.primal(np.zeros(exact.n_weights))
        solution = BCFW().solve(exact, self.regularizer(), tol=1e-3, max_iter=2000, random_state=0)
        self.bound, self.certificate = solution.dual, solution.gap / self.unit

    def regularizer(self):
        """Return a new one, at zero."""
        return Regularizer(self.lam, self.margin.n_weights)

    def primal(self, w):
        """Return the objective."""
        hinges = self.evaluator.hinges(np.concatenate([w, np.zeros(16)]))
        return 0.5 * self.lam * w @ w + float(hinges @ self.margin.block_weight)


def trace(yeast, solver, search, seconds):
    """Run a solver with a search; return rows (passes, queries, seconds, gap)."""
    problem = SlackRescaling(search).wrap(yeast.margin.fork())
    run = solver.start(problem, yeast.regularizer(), np.random.RandomState(0))
    spent, due, rows = 0.0, 1.0, []
    for n_passes in itertools.count(1):
        start = time.process_time()
        run.run_pass()
        spent += time.process_time() - start
        if n_passes >= due or spent >= seconds:
            due = 1.2 * n_passes
            gap = (yeast.primal(run.weights()) - yeast.bound) / yeast.unit
            queries = problem.n_queries(run.n_oracle_calls) / yeast.n_rows
            rows.append((n_passes, queries, spent, gap))
        if spent >= seconds:
            return np.array(rows)


def summarise(yeast, runs):
    """Print queries a row and seconds to each gap, and where each run ends."""
    print(
        f"yeast, {yeast.n_rows} rows, lam {yeast.lam:.3g}; bound within {yeast.certificate:.1e} "
        "P(0) of the optimum"
    )
    for (solver, search), rows in runs.items():
        cells = []
        for gap in GAPS:
            first = np.flatnonzero(rows[:, -1] <= gap)
            cells.append("{1:7.0f} / {2:5.2f} s".format(*rows[first[0]]) if len(first) else "-")
        last = f"{rows[-1, -1]:.4f} after {rows[-1, 0]:.0f} passes"
        print(f"{solver:10s} {search:10s}" + "".join(f"{cell:>20s}" for cell in cells), last)


def write_csv(path, runs):
    """Write all rows of all runs."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for names, rows in runs.items():
            writer.writerows((*names, *(f"{x:.9g}" for x in row)) for row in rows)


def draw(path, runs):
    """Draw suboptimality over time and queries: colours are solvers, dashes searches."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True)
    dashes = dict(zip(SEARCHES, ("-", "--", "-."), strict=True))
    colours = dict(zip(SOLVERS, ("tab:blue", "tab:orange", "tab:green"), strict=True))
    for axis, k, label in zip(axes, (2, 1), ("processor seconds", "queries / n"), strict=True):
        for (solver, search), rows in runs.items():
            axis.loglog(
                rows[:, k], np.maximum(rows[:, -1], 1e-6), dashes[search], color=colours[solver],
                label=f"{solver}, {search}", linewidth=1.3,
            )  # fmt: skip
        axis.set_xlabel(label)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("(objective - dual bound) / P(0)")
    axes[1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1.5, help="for each run")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for CSV and PNG")
    options = parser.parse_args()
    yeast = Yeast(options.rows)
    runs = {
        (name, search): trace(yeast, solver, search, options.seconds)
        for (name, solver), search in itertools.product(SOLVERS.items(), SEARCHES)
    }
    options.out.mkdir(parents=True, exist_ok=True)
    write_csv(options.out / "slack-yeast.csv", runs)
    draw(options.out / "slack-yeast.png", runs)
    summarise(yeast, runs)
