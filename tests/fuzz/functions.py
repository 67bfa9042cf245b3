"""Valid calls of public functions and of transformers."""

import numpy as np
from helpers.trees import random_parents
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

CHAIN = [
    "viterbi", "viterbi_by_loss", "viterbi_top_k", "beam_search", "chain_max_marginals",
    "chain_marginals",
]  # fmt: skip
GRAPH = [
    "elimination", "expansion", "graphcut", "graph_max_marginals", "qpbo", "tree_marginals",
    "tree_max_marginals", "tree_max_sum", "tree_top_k", "trws",
]  # fmt: skip
SEGMENTS = ["segment_marginals", "segment_max_marginals", "segment_max_sum", "segment_top_k"]
TOKEN_METRICS = [
    "token_accuracy_score", "sequence_accuracy_score", "class_accuracy_score", "iou_scores",
    "mean_iou_score",
]  # fmt: skip
SPAN_METRICS = ["span_f1_score", "span_precision_recall_fscore"]
POSE_METRICS = ["mean_part_error", "pdj_score", "pdj_curve"]


def chain_oracle(rng):
    """An oracle of chains."""
    n_nodes, n_states = int(rng.integers(1, 5)), 3
    transitions = rng.normal(size=(n_states, n_states))
    transitions[0, 1] = pick(rng, [0.0, -np.inf])
    given = {"nodes": rng.normal(size=(n_nodes, n_states)), "transitions": transitions}
    name = pick(rng, CHAIN)
    if name not in ("viterbi_by_loss", "beam_search"):
        given["triples"] = pick(rng, [None, rng.normal(size=(n_states,) * 3)])
    if name in ("viterbi", "viterbi_by_loss"):
        given["truth"] = rng.integers(n_states, size=n_nodes)
        given["cost"] = pick(rng, [1.0, np.arange(n_nodes).astype(float)])
    given |= {"viterbi_top_k": {"k": 2}, "beam_search": {"beam_size": 2}}.get(name, {})
    if name == "chain_marginals":
        given["return_pairs"] = pick(rng, [True, False])
    return Subject(getattr(oracles, name), given)


def segment_oracle(rng):
    """An oracle of segments."""
    n_tokens, n_states, max_length = int(rng.integers(1, 5)), 3, int(rng.integers(1, 4))
    table = n_tokens, n_states
    given = {"tokens": rng.normal(size=table), "transitions": rng.normal(size=(3, 3))}
    given["lengths"] = rng.normal(size=(n_states, max_length))
    further = {"first": table, "last": table, "start": 3, "end": 3}
    further["whole"] = n_tokens, max_length, n_states
    for name, shape in further.items():
        given[name] = pick(rng, [None, rng.normal(size=shape)])
    name = pick(rng, SEGMENTS)
    if name == "segment_top_k":
        given["k"] = 2
    if name == "segment_marginals":
        given["return_segments"] = pick(rng, [True, False])
    return Subject(getattr(oracles, name), given)


def graph_oracle(rng):
    """An oracle of trees or graphs."""
    name, n_nodes = pick(rng, GRAPH), int(rng.integers(1, 5))
    n_states = 2 if name in ("graphcut", "graph_max_marginals", "qpbo") else 3
    edges = np.stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)], axis=1)
    potts = rng.exponential(size=n_nodes - 1)
    tables = potts[:, None, None] * np.eye(n_states)
    given = {"nodes": rng.normal(size=(n_nodes, n_states)), "edges": edges}
    given["pairwise"] = pick(rng, [tables, np.eye(n_states), potts])
    if name not in ("graph_max_marginals", "tree_marginals", "tree_max_marginals", "tree_top_k"):
        given["truth"] = rng.integers(n_states, size=n_nodes)
        given["cost"] = pick(rng, [1.0, np.ones(n_nodes)])
    if name == "expansion":
        given |= {"start": np.zeros(n_nodes, dtype=int), "moves": pick(rng, ["expansion", "swap"])}
        given["persistency"] = True
    if name == "tree_marginals":
        given["return_pairs"] = pick(rng, [True, False])
    given |= {
        "tree_top_k": {"k": 2},
        "elimination": {"max_entries": 1000},
        "trws": {"start": np.zeros(n_nodes, dtype=int), "max_sweeps": 3, "n_moves": 2}
        | {"tol": pick(rng, [0.0, 0.1])},
    }.get(name, {})
    return Subject(getattr(oracles, name), given)


def other_oracle(rng):
    """An oracle of sets of labels, of parts, or of sets of rows."""
    names = ["closure", "lp_relaxation", "distance_transform", "parts", "worst_ranking"]
    name = pick(rng, names)
    if name == "worst_ranking":
        n = int(rng.integers(1, 6))
        given = {"scores": rng.normal(size=n), "relevance": rng.integers(3, size=n)}
        return Subject(oracles.worst_ranking, given | {"loss_weight": pick(rng, [1.0, 0.3])})
    if name == "closure":
        hierarchy = pick(rng, [[-1, 0, 0, 1], np.array([[1, 0], [2, 0], [3, 1], [3, 2]])])
        return Subject(oracles.closure, {"gains": rng.normal(size=4), "hierarchy": hierarchy})
    if name == "lp_relaxation":
        given = {"gains": rng.normal(size=3), "edges": np.array([[0, 1], [1, 2], [0, 2]])}
        return Subject(oracles.lp_relaxation, given | {"pairwise": rng.normal(size=3)})
    if name == "distance_transform":
        scores = rng.normal(size=pick(rng, [(5,), (3, 4)]))
        n_dims = scores.ndim
        given = {"scores": scores, "square": pick(rng, [0.5, np.full(n_dims, 0.5)])}
        given |= {"linear": rng.normal(size=n_dims), "mean": pick(rng, [0.5, np.ones(n_dims)])}
        return Subject(oracles.distance_transform, given)
    springs = rng.exponential(size=(3, 2, 2, 3)) + 0.1
    given = {"scores": rng.normal(size=(3, 3, 4)), "parents": random_parents(rng, 3)}
    given |= {"springs": springs, "bias": rng.normal(size=(3, 2))}
    function = pick(rng, [oracles.parts_max_sum, oracles.parts_max_marginals])
    return Subject(function, given)


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
    "chain_oracle": chain_oracle,
    "segment_oracle": segment_oracle,
    "graph_oracle": graph_oracle,
    "other_oracle": other_oracle,
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
