"""Test scores and times on the way to the optimum: when may a fit stop?

A fit goes from one gap to the next smaller one; at each of them, found by an exact pass, the model
is scored on test data. One row for each: the gap over P(0) and over P(w), passes, seconds of
processor time of training alone, and the score. With --averaging the fit considers the weighted
average of the iterates too and takes the better of the two. The last iterate of the smallest gap
counts as converged.

    python examples/benchmarks/stopping.py [case ...] [--fractions 1 0.1] [--seeds 0 1]
        [--averaging] [--budget SECONDS] [--out FILE]
"""

import argparse
import csv
import sys
import time
import warnings

import numpy as np
from _cases import CASES
from sklearn.exceptions import ConvergenceWarning

from sskit.core.stop import Stop
from sskit.estimators.path.tracing import fitted_model
from sskit.solvers import BCFW
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solution import Status

# Gaps over P(w): the first, the last, and how much smaller the next one is.
FIRST, SMALLEST, FALL = 0.5, 1e-3, 0.75
COLUMNS = ("case", "lam", "seed", "averaging", "of P(0)", "of P(w)", "passes", "seconds", "score")


def traced(estimator, score, X, y, X_test, y_test, *, fraction, budget):
    """Yield (gap over P(0), gap over P(w), passes, seconds, score), the gap falling."""
    task = estimator._make_task(X, y, None)
    solver = task.options.solver.resolved(task.problem)
    lam = fraction * task.default_lam
    regularizer = estimator._make_regularizer(task, lam)
    with Stop() as stop:
        start = time.process_time()
        run = begin(
            solver, task.problem, regularizer, random_state=estimator.random_state, stop=stop
        )
        seconds = time.process_time() - start
        goal = FIRST
        while True:
            start = time.process_time()
            status = run.reach(goal, max_iter=1000)
            seconds += time.process_time() - start
            known = run.certificate
            model = fitted_model(estimator, task.to_attributes, solver, known.w, lam)
            yield (
                known.gap / run.unit,
                known.gap / known.primal,
                run.n_iter,
                seconds,
                score(model, X_test, y_test),
            )
            small = known.gap <= SMALLEST * known.primal
            if small or seconds > budget or status is not Status.CONVERGED:
                return
            goal = FALL * known.gap / known.primal


def main(arguments):
    """Write the rows."""
    with open(arguments.out, "a", newline="") if arguments.out else sys.stdout as out:
        writer = csv.writer(out)
        for name in arguments.cases or CASES:
            estimator, score, *data = CASES[name]()
            for fraction in arguments.fractions:
                for seed in arguments.seeds:
                    estimator.set_params(random_state=seed)
                    if arguments.averaging:
                        estimator.set_params(solver=BCFW(averaging=True))
                    rows = traced(
                        estimator, score, *data, fraction=fraction, budget=arguments.budget
                    )
                    for row in rows:
                        told = [f"{number:.5g}" for number in row]
                        writer.writerow([name, fraction, seed, arguments.averaging, *told])
                        out.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="of " + ", ".join(CASES))
    parser.add_argument("--fractions", nargs="+", type=float, default=[1.0, 0.1])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--averaging", action="store_true")
    parser.add_argument("--budget", type=float, default=120.0)
    parser.add_argument("--out")
    warnings.simplefilter("ignore", ConvergenceWarning)
    np.seterr(over="ignore")
    main(parser.parse_args())
