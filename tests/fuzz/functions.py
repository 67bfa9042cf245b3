"""Valid calls of public functions and of transformers."""

import inspect
from functools import partial, update_wrapper

import numpy as np
from helpers.oracle_calls import CALLS
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from fuzz.mutations import pick
from fuzz.subjects import Subject, sequences, weighted
from sskit import metrics, oracles
from sskit.losses import StructuredHinge
from sskit.preprocessing import (
    NodeProbabilities,
    SuperpixelGraph,
    SuperpixelGraphs,
    TokenTransformer,
    TokenVectorizer,
)

# What may be left out, and what may be any number.
OPTIONAL = {"triples", "truth", "cost", "first", "last", "start", "end", "whole", "bias"}
FLAGS = ("return_pairs", "return_segments", "return_triples")
FREE = {"nodes", "tokens", "transitions", "gains", "scores", "linear", "mean"}
TOKEN_METRICS = [
    "token_accuracy_score", "sequence_accuracy_score", "class_accuracy_score", "iou_scores",
    "mean_iou_score",
]  # fmt: skip
SPAN_METRICS = ["span_f1_score", "span_precision_recall_fscore"]
POSE_METRICS = {"mean_part_error": {}, "pdj_score": {"radius": 0.2}, "pdj_curve": {"radii": [0.2]}}


def oracle(rng):
    name, given = pick(rng, list(CALLS)), {}
    for argument, value in CALLS[name].items():
        if argument in OPTIONAL and name != "viterbi_by_loss" and rng.random() < 0.3:
            continue
        value = np.array(value) if isinstance(value, list) else value
        given[argument] = value
        if argument in FREE:
            given[argument] = value + rng.normal(size=np.shape(value))
    function = getattr(oracles, name)
    # flags are as true as Python takes them, and so are no part of what is changed
    taken = set(FLAGS) & {*inspect.signature(function).parameters}
    taken -= set() if "triples" in given else {"return_triples"}
    if taken and rng.random() < 0.5:
        function = update_wrapper(partial(function, **dict.fromkeys(taken, True)), function)
    return Subject(function, given)


def layer(rng):
    structure = pick(rng, ["chain", "tree", "graph"])
    labels = rng.integers(2, size=(3, 4))
    labels[0, 2] = pick(rng, [-100, 0])
    given = {"unary": rng.normal(size=(3, 4, 2)), "pairwise": rng.normal(size=(2, 2))}
    if structure != "chain":
        given["edges"] = np.array([[0, 1], [1, 2], [3, 2]])
    given["mask"] = np.arange(4) < np.array([[4], [4], [4 if "edges" in given else 2]])
    methods = ["evaluate", "decode"]
    methods += ["max_marginals", "marginals"] if structure != "graph" else []
    name = pick(rng, methods)
    if name == "evaluate":
        given |= {"labels": labels, "token_weight": np.ones((3, 4))}
    return Subject(getattr(StructuredHinge(structure), name), given)


def metric(rng):
    kind = pick(rng, ["tokens", "spans", "tags", "poses"])
    if kind == "tokens":
        name, (X, y) = pick(rng, TOKEN_METRICS), sequences(rng)
        given = {"y_true": y, "y_pred": [np.roll(labels, 1) for labels in y]}
        if "accuracy_score" not in name or name.startswith("class"):
            given["ignore_label"] = None
        return Subject(getattr(metrics, name), given | weighted(rng, len(X)))
    if kind == "poses":
        name, y = pick(rng, list(POSE_METRICS)), rng.integers(5, size=(4, 3, 2))
        given = {"y_true": list(y), "y_pred": list(y + 1), "torso": (0, 1), **POSE_METRICS[name]}
        if name != "pdj_curve":
            given["per_part"] = pick(rng, [True, False])
        return Subject(getattr(metrics, name), given | weighted(rng, 4))
    y = [np.array(["B-x", "I-x", "O", "B-y"]), np.array(["O", "B-y"])]
    if kind == "tags":
        target = pick(rng, ["iob1", "bioes", "bilou"])
        given = {"y": y, "source": "bio", "target": target, "strict": pick(rng, [True, False])}
        return Subject(metrics.convert_tags, given)
    if rng.random() < 0.3:
        return Subject(metrics.spans, {"labels": y[0], "scheme": "bio"})
    given = {"y_true": y, "y_pred": [np.roll(labels, 1) for labels in y], "scheme": "bio"}
    given["average"] = pick(rng, ["micro", "macro"])
    return Subject(getattr(metrics, pick(rng, SPAN_METRICS)), given)


def transformer(rng):
    """A transformer of tokens, nodes or images, or one graph of superpixels."""
    kind, edges = pick(rng, ["rows", "words", "nodes", "graph", "images"]), [[0, 1], [1, 2]]
    if kind == "rows":
        return Subject(TokenTransformer(StandardScaler()), {"X": sequences(rng)[0], "y": None})
    if kind == "words":
        values = ["x", "y", 2.5, True, ["x", "z"], {"a": "x", "b": 1}]
        X = [[{key: pick(rng, values) for key in "abc"} for _ in range(3)] for _ in range(4)]
        return Subject(TokenVectorizer(min_count=int(rng.integers(1, 3))), {"X": X, "y": None})
    if kind == "nodes":
        X = [(rng.normal(size=(3, 2)), np.array(edges), np.ones((2, 1))) for _ in range(6)]
        y = [np.array([0, 1, k % 2]) for k in range(6)]
        return Subject(NodeProbabilities(GaussianNB(), cv=2), {"X": X, "y": y} | weighted(rng, 6))
    if kind == "images":
        target = SuperpixelGraphs(n_segments=4, random_state=0, n_color_words=3, n_texture_words=3)
        return Subject(target, {"X": list(rng.uniform(size=(2, 20, 24, 3))), "y": None})
    given = {"features": rng.normal(size=(3, 2)), "edges": np.array(edges)}
    segments = np.array([[0, 0, 1], [2, 2, 1]])
    given |= {"edge_features": rng.exponential(size=(2, 1)), "segments": segments}
    return Subject(SuperpixelGraph, given)


FUNCTIONS = {"oracle": oracle, "layer": layer, "metric": metric, "transformer": transformer}
