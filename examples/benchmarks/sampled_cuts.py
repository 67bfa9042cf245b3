"""How do seconds of sampled cuts grow with the number of rows and with the size of the sample?

Covtype (class 2 against the rest, features scaled to [0, 1], from the file
covtype/covtype_train.npz in the folder SSKIT_DATA) or a board of checkers (eight by eight squares,
made here). For each number of rows: seconds of processor time, passes, test error and support
vectors of cutting planes with sampled cuts (Yu, Joachims 2008), and of scikit-learn's SVC and the
linear model on Nystroem features up to the sizes that they are given. The regularisation lam stays
the same for all sizes, C = 2 / (lam n). At the end the exponents b of seconds ~ rows^b, fitted over
all sizes. With --sizes the number of rows stays, and the number of draws for a cut changes.
Writes sampled_cuts_<name>.csv and .png.

    python examples/benchmarks/sampled_cuts.py [covtype | checkers] [--rows 10000 50000]
        [--models linear constant svc nystroem] [--svc-rows 50000] [--linear-rows 500000]
        [--gamma 10] [--lam 1e-4] [--tol 0.01] [--sizes 100 300 1000] [--out .]
"""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from _common import processor_time
from kernels_covtype import N_TEST, checkers, covtype
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from sskit import StructSVMClassifier
from sskit.solvers import CuttingPlane

COLUMNS = ["model", "rows", "cut_size", "seconds", "passes", "error", "support"]


def make_model(name, size, n_rows, options):
    """Return an estimator."""
    if name == "svc":
        return SVC(C=2 / (options.lam * n_rows), gamma=options.gamma, cache_size=500)
    params = {"lam": options.lam, "tol": options.tol, "random_state": 0}
    params["max_iter"] = options.max_iter
    if name == "nystroem":
        features = Nystroem(gamma=options.gamma, n_components=options.components, random_state=0)
        return make_pipeline(features, StructSVMClassifier(standardize=False, **params))
    solver = CuttingPlane(cuts=name, cut_size=size)
    return StructSVMClassifier(kernel="rbf", gamma=options.gamma, solver=solver, **params)


def runs(options):
    """Return what is to be run: model, rows, draws for a cut."""
    sizes = options.sizes or [None]
    limits = {"svc": options.svc_rows, "linear": options.linear_rows}
    for n_rows in options.rows:
        for name in options.models:
            if n_rows > limits.get(name, n_rows):
                continue
            cut = options.cut_size[options.models.index(name) % len(options.cut_size)]
            for size in sizes if name in ("linear", "constant") else [None]:
                yield name, n_rows, size or cut


def measure(name, n_rows, size, options):
    """Fit and return a row of the table."""
    X, y = {"covtype": covtype, "checkers": checkers}[options.data](n_rows)
    model = make_model(name, size, n_rows, options)
    _, seconds = processor_time(lambda: model.fit(X[N_TEST:], y[N_TEST:]))
    error = 1.0 - model.score(X[:N_TEST], y[:N_TEST])
    passes = getattr(model, "n_iter_", 0)
    support = len(getattr(model, "support_", ()))
    return name, n_rows, size, round(seconds, 2), int(np.max(passes)), round(error, 4), support


def exponents(table):
    """Print the exponents of the seconds, over all sizes of a model."""
    for name in dict.fromkeys(row[0] for row in table):
        n, seconds = np.array([(row[1], row[3]) for row in table if row[0] == name]).T
        if len(set(n)) > 1:
            slope = np.polyfit(np.log(n), np.log(seconds), 1)[0]
            print(f"seconds of {name} ~ rows^{slope:.2f}")


def draw(path, table, options):
    """Draw seconds and test error by rows, or by draws for a cut."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    column = 2 if options.sizes else 1
    label = "draws for a cut" if options.sizes else "training rows"
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for name in dict.fromkeys(row[0] for row in table):
        rows = [row for row in table if row[0] == name]
        x = [row[column] for row in rows]
        for axis, place in zip(axes, (3, 5, 4), strict=True):
            if place == 4 and name in ("svc", "nystroem"):
                continue
            axis.plot(x, [row[place] for row in rows], marker="o", label=name)
    for axis, title in zip(axes, ("seconds", "test error", "passes"), strict=True):
        axis.set(xscale="log", xlabel=label, title=title)
    axes[0].set_yscale("log")
    axes[0].legend()
    figure.suptitle(f"{options.data}, lam = {options.lam:g}, tol = {options.tol:g}")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", choices=["covtype", "checkers"], default="checkers")
    parser.add_argument("--rows", nargs="+", type=int, default=[1000, 4000, 16000])
    parser.add_argument("--models", nargs="+", default=["linear", "constant", "svc", "nystroem"])
    parser.add_argument("--svc-rows", type=int, default=50_000)
    parser.add_argument("--linear-rows", type=int, default=500_000)
    parser.add_argument("--gamma", type=float, default=10.0)
    parser.add_argument("--lam", type=float, default=1e-4)
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--cut-size", nargs="+", type=int, default=[300, 1000])
    parser.add_argument("--sizes", nargs="+", type=int, default=[])
    parser.add_argument("--components", type=int, default=300)
    parser.add_argument("--max-iter", type=int, default=500)
    parser.add_argument("--name", default=None)
    parser.add_argument("--out", type=Path, default=Path("."))
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    name = options.name or options.data + ("_sizes" if options.sizes else "")
    table = []
    print(*COLUMNS, sep="\t")
    for run in runs(options):
        table.append(measure(*run, options))
        print(*table[-1], sep="\t", flush=True)
        with (options.out / f"sampled_cuts_{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *table])
    exponents(table)
    draw(options.out / f"sampled_cuts_{name}.png", table, options)
