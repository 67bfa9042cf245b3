"""Sets of many labels with all pairs: test micro F1 against time of GDMM and of BCFW.

    python multilabel_many.py rcv1 [n_train [seconds]]       101 labels
    python multilabel_many.py bibtex [n_train [seconds]]     159 labels
    python multilabel_many.py delicious [n_train [seconds]]  983 labels

    python multilabel_many.py delicious 12920 900            all rows

Each solver has as many seconds of the processor, so that other programs matter little; scores on
500 test rows are measured outside of them. The same without pairs comes last. With more than `MANY`
labels the relaxation takes seconds a row: sets of test rows are then found by adding or leaving out
single labels, and BCFW, which needs the relaxation, is left out.

Memory is the peak of the whole process, which may be that of loading the data, and its memory
before and after each pass.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np
from _data import load_bibtex, load_delicious, load_rcv1_topics
from sklearn.metrics import f1_score

from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.estimators.label_sets import default_lam, row_scale
from sskit.models.label_sets.label_graph import label_edges, label_fractions
from sskit.models.label_sets.model import PairwiseModel
from sskit.solvers import BCFW, GDMM
from sskit.solvers.oracle_calls.pool import make_pool

LOADERS = {"bibtex": load_bibtex, "delicious": load_delicious, "rcv1": load_rcv1_topics}
N_TEST, MANY = 500, 500


def by_single_labels(scores, pairwise, ends):
    """Return sets that adding or leaving out a single label makes no better."""
    sets, table = (scores > 0).astype(np.int64), np.zeros((scores.shape[1],) * 2)
    table[ends[:, 0], ends[:, 1]] = table[ends[:, 1], ends[:, 0]] = pairwise.ravel()
    for labels, gains in zip(sets, scores + sets @ table, strict=True):
        while True:
            change = np.where(labels, -gains, gains)
            best = change.argmax()
            if change[best] <= 1e-12:
                break
            gains += (1 - 2 * labels[best]) * table[best]
            labels[best] = 1 - labels[best]
    return sets


def resident():
    """Return the megabytes that the process holds now, nan where no file says so."""
    table = Path("/proc/self/statm")
    if not table.exists():
        return np.nan
    return int(table.read_text().split()[1]) * resource.getpagesize() / 1e6


def curve(name, solver, data, test, edges, seconds):
    """Print (passes, seconds, micro F1, accuracy) as a fit goes on; return the rows."""
    X, Y = data
    weight, cost = block_weights(len(Y)), np.ones(Y.shape[1])
    fractions = label_fractions(Y, weight) if edges == "tree" else None
    ends = label_edges(edges, Y.shape[1], fractions)
    model = PairwiseModel(X.shape[1], Y.shape[1], ends, True, "lp" if len(ends) else "auto")
    problem = model.bind(X, Y, cost, weight)
    regularizer = Regularizer(default_lam(row_scale(X, None), cost), problem.n_weights)
    print(f"{name:12s} before the fit {resident():.0f} MB", flush=True)
    began = time.process_time()
    run = solver.start(problem, regularizer, np.random.RandomState(0))
    spent, rows = time.process_time() - began, []
    while spent < seconds:
        began = time.process_time()
        run.run_pass()
        spent += time.process_time() - began
        blocks = model.layout.split(run.weights())
        scores = np.ascontiguousarray(test[0] @ blocks["coef"].T + blocks["intercept"])
        pairwise = blocks.get("pairwise", np.empty(0)).copy()
        if len(ends) and Y.shape[1] > MANY:
            sets = by_single_labels(scores, pairwise, ends)
        else:
            sets = model.best_sets(scores, pairwise)
        f1 = f1_score(test[1], sets, average="micro", zero_division=0.0)
        rows.append((len(rows) + 1, spent, f1, float(np.mean(sets == test[1]))))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
        size = f"{resident():.0f} MB, peak {peak:.0f} MB"
        print(f"{name:12s} %4d %9.2f s  F1 %.4f  accuracy %.4f  {size}" % rows[-1], flush=True)
    if Y.shape[1] <= MANY:
        known = run.certify(make_pool(problem, 1))
        print(f"{name:12s} primal {known.primal:.5g}, dual {known.dual:.5g}", flush=True)
    return rows


def main(name="rcv1", n_train=500, seconds=20):
    """Compare the solvers."""
    train, test = LOADERS[name](), LOADERS[name]("test")
    data = train.data[:n_train], train.target[:n_train].astype(np.uint8)
    test = test.data[:N_TEST], test.target[:N_TEST]
    gdmm = curve("GDMM", GDMM(), data, test, "full", seconds)
    many = data[1].shape[1] > MANY
    bcfw = None if many else curve("BCFW", BCFW(), data, test, "full", seconds)
    curve("no pairs", BCFW(), data, test, None, seconds / 10)
    if bcfw is None:
        return
    reached = [row for row in gdmm if row[2] >= bcfw[-1][2]]
    if reached:
        ratio = bcfw[-1][1] / reached[0][1]
        print(f"BCFW's last F1 {ratio:.1f} times as fast, {reached[0][0]} passes")
    else:
        print(f"BCFW's last F1 {bcfw[-1][2]:.4f} not reached")


if __name__ == "__main__":
    main(*sys.argv[1:2], *(int(number) for number in sys.argv[2:]))
