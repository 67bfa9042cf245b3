"""Requests to small fitted estimators of all kinds, most of them those of helpers.saved."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

import sskit
from helpers import saved
from helpers.saved import FAST, MODELS, fast, sparse


def two_labels():
    X, y = saved.chains()
    return X, [np.where(labels == "a", "a", "b") for labels in y]


NAMES = [
    "tagger", "tagger, sparse", "tagger, edges", "tagger, hidden states", "tagger, rbf",
    "segments", "segments, tags", "trees", "trees, hidden states", "trees, kinds",
    "classifier, names", "classifier, sparse", "classifier, components", "classifier, rbf",
    "classifier, structure", "sets", "sets, relaxed", "hierarchy", "graphs", "graphs, tables",
    "graphs, expansions", "graphs, any", "graphs, hidden states", "poses", "calibrated", "tokens",
]  # fmt: skip
CASES = {name: MODELS[name] for name in NAMES} | {
    "tagger, two labels": fast(sskit.SequenceTagger, two_labels),
    "tagger, beam": fast(sskit.SequenceTagger, sparse(saved.chains), beam_size=2),
    "tagger, second order": fast(sskit.SequenceTagger, sparse(saved.chains), order=2),
    "segments, sparse": fast(sskit.SegmentTagger, sparse(saved.segments)),
    "trees, sparse": fast(sskit.TreeTagger, sparse(saved.trees)),
    "classifier, two classes": fast(sskit.StructSVMClassifier, sparse(saved.two_classes)),
    "classifier, components of two classes": fast(sskit.StructSVMClassifier,
     sparse(saved.two_classes), n_components=2),
    "ranking": fast(sskit.RankingSVM, saved.grades),
    "ranking, sparse": fast(sskit.RankingSVM, sparse(saved.grades)),
    "classifier, path": (sskit.RegularizationPath(MODELS["classifier"][0], eps=0.5), saved.rows),
    "classifier, stopping": (sskit.EarlyStopping(MODELS["classifier"][0], random_state=0),
     saved.rows),
    "tagger, edges, calibrated": (MODELS["calibrated"][0], saved.edged_chains),
    "trees, calibrated": (sskit.CalibratedTagger(sskit.TreeTagger(**FAST), cv=2),
     sparse(saved.trees)),
    "sets, tree": fast(sskit.MultilabelPairwise, saved.sets, edges="tree"),
    "sets, cuts": fast(sskit.MultilabelPairwise, saved.sets, inference="graphcut"),
    "graphs, roof duality": fast(sskit.GraphTagger, saved.graphs(2), inference="qpbo"),
}  # fmt: skip


@cache
def served(case):
    """Return a fitted estimator, which stays unchanged, and its requests."""
    estimator, make = CASES[case]
    X, y = make()
    model = clone(estimator).fit(X, y)
    n = min(len(y), 8)
    return model, [X[i : i + 1] for i in range(n)]


def together(case):
    requests = served(case)[1]
    if isinstance(requests[0], list):
        return [x for (x,) in requests]
    return (sp.vstack if sp.issparse(requests[0]) else np.vstack)(requests)


def answers(model, request):
    """Return all that a model says of a request."""
    names = ("predict", "decision_function", "predict_proba")
    return [getattr(model, name)(request) for name in names if hasattr(model, name)]


def bits(value):
    """Return something made of arrays such that equal means equal to the last bit."""
    if isinstance(value, (list, tuple)) or getattr(value, "dtype", None) is np.dtype(object):
        return [bits(part) for part in value]
    return np.shape(value), np.asarray(value).dtype, np.asarray(value).tobytes()


def forget():
    """Empty the caches that all models of the package have in common."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "sskit"]:
        for value in list(vars(sys.modules[name]).values()):
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def differing(model, requests, expected, interval=1e-5, n_threads=8):
    """Ask a model that has answered nothing yet by threads, each in an order of its own.

    Returns the numbers of the requests whose bits are not those that are expected.
    """
    barrier, n = threading.Barrier(n_threads), len(requests)

    def ask(thread):
        turn = np.roll(np.arange(n), -thread * n // n_threads).tolist()
        barrier.wait()
        return [i for i in turn if bits(answers(model, requests[i])) != expected[i]]

    before = sys.getswitchinterval()
    forget()
    sys.setswitchinterval(interval)  # threads that hold the lock pass it on as often as can be
    try:
        with ThreadPoolExecutor(n_threads) as pool:
            return [i for found in pool.map(ask, range(n_threads)) for i in found]
    finally:
        sys.setswitchinterval(before)
