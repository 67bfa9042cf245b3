"""Gain of several workers: fits to the same gap, predictions, and passes by number of workers.

Usage: python many_cores.py [--rounds N] [--memory FOLDER] [case ...]

First lines of a case: wall-clock seconds with one and with two jobs, which alternate, medians.
"fit" is the whole fit, from the arrays to the certificate; "pass" is one exact pass, "predict"
predicts the training data. The other lines are for sequences: counts for 4 and 8 workers, which do
not depend on the number of cores: passes over those of one worker, and the blocks in a round. These
counts include neither the synchronisation of the workers, a few microseconds a round, nor the time
in which they wait for the slowest.

The cases "ocr", "conll" and "horses" need data sets, see sskit.datasets; "sentences" needs
6 GB of memory.
"""

import argparse
import time
import warnings

import numpy as np
import scipy.sparse as sp
from _common import chain_problem, conll, ocr
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sskit import SegmentationModel, SequenceTagger, TreeTagger
from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.utils import RaggedArray

COUNTED = 4, 8


def embeddings(n_tokens=147_000, n_features=768, n_labels=17):
    """Return sentences of dense rows, and labels that follow from them and from each other."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 45, size=n_tokens // 25)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    X = rng.normal(size=(offsets[-1], n_features))
    scores = X @ rng.normal(size=(n_features, n_labels)) / np.sqrt(n_features)
    scores += rng.normal(scale=0.7, size=scores.shape)
    labels = scores.argmax(axis=1)
    again = rng.random(len(labels)) < 0.3
    for t in np.flatnonzero(again[1:]) + 1:
        labels[t] = labels[t - 1]
    return RaggedArray(X, offsets), RaggedArray(labels, offsets)


def sentences(n_sentences=90_000, n_labels=17, n_columns=100_000, n_stored=26):
    """Return sentences of sparse rows: 2.2 million tokens, 57 million numbers."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 45, size=n_sentences)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n_rows = offsets[-1]
    y = rng.integers(n_labels, size=n_rows)
    columns = (
        rng.random((n_rows, n_stored), dtype=np.float32) ** 3 * (n_columns - n_labels)
    ).astype(np.int32)
    # four of them tell the label, more or less
    columns[:, :4] += (y[:, None] - columns[:, :4]) % n_labels
    wrong = rng.random(n_rows) < 0.05
    columns[wrong, :4] = rng.integers(n_columns, size=(wrong.sum(), 4))
    columns.sort(axis=1)
    indptr = np.arange(n_rows + 1, dtype=np.int32) * n_stored
    X = sp.csr_array(
        (np.ones(columns.size, dtype=np.float32), columns.ravel(), indptr),
        shape=(n_rows, n_columns),
    )
    X.sum_duplicates()
    return RaggedArray(X, offsets), RaggedArray(y, offsets)


def trees(n_trees=3000, n_features=40, n_states=8):
    """Return trees whose nodes are like their parents, and their labels."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_states, n_features))
    X, y = [], []
    for size in rng.integers(10, 30, size=n_trees):
        parents = np.array([rng.integers(max(v - 4, 0), v) if v else -1 for v in range(size)])
        labels = rng.integers(n_states, size=size)
        for v in np.flatnonzero(rng.random(size) < 0.6):
            labels[v] = labels[max(parents[v], 0)]
        X.append((0.3 * centres[labels] + rng.normal(size=(size, n_features)), parents))
        y.append(labels)
    return X, y


def grids(n_grids=150, height=12, width=13, n_features=100):
    """Return grids of pixels with a disc each, and which pixels are in it."""
    rng = np.random.default_rng(0)
    place = np.arange(height * width).reshape(height, width)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    down = np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)
    X, y = [], []
    for _ in range(n_grids):
        row, column, radius = rng.uniform(2, 10), rng.uniform(2, 10), rng.uniform(6, 20)
        distance = (np.arange(height)[:, None] - row) ** 2 + (np.arange(width) - column) ** 2
        inside = (distance < radius).astype(int).ravel()
        pixels = rng.normal(size=(inside.size, n_features))
        pixels[:, 0] += 0.8 * inside
        pixels[:, 1] -= 0.5 * inside
        X.append((pixels, np.concatenate([across, down])))
        y.append(inside)
    return X, y


def horses():
    """Return superpixel graphs of images of horses."""
    from _images import graphs

    return graphs("horses", arguments.memory)[:2]


def tagger(tol=0.02, **options):
    """Return a tagger to be fitted until the gap is this fraction of P(w)."""
    return SequenceTagger(tol=tol, max_iter=2000, random_state=0, **options)


CASES = {
    # name: (data, estimator)
    "ocr .03": (lambda: ocr("large")[:2], tagger(0.032, lam=1e-3, loss="hamming")),
    "ocr .003": (lambda: ocr("large")[:2], tagger(0.0032, lam=1e-3, loss="hamming")),
    "conll": (lambda: conll()[:2], tagger()),
    "embeddings": (embeddings, tagger()),
    "sentences": (sentences, tagger()),
    "trees": (trees, TreeTagger(tol=0.02, random_state=0)),
    "grids": (grids, SegmentationModel(lam=0.01, tol=0.02, random_state=0)),
    "horses": (horses, SegmentationModel(tol=0.02, random_state=0)),
}


def alternately(functions, rounds):
    """Return the median seconds of functions that take turns."""
    seconds = [[] for _ in functions]
    for _ in range(rounds):
        for function, record in zip(functions, seconds, strict=True):
            start = time.perf_counter()
            function()
            record.append(time.perf_counter() - start)
    return np.median(seconds, axis=1)


def line(name, what, seconds, more=""):
    """Print what one and two jobs took."""
    one, two = seconds
    print(f"{name:11} {what:8} {one:7.2f} s, {two:7.2f} s, ratio {two / one:.2f}{more}", flush=True)


def report(name):
    """Print the lines of one case."""
    data, estimator = CASES[name]
    X, y = data()
    one, two = (clone(estimator).set_params(n_jobs=n_jobs) for n_jobs in (1, 2))
    seconds = alternately([lambda: one.fit(X, y), lambda: two.fit(X, y)], arguments.rounds)
    more = f"; {one.n_iter_}, {two.n_iter_} passes; gaps {one.dual_gap_:.3g}, {two.dual_gap_:.3g}"
    line(name, "fit", seconds, more)
    predictions = [lambda: one.predict(X), lambda: two.predict(X)]
    line(name, "predict", alternately(predictions, arguments.rounds))
    if isinstance(estimator, SequenceTagger):
        count(name, chain_problem(X, y), one.lam_, estimator.tol)


def count(name, problem, lam, tol):
    """Print what an exact pass takes, and what more workers would do."""
    w = Regularizer(lam, problem.n_weights).padded(np.ones(problem.n_weights))
    passes = []
    for n_jobs in (1, 2):
        evaluator = make_pool(problem, n_jobs)
        passes.append(lambda evaluator=evaluator: evaluator.hinges(w))
    line(name, "pass", alternately(passes, arguments.rounds))
    alone = None
    for n_jobs in (1, *COUNTED):
        solution = BCFW().solve(
            problem,
            Regularizer(lam, problem.n_weights),
            tol=tol,
            max_iter=2000,
            n_jobs=n_jobs,
            random_state=0,
        )
        alone = alone or solution.n_iter
        rounds = solution.fit.run.rounds
        if rounds is None:
            continue
        print(
            f"{name:11} {n_jobs:3} workers: {solution.n_iter / alone:.2f} of the passes, "
            f"{rounds.n_visits / rounds.n_rounds:.0f} blocks in flight",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", help="where superpixels and features are kept on disk")
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], default=[])
    arguments = parser.parse_args()
    # the case "words" ends after some passes
    warnings.simplefilter("ignore", ConvergenceWarning)
    for case in arguments.cases or CASES:
        report(case)
