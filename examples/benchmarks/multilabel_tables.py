"""Multilabel quality: margin and slack rescaling against independent SVMs and classifier chains.

The tables of the benchmarks, "Sets of labels". The strength of regularisation is
chosen on a third of the training rows, then all of them are fitted again. The first block of a
table has one model in each row, chosen by the micro F1; in the second each measure chose its own.
The grid is in units of the default lam; SVMs have the C that goes with it. Times are processor
time of the fit of the first block, over that of the independent SVMs of the same run.
Needs the data sets, see sskit.datasets.

Without arguments: yeast alone; "all" takes a quarter of an hour.

    python examples/benchmarks/multilabel_tables.py [all | data set [method, ...]]
"""

import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from _data import load_bibtex, load_imclef07a, load_rcv1_topics, load_yeast
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import f1_score, hamming_loss, jaccard_score
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sskit import HierarchicalMultilabel, MultilabelPairwise

MEASURES = ("accuracy", "label_loss", "micro_f1", "macro_f1", "samples_f1")
DENSE_GRID = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
SPARSE_GRID = (3.0, 1.0, 0.3, 0.1, 0.03)
FINE_GRID = (2.0, 1.0, 0.5, 0.25, 0.125)
SMALL_GRID = (1.0, 0.3, 0.1, 0.03, 0.01)
# the slack of a set is weighted by its loss, so that the same weights need a larger lam
SLACK_FACTOR = 10.0
TOL = 1e-2
MAX_ITER = 50


def yeast():
    """Return training and test data of yeast, rows of norm 1."""
    train, test = load_yeast(), load_yeast("test")
    return train.data, train.target, test.data, test.target


def yeast_rbf():
    """Return yeast with all features of an RBF kernel: each training row is a landmark.

    Standardised; gamma is the reciprocal of the mean squared distance of two rows.
    """
    X, Y, X_test, Y_test = yeast()
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    kernel = Nystroem(gamma=0.5 / X.shape[1], n_components=len(X), random_state=0).fit(X)
    return kernel.transform(X), Y, kernel.transform(X_test), Y_test


def rcv1(n_labels):
    """Return the most frequent topics of RCV1."""
    train, test = load_rcv1_topics(), load_rcv1_topics("test")
    kept = np.sort(np.argsort(-train.target.sum(axis=0), kind="stable")[:n_labels])
    return train.data, train.target[:, kept], test.data, test.target[:, kept]


def bibtex():
    """Return the tags of bibliographic entries."""
    train, test = load_bibtex(), load_bibtex("test")
    return train.data, train.target, test.data, test.target


def imclef07a():
    """Return codes of X-ray images, standardised, with 3,000 training images drawn at random."""
    train, test = load_imclef07a(), load_imclef07a("test")
    rows = np.random.RandomState(0).permutation(len(train.data))[:3000]
    scaler = StandardScaler().fit(train.data)
    return (
        scaler.transform(train.data[rows]),
        train.target[rows],
        scaler.transform(test.data),
        test.target,
    )


def pairwise(**options):
    """Return a maker of pairwise models for a lam in units of the default."""
    return lambda lam, n: MultilabelPairwise(
        lam, tol=TOL, max_iter=MAX_ITER, standardize=False, random_state=0, **options
    )


def hierarchical(**options):
    """Return a maker of hierarchical models."""

    def make(lam, n):
        parents = load_imclef07a("test").parents
        return HierarchicalMultilabel(
            parents,
            lam=lam,
            tol=TOL,
            max_iter=MAX_ITER,
            standardize=False,
            random_state=0,
            **options,
        )

    return make


def svm(lam, n):
    """Return the linear SVM of a lam."""
    return LinearSVC(C=1 / (lam * n), loss="hinge", random_state=0)


def independent(lam, n):
    """Return independent linear SVMs."""
    return OneVsRestClassifier(svm(lam, n))


def chain(lam, n):
    """Return a chain of linear SVMs in random order."""
    return ClassifierChain(svm(lam, n), order="random", random_state=0)


INDEPENDENT = {"independent SVMs": independent}
# a chain needs every label in the training rows
BASELINES = INDEPENDENT | {"classifier chain": chain}
NO_EDGES = {"no edges": pairwise(edges=None)}
TREE = {"tree": pairwise(edges="tree")}
MARGIN = {"full, margin": pairwise(edges="full", inference="lp")}
FULL = MARGIN | {"full, slack": pairwise(edges="full", inference="lp", rescaling="slack")}
NO_INTERCEPT = {
    "margin, no intercept": pairwise(inference="lp", fit_intercept=False),
    "slack, no intercept": pairwise(inference="lp", fit_intercept=False, rescaling="slack"),
}
EXACT = {
    "exact, margin": pairwise(inference="exhaustive", fit_intercept=False),
    "exact, slack": pairwise(inference="exhaustive", fit_intercept=False, rescaling="slack"),
}
HIERARCHICAL = {"margin": hierarchical(), "slack": hierarchical(rescaling="slack")}
DATA = {
    "yeast": (yeast, DENSE_GRID, BASELINES | NO_EDGES | FULL | NO_INTERCEPT | EXACT),
    "yeast, RBF": (yeast_rbf, FINE_GRID, BASELINES | FULL | NO_INTERCEPT | EXACT),
    "rcv1, 30": (lambda: rcv1(30), SPARSE_GRID, BASELINES | FULL),
    "rcv1, 101": (lambda: rcv1(101), SPARSE_GRID, INDEPENDENT | TREE | MARGIN),
    "bibtex": (bibtex, SPARSE_GRID, BASELINES | NO_EDGES | TREE | MARGIN),
    "imclef07a": (imclef07a, SMALL_GRID, INDEPENDENT | HIERARCHICAL),
}


def measured(make, factor, X, Y, X_test, Y_test):
    """Return the figures of a model on test data, and the seconds of its fit."""
    square = X.multiply(X).sum() if sp.issparse(X) else np.square(X).sum()
    lam = factor * square / len(Y) / len(Y)
    model = make(lam, len(Y))
    start = time.process_time()
    model.fit(X, Y)
    seconds = time.process_time() - start
    found = np.asarray(model.predict(X_test)).astype(int)
    figures = {
        "accuracy": jaccard_score(Y_test, found, average="samples", zero_division=1.0),
        "label_loss": hamming_loss(Y_test, found),
    }
    for average in ("micro", "macro", "samples"):
        figures[f"{average}_f1"] = f1_score(Y_test, found, average=average, zero_division=0.0)
    return figures, seconds


def best(found, measure):
    """Return the factor whose model is best by a measure."""
    sign = -1 if measure == "label_loss" else 1
    return max(found, key=lambda factor: sign * found[factor][0][measure])


def table(name, methods):
    """Print the table of a data set."""
    load, grid, makers = DATA[name]
    X, Y, X_test, Y_test = load()
    fitted, held = train_test_split(np.arange(len(Y)), test_size=1 / 3, random_state=0)
    print(f"\n{name}: {X.shape[0]} rows, {X.shape[1]} features, {Y.shape[1]} labels")
    print(f"{'':20s}" + "".join(f"{measure:>12s}" for measure in MEASURES) + "   lam   time")
    unit, own = None, []
    for title, make in makers.items():
        if methods and title not in methods:
            continue
        scale = SLACK_FACTOR if "slack" in title else 1.0
        found = {
            scale * f: measured(make, scale * f, X[fitted], Y[fitted], X[held], Y[held])
            for f in grid
        }
        chosen = {measure: best(found, measure) for measure in MEASURES}
        tests = {f: measured(make, f, X, Y, X_test, Y_test) for f in sorted(set(chosen.values()))}
        figures, seconds = tests[chosen["micro_f1"]]
        unit = unit or seconds
        cells = "".join(f"{figures[measure]:12.3f}" for measure in MEASURES)
        print(f"{title:20s}{cells} {chosen['micro_f1']:5g} {seconds / unit:6.1f}", flush=True)
        cells = "".join(f"{tests[chosen[m]][0][m]:6.3f} ({chosen[m]:4g})" for m in MEASURES)
        own.append(f"{title:20s}{cells}")
    print("each measure with a lam of its own", *own, sep="\n", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message="Label not .* is present", category=UserWarning)
    asked = sys.argv[1:] or ["yeast"]
    for name in DATA if asked == ["all"] else asked[:1]:
        table(name, asked[1:])
