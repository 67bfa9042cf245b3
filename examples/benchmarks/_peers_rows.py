"""Multiclass on digits and USPS against LinearSVC(multi_class="crammer_singer").

Both minimise lam/2 |w|^2 + mean_i max_k [1(k != y_i) + <w_k - w_y, x_i>], lam = 1 / (C n), without
intercept. The tolerance of either is the loosest of a grid for which the result is within 1e-3 of
the optimum, and the time is that of the whole fit.
"""

import statistics
import warnings

import numpy as np
from _common import processor_time
from _data import load_usps
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from sskit import StructSVMClassifier
from sskit.solvers import BCFW

ACCURACY = 1e-3
LAMS = (0.074, 0.0074, None)  # None: 1 / n
TOLERANCES = tuple(float(f"{x:.2g}") for x in 10.0 ** -np.arange(0, 6.01, 0.25))
SOLVERS = {
    "auto": BCFW(),
    "pairwise steps": BCFW(steps="pairwise"),
    "no stored passes": BCFW(stored_passes=0),
    "gap sampling": BCFW(sampling="gap"),
}
COLUMNS = ("data", "lam", "method", "tol", "seconds", "accuracy", "calls")


def data_sets():
    """Return rows and classes by name; every 4th row of digits is left out, as for testing."""
    X, y = load_digits(return_X_y=True)
    train = np.arange(len(y)) % 4 != 0
    usps = load_usps(subset="train")
    sets = {"digits": (X[train] / 16.0, y[train]), "usps": (usps.data, usps.target)}
    return {name: (np.column_stack([X, np.ones(len(X))]), y) for name, (X, y) in sets.items()}


def objective(coef, X, y, lam):
    """Return P at the weights of the classes."""
    scores = X @ coef.T
    own = scores[np.arange(len(y)), y]
    margins = scores - own[:, None] + 1.0
    margins[np.arange(len(y)), y] = 0.0
    return lam / 2 * np.sum(coef**2) + margins.max(axis=1).mean()


def loosest(make, X, y, lam, optimum, repeats):
    """Return (tol, seconds, accuracy, calls) of the loosest tolerance that suffices."""
    for tol in TOLERANCES:
        model = make(tol)
        _, seconds = processor_time(lambda model=model: model.fit(X, y))
        accuracy = objective(model.coef_, X, y, lam) / optimum - 1.0
        if accuracy <= ACCURACY:
            break
        if np.max(model.n_iter_) >= model.max_iter:
            return np.nan, np.inf, accuracy, np.nan
    times = [seconds]
    for _ in range(repeats - 1):
        times.append(processor_time(lambda: make(tol).fit(X, y))[1])
    calls = getattr(model, "n_oracle_calls_", np.nan) / len(X)
    return tol, statistics.median(times), accuracy, calls


def compare(options):
    """Print and return the rows of the comparison."""
    rows = []
    print(f"multiclass: seconds of a fit to relative objective accuracy {ACCURACY:g}")
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FutureWarning)
    for name, (X, y) in data_sets().items():
        for lam in (lam or 1.0 / len(X) for lam in LAMS):
            tight = StructSVMClassifier(
                lam=lam,
                fit_intercept=False,
                standardize=False,
                tol=1e-3,
                max_iter=3000,
                random_state=0,
            ).fit(X, y)
            tight.set_params(tol=1e-4).fit(X, y)
            # the true optimum is between the two
            optimum = 0.5 * (tight.primal_objective_ + tight.dual_objective_)

            def liblinear(tol, lam=lam, X=X):
                return LinearSVC(
                    C=1.0 / (lam * len(X)),
                    multi_class="crammer_singer",
                    fit_intercept=False,
                    tol=tol,
                    max_iter=100_000,
                    random_state=0,
                )

            def ours(solver, lam=lam):
                return lambda tol: StructSVMClassifier(
                    lam=lam,
                    fit_intercept=False,
                    standardize=False,
                    tol=tol,
                    max_iter=300,
                    solver=solver,
                    random_state=0,
                )

            makers = {"LinearSVC": liblinear}
            makers |= {key: ours(solver) for key, solver in SOLVERS.items()}
            print(
                f"{name}, n = {len(X)}, lam = {lam:.3g}, P* = {optimum:.6f} "
                f"(to {tight.dual_gap_ / optimum:.0e})"
            )
            base = None
            for method, make in makers.items():
                found = loosest(make, X, y, lam, optimum, options.seeds)
                base = base or found[1]
                rows.append((name, lam, method, *found))
                print(
                    f"    {method:24s} tol {found[0]:<8g} {found[1]:7.4f} s, accuracy "
                    f"{found[2]:.1e}, {found[3]:6.1f} calls an example; time / LinearSVC "
                    f"{found[1] / base:.2f}",
                    flush=True,
                )
    return COLUMNS, rows
