"""Small fitted estimators of all kinds, and requests to them, for tests of serving."""

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

ONCE = {"max_iter": 3, "random_state": 0}


def two_labels():
    X, y = saved.chains()
    return X, [np.where(labels == "a", "a", "b") for labels in y]


CASES = {
    "sequences": MODELS["tagger"],
    "sequences, sparse": MODELS["tagger, sparse"],
    "sequences, two labels": fast(sskit.SequenceTagger, two_labels),
    "sequences, beam": fast(sskit.SequenceTagger, sparse(saved.chains), beam_size=2),
    "sequences, hidden states": MODELS["tagger, hidden states"],
    "sequences, second order": fast(sskit.SequenceTagger, sparse(saved.chains), order=2),
    "sequences, edges": MODELS["tagger, edges"],
    "sequences, rbf": MODELS["tagger, rbf"],
    "segments": MODELS["segments"],
    "segments, sparse": fast(sskit.SegmentTagger, sparse(saved.segments)),
    "segments, tags": MODELS["segments, tags"],
    "trees": MODELS["trees"],
    "trees, hidden states": MODELS["trees, hidden states"],
    "trees, sparse": fast(sskit.TreeTagger, sparse(saved.trees)),
    "rows": MODELS["classifier, names"],
    "rows, sparse": MODELS["classifier, sparse"],
    "rows, two classes": fast(sskit.StructSVMClassifier, sparse(saved.two_classes)),
    "rows, components": MODELS["classifier, components"],
    "rows, components of two classes": fast(sskit.StructSVMClassifier, sparse(saved.two_classes),
     n_components=2),
    "rows, ranked": fast(sskit.RankingSVM, saved.grades),
    "rows, ranked, sparse": fast(sskit.RankingSVM, sparse(saved.grades)),
    "rows, rbf": MODELS["classifier, rbf"],
    "rows, path": (sskit.RegularizationPath(sskit.StructSVMClassifier(random_state=0), eps=0.5),
     saved.rows),
    "rows, stopping": (sskit.EarlyStopping(sskit.StructSVMClassifier(**FAST), random_state=0),
     saved.rows),
    "sequences, calibrated": MODELS["calibrated"],
    "sequences, edges, calibrated": (MODELS["calibrated"][0], saved.edged_chains),
    "trees, calibrated": (sskit.CalibratedTagger(sskit.TreeTagger(**FAST), cv=2),
     sparse(saved.trees)),
    "matchings": MODELS["classifier, structure"],
    "label sets": MODELS["sets"],
    "label sets, tree": fast(sskit.MultilabelPairwise, saved.sets, edges="tree"),
    "label sets, cuts": fast(sskit.MultilabelPairwise, saved.sets, inference="graphcut"),
    "label sets, lp": MODELS["sets, relaxed"],
    "hierarchy": MODELS["hierarchy"],
    "two regions": MODELS["graphs"],
    "two regions, tables": MODELS["graphs, tables"],
    "three regions": MODELS["graphs, expansions"],
    "any regions": MODELS["graphs, any"],
    "any regions, hidden states": MODELS["graphs, hidden states"],
    "any two regions": fast(sskit.GraphTagger, saved.graphs(2), inference="qpbo"),
    "parts": MODELS["poses"],
}  # fmt: skip
OF_ROWS = ("rows", "label sets", "hierarchy")  # a request is a matrix, not a list of one


@cache
def served(case):
    """Return a fitted estimator, which stays unchanged, and its requests."""
    estimator, make = CASES[case]
    X, y = make()
    model = clone(estimator).fit(X, y)
    n = min(len(y), 12)
    return model, [X[i : i + 1] for i in range(n)]


def together(case):
    requests = served(case)[1]
    if case.startswith(OF_ROWS):
        return (sp.vstack if sp.issparse(requests[0]) else np.vstack)(requests)
    return [x for (x,) in requests]


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
