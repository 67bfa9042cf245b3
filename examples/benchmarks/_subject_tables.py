"""Rows, sets of labels and images for peers.py."""

from pathlib import Path

import numpy as np
from _data import HOME, load_usps
from _subjects import Subject, Way, bunch, estimator, ways
from joblib import Memory
from kernels_covtype import N_TEST, covtype
from multilabel_tables import rcv1, yeast
from sklearn.datasets import load_breast_cancer, load_digits, make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from sskit import GraphTagger, MultilabelPairwise, SegmentationModel, StructSVMClassifier
from sskit.datasets import make_segmentation_images, make_snakes
from sskit.inputs.ragged_array import make_offsets, split
from sskit.metrics import iou_scores, token_accuracy_score

TENTHS = (0.1, 1.0, 10.0)
DEPTHS = (3, 6, 10)
KERNEL = {"C": (1.0, 10.0, 100.0), "gamma_factor": (1.0, 4.0)}
CACHE = 500.0  # megabytes of kernels, the default of this package, for SVC too
RESULTS = Path(__file__).parent / "results"


# ---- rows ------------------------------------------------------------------------------------


def single_rows(X):
    """Return requests of single rows."""
    return [X[i : i + 1] for i in range(min(len(X), 100))]


def table(source, X, y, X_test, y_test):
    """Return the data of a table."""
    scores = {"accuracy": accuracy_score}
    more = {"scores": scores, "requests": single_rows, "n_search": 5000}
    return bunch(source, X, y, X_test, y_test, **more)


def forest(tiny=False):
    """Return covtype, the second class against the rest."""
    if tiny or not (HOME / "covtype").is_dir():
        X, X_test, y, y_test = train_test_split(
            *load_breast_cancer(return_X_y=True), random_state=0
        )
        return table("breast cancer, in place of covtype", X, y, X_test, y_test)
    X, y = covtype(50_000)
    y = y.astype(int)
    source = "covtype, class 2 against the rest, 50,000 rows of 54"
    return table(source, X[N_TEST:], y[N_TEST:], X[:N_TEST], y[:N_TEST])


def digits(tiny=False):
    """Return the digits of USPS."""
    if tiny or not (HOME / "usps").is_dir():
        X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
        cut = 300 if tiny else len(X)
        return table("digits of scikit-learn, in place of USPS", X[:cut], y[:cut], X_test, y_test)
    train, test = load_usps(), load_usps("test")
    source = "USPS digits, 7,291 rows of 256, 10 classes"
    return table(source, train.data, train.target, test.data, test.target)


def scaled(make, **fixed):
    """Return the train function of an estimator of scikit-learn on columns of variance one."""
    return lambda X, y, **settings: make_pipeline(StandardScaler(), make(**(fixed | settings))).fit(
        X, y
    )


def plain(make, **fixed):
    """Return the train function of an estimator of scikit-learn."""
    return lambda X, y, **settings: make(**(fixed | settings)).fit(X, y)


def gamma_of(X, factor):
    """Return a multiple of what SVC calls "scale"."""
    return factor / (X.shape[1] * X.var())


def svc(X, y, C=1.0, gamma_factor=1.0):
    """Train SVC."""
    return SVC(C=C, gamma=gamma_of(X, gamma_factor), cache_size=CACHE).fit(X, y)


def kernel(X, y, C=1.0, gamma_factor=1.0):
    """Train this package's classifier with the same kernel; lam is what C is for SVC."""
    lam = (2.0 if len(np.unique(y)) == 2 else 1.0) / (C * len(y))
    gamma = gamma_of(X, gamma_factor)
    options = {"kernel": "rbf", "gamma": gamma, "kernel_cache": CACHE, "random_state": 0}
    return StructSVMClassifier(lam, **options).fit(X, y)


def xgboost(X, y, **settings):
    """Train xgboost, on one thread."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=0, **settings).fit(X, y)


ROWS = ways(
    ("sskit, linear", Way("sskit", estimator(StructSVMClassifier))),
    ("sskit, rbf", Way("sskit", kernel)),
    ("logistic regression", Way("logistic regression", scaled(LogisticRegression))),
    ("LinearSVC", Way("LinearSVC", scaled(LinearSVC, random_state=0))),
    ("SVC", Way("SVC", svc)),
    ("xgboost", Way("xgboost", xgboost, module="xgboost")),
    tuned={
        "sskit, linear": {"factor": TENTHS},
        "sskit, rbf": KERNEL,
        "logistic regression": {"C": TENTHS},
        "LinearSVC": {"C": TENTHS},
        "SVC": KERNEL,
        "xgboost": {"max_depth": DEPTHS},
    },
)


# ---- sets of labels --------------------------------------------------------------------------


def micro_f1(y, found):
    """Return F1 over all labels of all rows."""
    return f1_score(y, found, average="micro", zero_division=0.0)


def subset_accuracy(y, found):
    """Return the fraction of rows whose labels are all right."""
    return float(np.mean(np.all(np.asarray(y) == np.asarray(found), axis=1)))


def sets(source, X, Y, X_test, Y_test):
    """Return the data of sets of labels."""
    scores = {"micro F1": micro_f1, "whole sets": subset_accuracy}
    return bunch(source, X, Y, X_test, Y_test, scores=scores)


def genes(tiny=False):
    """Return the functions of genes."""
    if tiny or not (HOME / "yeast").is_dir():
        X, Y = make_multilabel_classification(
            200 if tiny else 1500, 30, n_classes=6, random_state=0
        )
        cut = len(X) * 2 // 3
        return sets("made sets, in place of yeast", X[:cut], Y[:cut], X[cut:], Y[cut:])
    return sets("yeast, 1,500 rows of 103, 14 labels", *yeast())


def topics(tiny=False):
    """Return the topics of news."""
    if tiny or not (HOME / "rcv1_topics").is_dir():
        X, Y = make_multilabel_classification(
            200 if tiny else 2000, 30, n_classes=6 if tiny else 12, random_state=1
        )
        cut = len(X) * 2 // 3
        return sets("made sets, in place of RCV1", X[:cut], Y[:cut], X[cut:], Y[cut:])
    return sets("RCV1, 3,000 rows of 47,236, the 30 most frequent topics", *rcv1(30))


def one_each(make, **fixed):
    """Return the train function of a classifier for each label."""
    return lambda X, y, **settings: OneVsRestClassifier(make(**(fixed | settings))).fit(X, y)


def in_chain(X, y, **settings):
    """Train a chain of linear SVMs, in random order."""
    svm = LinearSVC(random_state=0, **settings)
    return ClassifierChain(svm, order="random", random_state=0).fit(X, y)


class Thresholds:
    """A logistic regression for each label, with a threshold chosen for F1 by folds."""

    def __init__(self, X, Y):
        self.models = []
        for labels in Y.T:
            rare, model = min(labels.sum(), len(labels) - labels.sum()), LogisticRegression()
            if rare >= 5:  # fewer than one of each kind a fold tell nothing of a threshold
                model = TunedThresholdClassifierCV(model, scoring="f1")
            self.models.append(model.fit(X, labels) if rare else labels[0])

    def predict(self, X):
        """Return sets of labels."""
        columns = [
            model.predict(X) if hasattr(model, "predict") else np.full(X.shape[0], model)
            for model in self.models
        ]
        return np.column_stack(columns)


SETS = ways(
    ("sskit", Way("sskit", estimator(MultilabelPairwise))),
    ("logistic regression", Way("logistic regression", one_each(LogisticRegression))),
    ("logistic regression, thresholds", Way("logistic regression", Thresholds)),
    ("LinearSVC", Way("LinearSVC", one_each(LinearSVC, random_state=0))),
    ("LinearSVC in a chain", Way("LinearSVC", in_chain)),
    ("xgboost", Way("xgboost", xgboost, module="xgboost")),
    tuned={
        "sskit": {"factor": TENTHS},
        "logistic regression": {"C": TENTHS},
        "LinearSVC": {"C": TENTHS},
        "LinearSVC in a chain": {"C": TENTHS},
    },
)


# ---- images ----------------------------------------------------------------------------------


def graphs_of(train, test):
    """Return graphs of superpixels, and the processor seconds of those to train on."""
    from _common import processor_time

    from sskit.preprocessing import SuperpixelGraphs

    superpixels = SuperpixelGraphs(random_state=0)
    X, seconds = processor_time(lambda: superpixels.fit_transform(train))
    return X, superpixels.transform(test), seconds


def horses(tiny=False):
    """Return superpixels of photographs of horses; features take most of the time."""
    if tiny or not (HOME / "weizmann_horse").is_dir():
        images, masks = make_segmentation_images(6 if tiny else 60, n_classes=2, random_state=0)
        cut = len(images) * 2 // 3
        source = "made images of two kinds of land, in place of horses"
        train, test = images[:cut], images[cut:]
        y, y_test = masks[:cut], masks[cut:]
        X, X_test, seconds = graphs_of(train, test)
    else:
        from _data import load_weizmann_horses

        train, test = load_weizmann_horses(), load_weizmann_horses("test")
        source = "Weizmann horses, 147 photographs, 150 superpixels each"
        memory = Memory(RESULTS / "graphs", verbose=0)
        X, X_test, seconds = memory.cache(graphs_of)(train.data, test.data)
        y, y_test = train.target, test.target
    more = {"seconds": seconds, "scores": {"IoU": lambda y, found: iou_scores(y, found)[0][1]}}
    return bunch(source, X, y, X_test, y_test, **more)


def snakes(tiny=False):
    """Return pictures of snakes, whose cells are to be numbered from head to tail."""
    X, y = make_snakes(30 if tiny else 300, shape=(8, 8), random_state=0)
    cut = len(X) * 2 // 3
    source = f"made snakes, {cut} pictures of 64 cells, 11 labels"
    scores = {"accuracy of cells": token_accuracy_score}
    return bunch(source, X[:cut], y[:cut], X[cut:], y[cut:], scores=scores)


class EachNode:
    """A classifier of single nodes of graphs."""

    def __init__(self, X, y, train, **settings):
        if isinstance(X[0], tuple):
            labels = np.concatenate(y)
        else:
            labels = np.concatenate([g.node_labels(m) for g, m in zip(X, y, strict=True)])
        self.model = train(np.concatenate([features(g) for g in X]), labels, **settings)

    def predict(self, X):
        """Return the labels of nodes, or masks of pixels."""
        found = self.model.predict(np.concatenate([features(g) for g in X]))
        labels = split(found, make_offsets([len(features(g)) for g in X]))
        if isinstance(X[0], tuple):
            return list(labels)
        return [g.pixel_mask(some) for g, some in zip(X, labels, strict=True)]


def features(graph):
    """Return the features of the nodes of a graph."""
    return graph[0] if isinstance(graph, tuple) else graph.features


def node(train):
    """Return the train function of a classifier of single nodes."""
    return lambda X, y, **settings: EachNode(X, y, train, **settings)


def image_ways(model):
    """Return the ways of labelling nodes of graphs, this package's by a model of neighbours."""
    return ways(
        ("sskit", Way("sskit", estimator(model))),
        (
            "logistic regression",
            Way("logistic regression", node(plain(LogisticRegression, max_iter=300))),
        ),
        ("LinearSVC", Way("LinearSVC", node(plain(LinearSVC, random_state=0)))),
        ("SVC", Way("SVC", node(svc))),
        ("xgboost", Way("xgboost", node(xgboost), module="xgboost")),
        tuned={
            "sskit": {"factor": TENTHS},
            "logistic regression": {"C": TENTHS},
            "LinearSVC": {"C": TENTHS},
        },
    )


SUBJECTS = {
    "forest": Subject("Rows: forest cover types", forest, ROWS),
    "digits": Subject("Rows: digits", digits, ROWS),
    "genes": Subject("Sets of labels: genes", genes, SETS),
    "topics": Subject("Sets of labels: topics", topics, SETS),
    "horses": Subject("Images: horses", horses, image_ways(SegmentationModel)),
    "snakes": Subject("Images: snakes", snakes, image_ways(GraphTagger)),
}
