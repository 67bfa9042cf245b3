"""Names of labels from data frames, and scores that see what fit sees."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.label_sets import leaves
from sklearn.base import clone
from sklearn.metrics import accuracy_score, hamming_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import EarlyStopping, HierarchicalMultilabel, MultilabelPairwise, RegularizationPath

PARENTS = [-1, 0, 0, 1]
MODELS = {
    "pairs": MultilabelPairwise(random_state=0),
    "tree": MultilabelPairwise(edges="tree", random_state=0),
    "hierarchy": HierarchicalMultilabel(PARENTS, random_state=0),
}


NAMES = ["root", "a", "b", "a/1"]


def frames(names=NAMES):
    """The rows and the closed sets as data frames."""
    X, _, full = leaves(PARENTS, 60)
    index = pd.Index(range(100, 160), name="document")
    X = pd.DataFrame(X, index=index, columns=[f"x{j}" for j in range(5)])
    return X, pd.DataFrame(full, index=index, columns=list(names))


def make(name, **given):
    return clone(MODELS[name]).set_params(**given)


FORMS = {
    "array": lambda Y: Y,
    "booleans": lambda Y: Y.astype(bool),
    "floats": lambda Y: Y.astype(np.float32),
    "lists": lambda Y: Y.tolist(),
    "tuples": lambda Y: [tuple(row) for row in Y.tolist()],
    "sparse": sp.csr_array,
    "sparse columns": sp.csc_matrix,
    "frame": pd.DataFrame,
    "nullable": lambda Y: pd.DataFrame(Y).astype("Int64"),
    "mixed": lambda Y: pd.DataFrame(Y).astype({0: "boolean", 1: "Int64", 2: bool}),
    "sparse frame": lambda Y: pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(Y)),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_score_sees_what_fit_sees(name):
    """Of hierarchies leaves only, as fit allows, and closed sets are the same."""
    X, Y, full = leaves(PARENTS, 60)
    allowed = (full, Y) if name == "hierarchy" else (full,)
    plain = make(name).fit(X, full)
    predicted, weight = plain.predict(X), np.linspace(0.0, 1.0, 60)
    expected, weighted = (accuracy_score(full, predicted, sample_weight=w) for w in (None, weight))
    for form in FORMS.values():
        model = make(name).fit(X, form(allowed[-1]))
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        found = model.predict(X)
        assert sp.issparse(found) == sp.issparse(form(full))
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, predicted)
        for other, given in itertools.product(FORMS.values(), allowed):
            assert model.score(X, other(given)) == pytest.approx(expected)
            assert model.score(X, other(given), sample_weight=weight) == pytest.approx(weighted)


def test_one_column():
    X, Y, _ = leaves(PARENTS, 60)
    one = Y[:, :1]
    for given in (sp.csr_matrix(one), sp.csc_array(one), one, pd.DataFrame({"a": one[:, 0]})):
        model = make("pairs").fit(X, given)
        right = np.mean(np.asarray(sp.csr_matrix(model.predict(X)).todense()) == one)
        for asked in (sp.csr_matrix(one), one, one[:, 0]):
            assert model.score(X, asked) == right


def test_wrong_targets_of_scores():
    X, Y, _ = leaves(PARENTS, 60)
    model = make("pairs").fit(X, pd.DataFrame(Y, columns=list("abcd")))
    seventh = np.arange(60)[:, None] == 7
    for given, message in (
        (Y[:, :3], "^y has 3 labels, but that of fit 4"),
        (np.where(seventh, 2, Y), r"^y\[7, 0\] is 2, expected 0 or 1"),
        ([*Y[:-1].tolist(), [0, 1]], "^y is no array"),
        (np.where(seventh, np.nan, Y), "^Input y contains NaN"),
        (Y[:-1], "inconsistent numbers of samples"),
        (Y[:, 0], "^y has 1 labels, but that of fit 4"),
        (pd.DataFrame(Y, columns=list("abdc")), "^the columns of y are 'a', 'b', 'd'"),
    ):
        with pytest.raises(ValueError, match=message):
            model.score(X, given)


@pytest.mark.parametrize("name", MODELS)
def test_columns_name_the_labels(name):
    X, full = frames()
    model, plain = make(name).fit(X, full), make(name).fit(X, full.to_numpy())
    assert model.classes_.tolist() == NAMES and plain.classes_.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    predicted, expected = model.predict(X), plain.predict(X)
    pd.testing.assert_frame_equal(predicted, full * 0 + expected)
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(model)).predict(X), predicted)
    assert isinstance(expected, np.ndarray)
    weights = model.weights_frame(top=2)
    assert set(weights["label"]) <= set(NAMES)
    if name != "hierarchy":
        assert set(weights.loc[weights["kind"] == "pair", "to_label"]) <= set(NAMES)
    # what names nothing else stays as it is
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.score(X, full) == model.score(X, full.to_numpy()) == plain.score(X, full)
    # rows without an index
    numbers = make(name).fit(X.to_numpy(), full).predict(X.to_numpy())
    pd.testing.assert_index_equal(numbers.index, pd.RangeIndex(60))


def test_names_of_any_type():
    for names in ([3, 1, 2, 0], ["a", 1, None, 2.5], [(0, 1), (0, 2), (1, 1), (1, 2)]):
        X, full = frames(names)
        model = make("pairs").fit(X, full)
        assert model.classes_.tolist() == model.predict(X).columns.tolist() == names
        assert model.score(X, full) > 0.5
    X, full = frames(["a", "b", "a", "c"])
    with pytest.raises(ValueError, match="^y has two columns named 'a'"):
        model.fit(X, full)
    X, full = frames()
    model.set_params(warm_start=True).fit(X, full)
    with pytest.raises(ValueError, match="the classes changed from .'root', 'a'.* to .'a/1', 'b'"):
        model.fit(X, full[full.columns[::-1]])


def test_tools_take_frames():
    X, full = frames()
    model, folds = make("pairs"), KFold(3)
    scores = cross_val_score(model, X, full, cv=folds)
    found = cross_val_predict(model, X, full, cv=folds)
    assert scores.mean() == pytest.approx(accuracy_score(full, found))
    for scoring in ("f1_micro", "roc_auc", lambda m, X, y: -hamming_loss(y, m.predict(X))):
        search, plain = (
            GridSearchCV(model, {"lam": [0.01, 1.0]}, cv=folds, scoring=scoring).fit(*data)
            for data in ((X, full), (X.to_numpy(), full.to_numpy()))
        )
        assert search.best_score_ == plain.best_score_
    path, stopping = RegularizationPath(model, cv=3), EarlyStopping(model, random_state=0)
    for tool in (path, stopping, make_pipeline(StandardScaler(), model)):
        predicted = tool.fit(X, full).predict(X)
        pd.testing.assert_index_equal(predicted.columns, full.columns)
        assert tool.classes_.tolist() == NAMES


@pytest.mark.parametrize("name", MODELS)
def test_priors_are_aligned_by_names(name):
    X, full = frames()
    source, order = make(name).fit(X, full), [2, 0, 3, 1]
    other = make(name, prior=source, lam=1e9)
    if name == "hierarchy":
        other.set_params(hierarchy=[[0, 1], [3, 1], [2, 3]])
    other.fit(X, full.iloc[:, order])
    np.testing.assert_allclose(other.coef_, source.coef_[order], atol=1e-6)
    np.testing.assert_allclose(other.intercept_, source.intercept_[order], atol=1e-6)
    if name == "pairs":
        assert weights_by_name(other) == pytest.approx(weights_by_name(source), abs=1e-6)


def weights_by_name(model):
    pairs = [frozenset(model.classes_[pair]) for pair in model.edges_]
    return dict(zip(pairs, model.pairwise_, strict=True))


@pytest.mark.parametrize("named", ["source", "target"])
def test_a_prior_without_names_is_aligned_by_place(named):
    X, full = frames()
    one, two = (full, full.to_numpy()) if named == "source" else (full.to_numpy(), full)
    source = make("pairs").fit(X, one)
    model = make("pairs", prior=source, lam=1e9).fit(X, two)
    np.testing.assert_allclose(model.coef_, source.coef_, atol=1e-6)
    np.testing.assert_allclose(model.pairwise_, source.pairwise_, atol=1e-6)
    with pytest.raises(ValueError, match=r"^prior\[.* must be numbers of shape"):
        model.fit(X, two.iloc[:, :3] if named == "target" else two[:, :3])


def test_a_prior_from_a_dict_names_pairs_by_its_classes():
    named = {"classes_": ["a/1", "root"], "edges_": [[0, 1]]}
    prior = named | {"coef_": np.ones((2, 5)), "pairwise_": [2.0]}
    model = make("pairs", prior=prior, lam=1e9).fit(*frames())
    np.testing.assert_allclose(model.coef_.sum(axis=1), [5, 0, 0, 5], atol=1e-6)
    assert weights_by_name(model)[frozenset(["root", "a/1"])] == pytest.approx(2.0, abs=1e-6)
    assert abs(weights_by_name(model)[frozenset(["root", "a"])]) < 1e-6
