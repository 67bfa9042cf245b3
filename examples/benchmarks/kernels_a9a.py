"""Time of a kernel on a9a, compared with SVC and with random features.

Seconds of processor time, test accuracy and support vectors of scikit-learn's SVC (libsvm), of
block-coordinate Frank-Wolfe in the same kernel space at several tolerances, of cutting planes with
exact or sampled cuts, and of the linear model on Nystroem features. C = 1 of SVC is lam = 2 / n.
The intercepts differ: SVC does not regularise its own. Needs the files a9a/a9a.svmlight.gz and
a9a/a9a.t.svmlight.gz in the folder SSKIT_DATA.

    python examples/benchmarks/kernels_a9a.py [--rows 8000] [--gammas 0.05 0.01] [--tols 0.01 0.001]
        [--components 500] [--cache 2000] [--steps auto fw] [--cuts exact linear:1000 constant:300]
        [--cut-tol 0.01] [--no-svc]
"""

import argparse
import os
import warnings
from pathlib import Path

from _common import processor_time
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from sskit import StructSVMClassifier
from sskit.solvers import CuttingPlane

ROW = "{:24s} {:8.2f}  {:8.4f}  {:7d}  {:9.5f}"


def read(n_rows):
    """Return (X, y, X_test, y_test); the first rows of the training file."""
    folder = Path(os.environ["SSKIT_DATA"]) / "a9a"
    X, y = load_svmlight_file(folder / "a9a.svmlight.gz", n_features=123)
    X_test, y_test = load_svmlight_file(folder / "a9a.t.svmlight.gz", n_features=123)
    for matrix in (X, X_test):  # SVC takes no others
        matrix.indices, matrix.indptr = matrix.indices.astype("i4"), matrix.indptr.astype("i4")
    return X[:n_rows], y[:n_rows], X_test, y_test


def table(gamma, options):
    """Print the table of one gamma."""
    X, y, X_test, y_test = read(options.rows)
    print(f"gamma = {gamma}, n = {X.shape[0]}")
    print("                          seconds  accuracy  support   rel. gap")
    params = {"lam": 2.0 / X.shape[0], "random_state": 0, "max_iter": options.max_iter}
    if not options.no_svc:
        svc, seconds = processor_time(lambda: SVC(gamma=gamma, cache_size=options.cache).fit(X, y))
        score = svc.score(X_test, y_test)
        print(ROW.format("SVC", seconds, score, len(svc.support_), float("nan")), flush=True)
    for steps in options.steps:
        for tol in options.tols:
            model = StructSVMClassifier(
                kernel="rbf",
                gamma=gamma,
                tol=tol,
                steps=steps,
                kernel_cache=options.cache,
                **params,
            )
            _, seconds = processor_time(lambda model=model: model.fit(X, y))
            score = model.score(X_test, y_test)
            found = len(model.support_), model.dual_gap_
            print(ROW.format(f"{steps}, tol {tol:g}", seconds, score, *found), flush=True)
    for cuts in options.cuts:
        kind, _, size = cuts.partition(":")
        solver = CuttingPlane(cuts=kind, cut_size=int(size) if size else "auto")
        model = StructSVMClassifier(kernel="rbf", gamma=gamma, kernel_cache=options.cache, **params)
        model.set_params(solver=solver, tol=options.cut_tol)
        _, seconds = processor_time(lambda model=model: model.fit(X, y))
        score = model.score(X_test, y_test)
        found = len(model.support_), model.dual_gap_
        name = f"{kind} {size}, {model.n_iter_} cuts"
        print(ROW.format(name, seconds, score, *found), flush=True)
    for count in options.components:
        model = make_pipeline(
            Nystroem(gamma=gamma, n_components=count, random_state=0),
            StructSVMClassifier(tol=options.cut_tol, standardize=False, **params),
        )
        _, seconds = processor_time(lambda model=model: model.fit(X, y))
        score, gap = model.score(X_test, y_test), model[-1].dual_gap_
        print(ROW.format(f"Nystroem {count}", seconds, score, 0, gap), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--gammas", nargs="+", type=float, default=[0.05, 0.01])
    parser.add_argument("--tols", nargs="*", type=float, default=[0.01, 0.001])
    parser.add_argument("--components", nargs="*", type=int, default=[500])
    parser.add_argument("--cache", type=float, default=2000.0)
    parser.add_argument("--steps", nargs="+", default=["auto"])
    parser.add_argument("--cuts", nargs="*", default=["linear:1000", "constant:300"])
    parser.add_argument("--no-svc", action="store_true")
    parser.add_argument("--cut-tol", type=float, default=0.01)
    parser.add_argument("--max-iter", type=int, default=600)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for gamma in options.gammas:
        table(gamma, options)
