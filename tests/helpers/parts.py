"""Estimators with data that can be cut into parts, some of which lack some labels."""

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from helpers.structures import Chains, Classes
from helpers.trees import random_parents
from sskit import (
    GraphTagger,
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    SegmentationModel,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)

N = 20
rng = np.random.default_rng(0)
WEIGHT = rng.uniform(0.5, 2.0, N) * (np.arange(N) % 4 > 0)
ROWS = rng.normal(size=(N, 4))
# in five parts of four, and in two, the first has one class only
CLASSES = np.array(["a"] * 10 + ["b", "long"] * 5)
SETS = (rng.random((N, 4)) < 0.4).astype(int)
LENGTHS = rng.integers(1, 6, size=N)
TOKENS = [rng.normal(size=(n, 3)) for n in LENGTHS]
# the first ten lack some labels
NAMES = np.array(["O", "B-x", "I-x", "B-yy", "I-yy"])
TAGS = [NAMES[rng.integers(2 if i < 10 else 5, size=n)] for i, n in enumerate(LENGTHS)]
SPANS = [np.array(["B-x", "O"] if i < 10 else ["B-yy", "I-yy"]).repeat(3)[1:4] for i in range(N)]
EDGED = [(x, np.diff(x, axis=0)[:, :2]) for x in TOKENS]
THREES = [rng.normal(size=(3, 3)) for _ in range(N)]
PARENTS = [random_parents(rng, int(n)) for n in LENGTHS]
TREES = [(x, parents) for x, parents in zip(TOKENS, PARENTS, strict=True)]
KINDS = [
    (*tree, np.array(["k", "l", "mmm"])[rng.integers(1 if i < 10 else 3, size=len(tree[1]))])
    for i, tree in enumerate(TREES)
]
MAPS = rng.normal(size=(N, 3, 5, 6))
PLACES = rng.integers(5, size=(N, 3, 2))


def graph():
    n = int(rng.integers(2, 6))
    ends = np.array([(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.6])
    return SimpleNamespace(
        features=rng.normal(size=(n, 3)),
        edges=ends.reshape(-1, 2),
        edge_features=rng.random((len(ends), 2)),
        areas=rng.uniform(0.5, 2.0, n),
    )


GRAPHS = [graph() for _ in range(N)]
# -1 is no label; the first four have none
ENDS = [0] * 4 + [2] * 6 + [3] * 10
NODES = [rng.integers(-1, end, size=len(g.features)) for end, g in zip(ENDS, GRAPHS, strict=True)]
HALVES = [np.minimum(y, 1) for y in NODES]
NUMBERS = [np.unique(y, return_inverse=True)[1] % 3 for y in TAGS]
COSTS = {"O": {"I-yy": 2.0}, "B-yy": {"B-x": 0.5}}
RULES = np.ones((5, 5), dtype=bool)


def mean_of(x, start, stop):
    """Features of a whole segment."""
    return [x[start:stop].mean(), 1.0]


def csr(X):
    return [sp.csr_array(x * (x > 0)) for x in X]


CASES = {
    "rows": (StructSVMClassifier(), ROWS, CLASSES, None),
    "rows with weights": (StructSVMClassifier(fit_intercept=False), ROWS, CLASSES, WEIGHT),
    "tiny weights": (StructSVMClassifier(), ROWS, CLASSES, WEIGHT * 1e-140),
    "float32": (StructSVMClassifier(), ROWS.astype(np.float32), CLASSES, WEIGHT),
    "sparse rows": (StructSVMClassifier(rescaling="slack"), sp.csr_array(ROWS * (ROWS > 0)),
     CLASSES, WEIGHT),
    "balanced classes": (StructSVMClassifier(class_weight="balanced"), ROWS, CLASSES, None),
    "balanced with weights": (StructSVMClassifier(class_weight="balanced"), ROWS, CLASSES, WEIGHT),
    "weights of classes": (StructSVMClassifier(class_weight={"a": 0.0, "b": 3.0}), ROWS, CLASSES,
     WEIGHT),
    "two classes": (StructSVMClassifier(), ROWS, np.arange(N) > 9, None),
    "object": (StructuredSVM(Chains(3)), TOKENS, NUMBERS, WEIGHT),
    "object of classes": (StructuredSVM(Classes(3)), ROWS, np.arange(N) % 3, None),
    "sequences": (SequenceTagger(), TOKENS, TAGS, None),
    "edges": (SequenceTagger(), EDGED, TAGS, WEIGHT),
    "second order": (SequenceTagger(order=2), TOKENS, TAGS, WEIGHT),
    "costs of tags": (SequenceTagger(loss=COSTS), TOKENS, TAGS, WEIGHT),
    "costs of classes": (StructSVMClassifier(loss={"a": {"b": 2.0}}), ROWS, CLASSES, WEIGHT),
    "fraction of tokens": (SequenceTagger(loss="hamming"), TOKENS, TAGS, WEIGHT),
    "balanced tags": (SequenceTagger(class_weight="balanced"), TOKENS, TAGS, WEIGHT),
    "weights of tags": (SequenceTagger(class_weight={"I-yy": 2.0}), TOKENS, TAGS, None),
    "spans": (SequenceTagger(allowed_transitions="bio"), THREES, SPANS, WEIGHT),
    "repaired": (SequenceTagger(allowed_transitions=RULES, on_violation="repair",
     rescaling="slack"), csr(TOKENS), TAGS, None),
    "ignored rules": (SequenceTagger(allowed_transitions=RULES & ~np.eye(5, dtype=bool),
     on_violation="ignore"), TOKENS, TAGS, None),
    "segments": (SegmentTagger(loss="hamming_sum"), TOKENS, TAGS, WEIGHT),
    "lists of segments": (SegmentTagger(loss="segments", class_weight="balanced", lengths=False),
     csr(TOKENS), [[(0, min(len(x), 2), "a" if i < 10 else "bb")] for i, x in enumerate(TOKENS)],
     None),
    "trees": (TreeTagger(), TREES, TAGS, WEIGHT),
    "kinds": (TreeTagger(class_weight="balanced"), KINDS, TAGS, None),
    "kinds as numbers": (TreeTagger(loss="hamming"),
     [(*tree, np.arange(len(tree[1]))) for tree in TREES], TAGS, WEIGHT),
    "graphs": (SegmentationModel(ignore_label=-1), GRAPHS, HALVES, WEIGHT),
    "areas": (SegmentationModel(ignore_label=-1, node_weights="areas", loss="balanced"), GRAPHS,
     NODES, None),
    "fraction of areas": (SegmentationModel(ignore_label=-1, node_weights="areas", loss="hamming",
     pairwise_form="full", inference="elimination", rescaling="slack"), GRAPHS, NODES, WEIGHT),
    "sum of areas": (SegmentationModel(ignore_label=-1, node_weights="areas"), GRAPHS, HALVES,
     WEIGHT),
    "any graphs": (GraphTagger(ignore_label=-1), GRAPHS, NODES, WEIGHT),
    "any graphs, areas": (GraphTagger(ignore_label=-1, node_weights="areas", loss=1.0 - np.eye(3),
     pairwise_form="symmetric", inference="elimination"), GRAPHS, NODES, None),
    "any graphs, kinds": (GraphTagger(pairwise_form="potts"),
     [(g.features, g.edges, None, np.arange(len(g.features)) % 2) for g in GRAPHS],
     [np.arange(len(g.features)) % 4 for g in GRAPHS], WEIGHT),
    "pairs": (MultilabelPairwise(loss="hamming"), ROWS, SETS, None),
    "tree of labels": (MultilabelPairwise(edges="tree"), ROWS.astype(np.float32), SETS, WEIGHT),
    "sparse tree of labels": (MultilabelPairwise(edges="tree", label_weight=[1.0, 2.0, 0.5, 1.0],
     rescaling="slack"), ROWS, sp.csr_array(SETS), None),
    "classes as a label": (MultilabelPairwise(), ROWS, np.array(["a", "bb"]).repeat(10), WEIGHT),
    "hierarchy": (HierarchicalMultilabel([-1, 0, 0, 1]), ROWS, SETS, WEIGHT),
    "poses": (PartsModel([1, -1, 1], n_types=1), MAPS, PLACES, WEIGHT),
    "poses with raw scores": (PartsModel([1, -1, 1], n_types=1, scores="raw"), MAPS, PLACES,
     WEIGHT),
    "poses with means": (PartsModel([1, -1, 1], means=rng.normal(size=(3, 2, 2))), MAPS, PLACES,
     None),
    "features of segments": (SegmentTagger(segment_features=mean_of), TOKENS, TAGS, WEIGHT),
}  # fmt: skip


def take(data, part):
    """Samples of a part; None for no weights."""
    if data is None or isinstance(data, np.ndarray) or sp.issparse(data):
        return None if data is None else data[part]
    return [data[i] for i in range(*part.indices(len(data)))]


def split(data, n_parts):
    """Arguments of fit of each part."""
    cuts = np.linspace(0, N, n_parts + 1).astype(int)
    slices = [slice(start, stop) for start, stop in zip(cuts[:-1], cuts[1:], strict=True)]
    return [tuple(take(each, part) for each in data) for part in slices]


def columns(data, n_parts, wrap=lambda part: part):
    """Lists of parts of X, y and the weights, None where there are none."""
    found = [list(column) for column in zip(*split(data, n_parts), strict=True)]
    return [None if column[0] is None else list(map(wrap, column)) for column in found]


def lazy(value):
    """A part that has yet to be computed."""
    import dask

    return dask.delayed(lambda: value, pure=False)()
