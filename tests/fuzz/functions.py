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
POSE_METRICS = ["mean_part_error", "pdj_score", "pdj_curve"]


def missing(given):
    """Flags that ask for what there is not."""
    return set() if given.get("triples") is not None else {"return_triples"}


def oracle(*beginnings):
    """Return a maker of calls of the oracles whose names begin so, with other numbers."""
    names = [name for name in CALLS if name.startswith(beginnings)]

    def make(rng):
        name, given = pick(rng, names), {}
        for argument, value in CALLS[name].items():
            if argument in OPTIONAL and name != "viterbi_by_loss" and rng.random() < 0.3:
                continue
            value = np.array(value) if isinstance(value, list) else value
            if argument in FREE:
                value = value + rng.normal(size=np.shape(value))
            given[argument] = value
        function = getattr(oracles, name)
        # flags are as true as Python takes them, and so are no part of what is changed
        taken = set(FLAGS) & {*inspect.signature(function).parameters}
        if taken and rng.random() < 0.5:
            flags = dict.fromkeys(taken - missing(given), True)
            function = update_wrapper(partial(function, **flags), function)
        return Subject(function, given)

    return make


def layer(rng):
    """A layer of potentials: chains, trees or graphs."""
    structure = pick(rng, ["chain", "tree", "graph"])
    labels = rng.integers(2, size=(3, 4))
    labels[0, 2] = pick(rng, [-100, 0])
    given = {"unary": rng.normal(size=(3, 4, 2)), "pairwise": rng.normal(size=(2, 2))}
    if structure != "chain":
        given["edges"] = np.array([[0, 1], [1, 2], [3, 2]])
    given["mask"] = np.arange(4) < np.array([[4], [4], [4 if "edges" in given else 2]])
    methods = ["evaluate", "decode"]
    if structure in ("chain", "tree"):
        methods += ["max_marginals", "marginals"]
    name = pick(rng, methods)
    if name == "evaluate":
        given |= {"labels": labels, "token_weight": np.ones((3, 4))}
    return Subject(getattr(StructuredHinge(structure), name), given)


def token_metric(rng):
    """A metric of labels."""
    name = pick(rng, TOKEN_METRICS)
    X, y = sequences(rng)
    found = [np.roll(labels, 1) for labels in y]
    given = {"y_true": y, "y_pred": found} | weighted(rng, len(X))
    if "accuracy_score" not in name or name.startswith("class"):
        given["ignore_label"] = None
    return Subject(getattr(metrics, name), given)


def span_metric(rng):
    """A metric of spans, or the spans themselves."""
    y = [np.array(["B-x", "I-x", "O", "B-y"]), np.array(["O", "B-y"])]
    if rng.random() < 0.3:
        return Subject(metrics.spans, {"labels": y[0], "scheme": "bio"})
    if rng.random() < 0.3:
        target = pick(rng, ["iob1", "bioes", "bilou"])
        given = {"y": y, "source": "bio", "target": target, "strict": pick(rng, [True, False])}
        return Subject(metrics.convert_tags, given)
    given = {"y_true": y, "y_pred": [np.roll(labels, 1) for labels in y], "scheme": "bio"}
    given["average"] = pick(rng, ["micro", "macro"])
    return Subject(getattr(metrics, pick(rng, SPAN_METRICS)), given)


def pose_metric(rng):
    """A metric of poses."""
    name = pick(rng, POSE_METRICS)
    y = rng.integers(5, size=(4, 3, 2))
    given = {"y_true": list(y), "y_pred": list(y + 1), "torso": (0, 1)} | weighted(rng, 4)
    given |= {"pdj_score": {"radius": 0.2}, "pdj_curve": {"radii": [0.1, 0.2]}}.get(name, {})
    if name != "pdj_curve":
        given["per_part"] = pick(rng, [True, False])
    return Subject(getattr(metrics, name), given)


def token_transformer(rng):
    """A transformer of tokens."""
    X, _ = sequences(rng)
    return Subject(TokenTransformer(StandardScaler()), {"X": X, "y": None})


def token_vectorizer(rng):
    """A vectorizer of tokens."""
    values = ["x", "y", 2.5, True, ["x", "z"], {"a": "x", "b": 1}]
    X = [
        [{key: values[rng.integers(len(values))] for key in "abc"} for _ in range(3)]
        for _ in range(4)
    ]
    return Subject(TokenVectorizer(min_count=int(rng.integers(1, 3))), {"X": X, "y": None})


def node_probabilities(rng):
    """Probabilities of nodes."""
    edges = np.array([[0, 1], [1, 2]])
    X = [(rng.normal(size=(3, 2)), edges, np.ones((2, 1))) for _ in range(6)]
    y = [np.array([0, 1, k % 2]) for k in range(6)]
    target = NodeProbabilities(GaussianNB(), cv=2)
    return Subject(target, {"X": X, "y": y} | weighted(rng, 6))


def superpixel_graph(rng):
    """One graph of superpixels."""
    segments = np.array([[0, 0, 1], [2, 2, 1]])
    given = {"features": rng.normal(size=(3, 2)), "edges": np.array([[0, 1], [1, 2]])}
    given |= {"edge_features": rng.exponential(size=(2, 1)), "segments": segments}
    return Subject(SuperpixelGraph, given)


def superpixel_graphs(rng):
    """Images as graphs of superpixels."""
    X = [rng.uniform(size=(20, 24, 3)) for _ in range(2)]
    words = {"n_color_words": 3, "n_texture_words": 3}
    target = SuperpixelGraphs(n_segments=4, random_state=0, **words)
    return Subject(target, {"X": X, "y": None})


FUNCTIONS = {
    "chain_oracle": oracle("viterbi", "beam", "chain"),
    "segment_oracle": oracle("segment"),
    "graph_oracle": oracle("elimination", "expansion", "graph", "qpbo", "tree", "trws"),
    "other_oracle": oracle("closure", "lp", "distance", "parts", "worst"),
    "layer": layer,
    "token_metric": token_metric,
    "span_metric": span_metric,
    "pose_metric": pose_metric,
    "token_transformer": token_transformer,
    "token_vectorizer": token_vectorizer,
    "node_probabilities": node_probabilities,
    "superpixel_graph": superpixel_graph,
    "superpixel_graphs": superpixel_graphs,
}
