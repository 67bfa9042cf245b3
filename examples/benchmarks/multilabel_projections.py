"""Sets of labels without cycles of pairs: projections against steps between stored planes.

Labels alone, hierarchies, and the tree of Chow and Liu, on some rows of data sets, tested on
others: seconds of the processor, passes, micro F1. Projections are those of BCFW for labels alone
and hierarchies, and those of GDMM for pairs.
Needs the data sets, see sskit.datasets; some minutes.

    python examples/benchmarks/multilabel_projections.py [tol]
"""

import sys
import time
import warnings

import numpy as np
from _data import load_enron, load_imclef07a
from multilabel_edges import DATA
from sklearn.metrics import f1_score

from sskit import HierarchicalMultilabel, MultilabelPairwise
from sskit.solvers import BCFW, GDMM

KINDS = {"alone": None, "tree": "tree"}
STORED, EXACT = BCFW(steps="pairwise"), BCFW(steps="projection")
SOLVERS = {
    "alone": (STORED, EXACT),
    "tree": (STORED, GDMM(method="projection")),
    "above": (STORED, EXACT),
}


def cases():
    """Yield names, rows, sets, and estimators by the kind of dependence."""
    for name, load in DATA.items():
        models = {kind: MultilabelPairwise(edges=edges) for kind, edges in KINDS.items()}
        yield name, *load(), models
    for name, load in (("enron, all labels", load_enron), ("imclef07a, all", load_imclef07a)):
        train = load()
        Y = np.asarray(train.target, dtype=int)
        yield name, train.data[:2000], Y[:2000], {"above": HierarchicalMultilabel(train.parents)}


def main(tol):
    """Print a line for each data set, number of rows and kind of dependence."""
    warnings.simplefilter("ignore")  # of labels that no row has
    print("data               rows  labels  pairs  seconds          passes      micro F1")
    for name, X, Y, models in cases():
        half = np.arange(0, X.shape[0], 2)
        test = np.setdiff1d(np.arange(X.shape[0]), half)
        for n in (30, 200, len(half)):
            train = half[np.linspace(0, len(half) - 1, n).astype(int)]
            for kind, model in models.items():
                seconds, passes, scores = [], [], []
                for solver in SOLVERS[kind]:
                    model.set_params(solver=solver, tol=tol, random_state=0)
                    start = time.process_time()
                    model.fit(X[train], Y[train])
                    seconds.append(time.process_time() - start)
                    passes.append(model.n_iter_)
                    scores.append(f1_score(Y[test], model.predict(X[test]), average="micro"))
                print(
                    f"{name:17.17s} {n:5d} {Y.shape[1]:7d}  {kind:5s}  {seconds[0]:7.3f} "
                    f"{seconds[1]:7.3f}  {passes[0]:5d} {passes[1]:5d}  "
                    f"{scores[0]:.4f} {scores[1]:.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.02)
