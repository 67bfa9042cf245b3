"""NodeProbabilities: folds by graph, what is given in fit and after it, and in pipelines."""

import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from helpers.refusals import refused
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from sskit import SegmentationModel
from sskit.preprocessing import NodeProbabilities, SuperpixelGraph

EDGES = np.array([[0, 1], [1, 2], [2, 3]])


def graphs(n=12, seed=0, classes=(0, 1, 2)):
    """Paths of nodes whose features tell their class, roughly, and their graph, exactly."""
    rng = np.random.default_rng(seed)
    y = [np.repeat(rng.choice(classes), 4) for _ in range(n)]
    x = [np.column_stack([np.full(4, i), row + rng.normal(size=4)]) for i, row in enumerate(y)]
    return [(features, EDGES, None) for features in x], y


def test_graphs_are_described_by_what_has_not_seen_them():
    X, y = graphs()
    # nearest neighbours remember graphs: of their own graph they would know all
    memory = NodeProbabilities(KNeighborsClassifier(1), cv=KFold(4, shuffle=True, random_state=0))
    found = memory.fit_transform(X, y)
    for train, test in KFold(4, shuffle=True, random_state=0).split(X):
        rows = np.concatenate([X[i][0] for i in train])
        own = KNeighborsClassifier(1).fit(rows, np.concatenate([y[i] for i in train]))
        for i in test:
            expected = np.zeros((4, 3))
            expected[:, own.classes_] = own.predict_proba(X[i][0])
            np.testing.assert_array_equal(found[i][0], expected)
            assert found[i][1] is X[i][1] and found[i][2] is None
    # after the fit it is the classifier of all graphs that is asked
    for i, graph in enumerate(memory.transform(X)):
        np.testing.assert_array_equal(graph[0], np.eye(3)[y[i]])
    assert np.mean([g[0][np.arange(4), t] for g, t in zip(found, y, strict=True)]) < 0.9


@pytest.mark.parametrize("form", ["lists", "objects", "csr", "float32"])
def test_forms_of_graphs(form):
    X, y = graphs()
    segments = np.repeat(np.arange(4), 3).reshape(4, 3)
    given = {
        "lists": [[x.tolist(), e.tolist()] for x, e, _ in X],
        "objects": [SuperpixelGraph(x, e, np.ones((3, 1)), segments) for x, e, _ in X],
        "csr": [(sp.csr_array(x), e, None) for x, e, _ in X],
        "float32": [(x.astype(np.float32), e, None) for x, e, _ in X],
    }[form]
    before = None if form == "csr" else pickle.dumps(given)  # SciPy notes what it has found
    maker = NodeProbabilities(LogisticRegression())
    for found in (maker.fit_transform(given, y), maker.transform(given)):
        features, *_ = found[0]
        if form == "objects":
            np.testing.assert_array_equal(found[0].segments, segments)
        assert found.shape == (12,) and features.shape == (4, 3)
        assert features.dtype == (np.float32 if form == "float32" else np.float64)
        np.testing.assert_allclose(features.sum(axis=1), 1, atol=1e-6)
    assert before is None or pickle.dumps(given) == before


def test_nodes_without_a_label_are_not_learned_from_but_described():
    X, y = graphs()
    y = [np.where(np.arange(4) < i % 3, -1, labels) for i, labels in enumerate(y)]
    maker = NodeProbabilities(GaussianNB(), ignore_label=-1)
    found = maker.fit_transform(X, y)
    assert maker.classes_.tolist() == [0, 1, 2] and found[2][0].shape == (4, 3)
    kept = np.concatenate(y) >= 0
    rows = np.concatenate([x[0] for x in X])
    expected = GaussianNB().fit(rows[kept], np.concatenate(y)[kept]).predict_proba(rows[:4])
    np.testing.assert_allclose(maker.transform(X)[0][0], expected)


def test_a_class_that_a_fold_lacks_has_no_probability():
    X, y = graphs(6, classes=(0, 1))
    y = [np.array(["cow", "sky"])[labels] for labels in y]
    y[2] = np.full(4, "tree")
    maker = NodeProbabilities(DummyClassifier(), cv=LeaveOneOut())
    found = maker.fit_transform(X, y)
    assert (found[2][0][:, 2] == 0).all() and (found[0][0][:, 2] > 0).all()
    names = ["probability_cow", "probability_sky", "probability_tree"]
    assert maker.get_feature_names_out().tolist() == names


def test_weights_of_graphs():
    X, y = graphs()
    weight = np.arange(12.0) + 1
    maker = NodeProbabilities(GaussianNB(), cv=3)
    held_out = maker.fit_transform(X, y, sample_weight=weight)
    rows, labels, of_node = np.concatenate([x[0] for x in X]), np.concatenate(y), weight.repeat(4)
    for found, part in ((maker.transform(X), slice(None)), (held_out, slice(16, None))):
        own = GaussianNB().fit(rows[part], labels[part], sample_weight=of_node[part])
        np.testing.assert_allclose(found[3][0], own.predict_proba(X[3][0]))


def test_folds_as_masks_are_those_of_numbers():
    X, y = graphs()
    parts = np.arange(len(X)) % 3 == np.arange(3)[:, None]
    folds = [(np.flatnonzero(~part), np.flatnonzero(part)) for part in parts]
    masks = [(~part, part) for part in parts]
    by_numbers, by_masks = (
        NodeProbabilities(GaussianNB(), cv=cv).fit_transform(X, y) for cv in (folds, masks)
    )
    for one, other in zip(by_numbers, by_masks, strict=True):
        np.testing.assert_array_equal(one[0], other[0])


@pytest.mark.filterwarnings("ignore:passing a class:FutureWarning")  # scikit-learn 1.7
def test_bad_input():
    for options, change, error, message in [
        ({"estimator": LinearSVC()}, {}, TypeError, "implementing 'fit' and 'predict_proba'"),
        ({"estimator": GaussianNB}, {}, TypeError, "estimator class instead|instead of a class"),
        ({"cv": ShuffleSplit(2)}, {}, ValueError, "only works for partitions"),
        ({"cv": [(0, 1)]}, {}, ValueError, "train of fold 0 of cv must be numbers of samples"),
        ({"cv": 13}, {}, ValueError, "Cannot have number of splits n_splits=13"),
        ({}, {"y": None}, TypeError, "y must be a list"),
        ({}, {"X": []}, ValueError, "0 sample"),
        ({}, {"y": [np.zeros(3)] * 12}, ValueError, r"X\[0\].*y\[0\]"),
        ({"ignore_label": 4}, {"y": [np.full(4, 4)] * 12}, ValueError, "no labels but ignore_lab"),
        ({"ignore_label": -1, "cv": 2}, {"y": [np.zeros(4, int)] * 6 + [np.full(4, -1)] * 6},
         ValueError, "0 sample"),
    ]:  # fmt: skip
        X, y = graphs()
        maker = NodeProbabilities(**{"estimator": GaussianNB()} | options)
        with refused(maker, error, message):
            maker.fit_transform(**{"X": X, "y": y} | change)
    maker = NodeProbabilities(GaussianNB()).fit(*graphs())
    with pytest.raises(ValueError, match="3 features.*NodeProbabilities is expecting 2"):
        maker.transform([(np.ones((4, 3)), EDGES, None)])


def test_pipelines_copies_and_threads():
    X, y = graphs(20)
    maker = NodeProbabilities(LogisticRegression(C=0.3), cv=4)
    expected = maker.fit_transform(X, y)
    with joblib.parallel_config("threading"):
        found = clone(maker).set_params(n_jobs=2).fit_transform(X, y)
    again = pickle.loads(pickle.dumps(maker))
    for a, b in ((found, expected), (again.transform(X), maker.transform(X))):
        np.testing.assert_array_equal([graph[0] for graph in a], [graph[0] for graph in b])
    pipeline = make_pipeline(maker, SegmentationModel(random_state=0))
    grid = {"nodeprobabilities__estimator__C": [0.1, 1.0], "segmentationmodel__lam": [1.0]}
    assert GridSearchCV(pipeline, grid, cv=2).fit(X, y).score(X, y) > 0.5
