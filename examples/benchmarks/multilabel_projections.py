"""Sets of labels without cycles of pairs: projections against block-coordinate steps.

Labels alone and the tree of Chow and Liu, trained by both solvers on some rows of the data sets of
multilabel_edges.py and tested on others: seconds of the processor, passes, micro F1.
Needs the data sets, see sskit.datasets; some minutes.

    python examples/benchmarks/multilabel_projections.py [tol]
"""

import sys
import time
import warnings

import numpy as np
from multilabel_edges import DATA
from sklearn.metrics import f1_score

from sskit import MultilabelPairwise
from sskit.solvers import BCFW, GDMM

SOLVERS = BCFW(), GDMM(method="projection")


def main(tol):
    """Print a line for each data set, number of rows and kind of edges."""
    warnings.simplefilter("ignore")  # of labels that no row has
    print("data              rows  labels  edges   seconds        passes     micro F1")
    for name, load in DATA.items():
        X, Y = load()
        half = np.arange(0, X.shape[0], 2)
        test = half + 1 if X.shape[0] % 2 == 0 else half[:-1] + 1
        for n in (30, 200, len(half)):
            train = half[np.linspace(0, len(half) - 1, n).astype(int)]
            for edges in (None, "tree"):
                seconds, passes, scores = [], [], []
                for solver in SOLVERS:
                    model = MultilabelPairwise(edges=edges, solver=solver, tol=tol, random_state=0)
                    start = time.process_time()
                    model.fit(X[train], Y[train])
                    seconds.append(time.process_time() - start)
                    passes.append(model.n_iter_)
                    scores.append(f1_score(Y[test], model.predict(X[test]), average="micro"))
                print(
                    f"{name:16.16s} {n:5d} {Y.shape[1]:7d}  {edges!s:5s} {seconds[0]:7.3f} "
                    f"{seconds[1]:7.3f} {passes[0]:5d} {passes[1]:5d}  "
                    f"{scores[0]:.4f} {scores[1]:.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.02)
