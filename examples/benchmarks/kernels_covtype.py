"""How do seconds grow with the number of rows? Kernels on covtype or a board of checkers.

For each number of rows: seconds of processor time and test error of scikit-learn's SVC, of
block-coordinate Frank-Wolfe in the same kernel space and of the linear model on Nystroem features;
at the end the exponents b of seconds ~ rows^b, fitted over all sizes that were run. Covtype is
class 2 against the rest with features scaled to [0, 1], from the file covtype/covtype_train.npz
in the folder SSKIT_DATA; the board is made here: eight by eight squares of
points in the plane.

    python examples/benchmarks/kernels_covtype.py [covtype | checkers] [--rows 1000 2000 4000]
        [--gamma 10] [--C 10] [--tol 0.01] [--components 300] [--cache 500] [--without svc bcfw]
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from _common import processor_time
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC

from sskit import StructSVMClassifier

N_TEST = 5000
CATEGORIES = ("wilderness", "soil")


def covtype(n_rows):
    """Return n_rows + N_TEST rows of covtype and whether they are of class 2."""
    with np.load(Path(os.environ["SSKIT_DATA"]) / "covtype" / "covtype_train.npz") as file:
        data = dict(file)
    rows = np.random.default_rng(0).permutation(len(data["y"]))[: n_rows + N_TEST]
    kinds = [data[name][rows, None] == np.unique(data[name]) for name in CATEGORIES]
    numbers = minmax_scale(data["numeric"][rows].astype(np.float64))
    return np.hstack([numbers, *kinds]), data["y"][rows] == 2


def checkers(n_rows):
    """Return points of the plane and the colours of their squares."""
    X = np.random.default_rng(0).uniform(0, 8, size=(n_rows + N_TEST, 2))
    return X / 8, np.floor(X).sum(axis=1) % 2 == 0


def models(n_rows, options):
    """Return the models to be compared, by name."""
    params = {"lam": 2.0 / (options.C * n_rows), "tol": options.tol, "random_state": 0}
    space = {"kernel": "rbf", "gamma": options.gamma, "kernel_cache": options.cache}
    features = Nystroem(gamma=options.gamma, n_components=options.components, random_state=0)
    found = {
        "svc": SVC(C=options.C, gamma=options.gamma, cache_size=options.cache),
        "bcfw": StructSVMClassifier(**params, **space),
        "nystroem": make_pipeline(features, StructSVMClassifier(standardize=False, **params)),
    }
    return {name: model for name, model in found.items() if name not in options.without}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", choices=["covtype", "checkers"], default="checkers")
    parser.add_argument("--rows", nargs="+", type=int, default=[1000, 2000, 4000, 8000])
    parser.add_argument("--gamma", type=float, default=10.0)
    parser.add_argument("--C", type=float, default=10.0)
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--components", type=int, default=300)
    parser.add_argument("--cache", type=float, default=500.0)
    parser.add_argument("--without", nargs="*", default=[])
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    times = {}
    print("rows     model     seconds  test error")
    for n_rows in options.rows:
        X, y = {"covtype": covtype, "checkers": checkers}[options.data](n_rows)
        given = X[N_TEST:], y[N_TEST:]
        for name, model in models(n_rows, options).items():
            _, seconds = processor_time(lambda fit=model.fit, given=given: fit(*given))
            error = 1.0 - model.score(X[:N_TEST], y[:N_TEST])
            print(f"{n_rows:<8d} {name:8s} {seconds:8.2f}  {error:.4f}", flush=True)
            times.setdefault(name, []).append((n_rows, seconds))
    for name, pairs in times.items():
        if len(pairs) > 1:
            n, seconds = np.log(np.array(pairs).T)
            print(f"seconds of {name} ~ rows^{np.polyfit(n, seconds, 1)[0]:.2f}")
