"""Small fitted estimators of all kinds, and requests to them, for tests of serving."""

from functools import cache

import numpy as np
import scipy.sparse as sp

from helpers.structures import Matching
from sskit import (
    CalibratedTagger,
    EarlyStopping,
    GraphTagger,
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    RankingSVM,
    RegularizationPath,
    SegmentationModel,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)
from sskit.datasets import make_score_maps

ONCE = {"max_iter": 3, "random_state": 0}
PARENTS = [-1, 0, 0, 1]
N = 12
EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])


def sequences(sparse, p=5, n_labels=3):
    """Sequences whose labels are strings, one list of requests."""
    rng = np.random.default_rng(0)
    y = [rng.choice(["a", "b", "c"][:n_labels], size=rng.integers(1, 7)) for _ in range(N)]
    X = [rng.normal(size=(len(labels), p)) for labels in y]
    for x, labels in zip(X, y, strict=True):
        x[:, 0] += labels == "a"
    return [sp.csr_matrix(x * (rng.random(x.shape) < 0.4)) if sparse else x for x in X], y


def segments(sparse):
    """Sequences of which every token "a" is a segment, or neighbours of them."""
    X, y = sequences(sparse)
    return X, [[(t, t + 1, "x") for t in np.flatnonzero(labels == "a").tolist()] for labels in y]


def tags(sparse):
    """Sequences and tags of spans."""
    X, y = sequences(sparse)
    names = {"a": "B-x", "b": "I-x", "c": "O"}
    return X, [np.array([names[label] for label in labels]) for labels in y]


def trees(sparse):
    """Trees of the sequences."""
    X, y = sequences(sparse)
    rng = np.random.default_rng(1)
    parents = [np.array([-1, *(rng.integers(t) for t in range(1, x.shape[0]))]) for x in X]
    return list(zip(X, parents, strict=True)), y


def graphs(n_states):
    """Rings of four nodes."""
    rng = np.random.default_rng(0)
    y = [np.sort(rng.integers(n_states, size=4)) for _ in range(N)]
    y[0][:] = np.arange(4) % n_states
    X = [np.eye(n_states)[labels] + rng.normal(size=(4, n_states)) for labels in y]
    return [(x, EDGES, np.ones((4, 2))) for x in X], y


def rows(sparse, n_classes=3):
    """Rows of classes, each a matrix of one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5)) * (rng.random((N, 5)) < 0.6)
    X = sp.csr_matrix(X) if sparse else X
    return [X[i : i + 1] for i in range(N)], np.arange(N) % n_classes


def edged_sequences():
    """Sparse sequences with features of edges."""
    X, y = sequences(True)
    return [(x, x[1:] - x[:-1]) for x in X], y


def label_sets():
    """Rows of sets of four labels."""
    return rows(False)[0], np.random.default_rng(0).integers(2, size=(N, 4))


def figures():
    """Score maps of four parts."""
    y = list(
        np.random.default_rng(0).integers(2, 6, size=(N, 1, 2)) + [[0, 0], [1, 0], [0, 1], [2, 0]]
    )
    return list(make_score_maps(y, (9, 10), random_state=0)), y


def matchings():
    """Matchings of three and three."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(N, 3, 3, 4)), rng.normal(size=4)
    return list(X), [Matching().argmax(x, w) for x in X]


CASES = {
    "sequences": (SequenceTagger(**ONCE), lambda: sequences(False)),
    "sequences, sparse": (SequenceTagger(**ONCE), lambda: sequences(True)),
    "sequences, two labels": (SequenceTagger(**ONCE), lambda: sequences(False, n_labels=2)),
    "sequences, beam": (SequenceTagger(**ONCE, beam_size=2), lambda: sequences(True)),
    "sequences, hidden states": (
        SequenceTagger(**ONCE, n_states_per_label={"a": 2, "b": 3}), lambda: sequences(True),
    ),
    "sequences, second order": (SequenceTagger(**ONCE, order=2), lambda: sequences(True)),
    "sequences, edges": (SequenceTagger(**ONCE), edged_sequences),
    "sequences, rbf": (SequenceTagger(**ONCE, kernel="rbf"), lambda: sequences(False)),
    "segments": (SegmentTagger(**ONCE), lambda: segments(False)),
    "segments, sparse": (SegmentTagger(**ONCE), lambda: segments(True)),
    "segments, tags": (SegmentTagger(**ONCE), lambda: tags(True)),
    "trees": (TreeTagger(**ONCE), lambda: trees(False)),
    "trees, hidden states": (
        TreeTagger(**ONCE, n_states_per_label={"a": 2, "b": 3}), lambda: trees(False),
    ),
    "trees, sparse": (TreeTagger(**ONCE), lambda: trees(True)),
    "rows": (StructSVMClassifier(**ONCE), lambda: rows(False)),
    "rows, sparse": (StructSVMClassifier(**ONCE), lambda: rows(True)),
    "rows, two classes": (StructSVMClassifier(**ONCE), lambda: rows(True, 2)),
    "rows, components": (StructSVMClassifier(**ONCE, n_components=2), lambda: rows(False)),
    "rows, components of two classes": (
        StructSVMClassifier(**ONCE, n_components=2), lambda: rows(True, 2),
    ),
    "rows, ranked": (RankingSVM(**ONCE), lambda: rows(False)),
    "rows, ranked, sparse": (RankingSVM(**ONCE), lambda: rows(True)),
    "rows, rbf": (StructSVMClassifier(**ONCE, kernel="rbf"), lambda: rows(False)),
    "rows, path": (
        RegularizationPath(StructSVMClassifier(random_state=0), eps=0.5), lambda: rows(False),
    ),
    "rows, stopping": (
        EarlyStopping(StructSVMClassifier(**ONCE), random_state=0), lambda: rows(False),
    ),
    "sequences, calibrated": (
        CalibratedTagger(SequenceTagger(**ONCE), cv=2), lambda: sequences(False),
    ),
    "sequences, edges, calibrated": (
        CalibratedTagger(SequenceTagger(**ONCE), cv=2), edged_sequences,
    ),
    "trees, calibrated": (CalibratedTagger(TreeTagger(**ONCE), cv=2), lambda: trees(True)),
    "matchings": (StructuredSVM(Matching(), **ONCE), matchings),
    "label sets": (MultilabelPairwise(**ONCE), label_sets),
    "label sets, tree": (MultilabelPairwise(**ONCE, edges="tree"), label_sets),
    "label sets, cuts": (MultilabelPairwise(**ONCE, inference="graphcut"), label_sets),
    "label sets, lp": (MultilabelPairwise(**ONCE, inference="lp"), label_sets),
    "hierarchy": (HierarchicalMultilabel(PARENTS, **ONCE), label_sets),
    "two regions": (SegmentationModel(**ONCE), lambda: graphs(2)),
    "two regions, tables": (SegmentationModel(**ONCE, pairwise_form="full"), lambda: graphs(2)),
    "three regions": (SegmentationModel(**ONCE), lambda: graphs(3)),
    "any regions": (GraphTagger(**ONCE), lambda: graphs(3)),
    "any regions, hidden states": (
        GraphTagger(**ONCE, n_states_per_label=2), lambda: graphs(3),
    ),
    "any two regions": (GraphTagger(**ONCE, inference="qpbo"), lambda: graphs(2)),
    "parts": (PartsModel(PARENTS, n_types=1, **ONCE), figures),
}  # fmt: skip
OF_ROWS = ("rows", "label sets", "hierarchy")  # a request is a matrix, not a list of one


@cache
def served(case):
    """Return a fitted estimator, which nobody changes, and its requests."""
    estimator, make = CASES[case]
    X, y = make()
    if case.startswith(OF_ROWS):
        stack = sp.vstack if sp.issparse(X[0]) else np.vstack
        return estimator.fit(stack(X), y), X
    return estimator.fit(X, y), [[x] for x in X]


def together(case):
    """Return all requests of a case as one."""
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
    if isinstance(value, list | tuple) or getattr(value, "dtype", None) is np.dtype(object):
        return [bits(part) for part in value]
    return np.shape(value), np.asarray(value).dtype, np.asarray(value).tobytes()
