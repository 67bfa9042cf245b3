"""Names of labels from data frames, and scores that see what fit sees."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import accuracy_score, f1_score, hamming_loss
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


def rows(n=60):
    """Rows with the lowest labels only, and all of them with their ancestors."""
    rng = np.random.default_rng(0)
    lowest = rng.integers(-1, 4, size=n)
    Y = (lowest[:, None] == np.arange(4)).astype(int)
    full = Y.copy()
    for child in (3, 2, 1):
        full[:, PARENTS[child]] |= full[:, child]
    return full @ rng.normal(size=(4, 5)) + 0.3 * rng.normal(size=(n, 5)), Y, full


def frames(names=("root", "a", "b", "a/1")):
    X, Y, full = rows()
    index = pd.Index(range(100, 160), name="document")
    columns = [f"x{j}" for j in range(5)]
    return (
        pd.DataFrame(X, index=index, columns=columns),
        pd.DataFrame(Y, index=index, columns=list(names)),
        pd.DataFrame(full, index=index, columns=list(names)),
    )


# ---- scores ----------------------------------------------------------------------------------


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


def test_a_score_sees_what_fit_sees():
    X, Y, full = rows()
    plain = HierarchicalMultilabel(PARENTS, random_state=0).fit(X, Y)
    predicted, weight = plain.predict(X), np.linspace(0.0, 1.0, 60)
    expected = accuracy_score(full, predicted)
    weighted = accuracy_score(full, predicted, sample_weight=weight)
    assert expected > 0.75
    for form in FORMS.values():
        model = HierarchicalMultilabel(PARENTS, random_state=0).fit(X, form(Y))
        # leaves only, as fit allows, and closed sets are the same
        for given in (Y, full):
            assert model.score(X, form(given)) == pytest.approx(expected)
        assert model.score(X, form(Y), sample_weight=weight) == pytest.approx(weighted)
        assert model.score(X, form(predicted)) == 1.0


@pytest.mark.parametrize("name", ["pairs", "tree"])
def test_scores_of_pairs(name):
    X, _, full = rows()
    plain = clone(MODELS[name]).fit(X, full)
    expected = accuracy_score(full, plain.predict(X))
    for form in FORMS.values():
        model = clone(MODELS[name]).fit(X, form(full))
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        predicted = model.predict(X)
        assert sp.issparse(predicted) == sp.issparse(form(full))
        dense = predicted.toarray() if sp.issparse(predicted) else predicted
        np.testing.assert_array_equal(dense, plain.predict(X))
        for other in FORMS.values():
            assert model.score(X, other(full)) == pytest.approx(expected)


def test_one_column():
    X, Y, _ = rows()
    one = Y[:, :1]
    for given in (sp.csr_matrix(one), sp.csc_array(one), one, pd.DataFrame({"a": one[:, 0]})):
        model = MultilabelPairwise(random_state=0).fit(X, given)
        for asked in (sp.csr_matrix(one), one, one[:, 0]):
            found = np.asarray(sp.csr_matrix(model.predict(X)).todense())
            assert model.score(X, asked) == np.mean(found == one)


def test_searches_choose_by_leaves():
    X, Y, full = rows()
    model = HierarchicalMultilabel(PARENTS, random_state=0)
    for given in (Y, full):
        search = GridSearchCV(model, {"lam": [0.01, 30.0]}, cv=3).fit(X, given)
        assert search.best_params_ == {"lam": 0.01}
        assert search.best_score_ > 0.6
    by_leaves, by_all = (cross_val_score(model, X, given, cv=3) for given in (Y, full))
    np.testing.assert_array_equal(by_leaves, by_all)


def test_wrong_targets_of_scores():
    X, Y, _ = rows()
    model = MultilabelPairwise(random_state=0).fit(X, pd.DataFrame(Y, columns=list("abcd")))
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


# ---- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_columns_name_the_labels(name):
    X, _, full = frames()
    model = clone(MODELS[name]).fit(X, full)
    plain = clone(MODELS[name]).fit(X, full.to_numpy())
    assert model.classes_.tolist() == ["root", "a", "b", "a/1"]
    assert plain.classes_.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    predicted = model.predict(X)
    pd.testing.assert_index_equal(predicted.index, X.index)
    pd.testing.assert_index_equal(predicted.columns, full.columns)
    np.testing.assert_array_equal(predicted, plain.predict(X))
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(model)).predict(X), predicted)
    assert isinstance(plain.predict(X), np.ndarray)
    weights = model.weights_frame(top=2)
    assert set(weights["label"]) <= set(full.columns)
    if name != "hierarchy":
        assert set(weights.loc[weights["kind"] == "pair", "to_label"]) <= set(full.columns)
    # what names nothing else stays as it is
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.score(X, full) == model.score(X, full.to_numpy()) == plain.score(X, full)


def test_rows_without_an_index():
    X, _, full = frames()
    predicted = MultilabelPairwise(random_state=0).fit(X.to_numpy(), full).predict(X.to_numpy())
    pd.testing.assert_index_equal(predicted.index, pd.RangeIndex(60))


@pytest.mark.parametrize(
    "names", [[3, 1, 2, 0], ["a", 1, None, 2.5], [(0, 1), (0, 2), (1, 1), (1, 2)]]
)
def test_names_of_any_type(names):
    X, _, full = frames(names)
    model = MultilabelPairwise(random_state=0).fit(X, full)
    assert model.classes_.tolist() == names
    assert model.predict(X).columns.tolist() == names
    assert model.score(X, full) > 0.5


def test_a_name_that_is_there_twice():
    X, _, full = frames(["a", "b", "a", "c"])
    model = MultilabelPairwise()
    with pytest.raises(ValueError, match="^y has two columns named 'a'"):
        model.fit(X, full)
    assert not hasattr(model, "classes_")


def test_tools_take_frames():
    X, _, full = frames()
    model, folds = clone(MODELS["pairs"]), KFold(3)
    predicted = cross_val_predict(model, X, full, cv=folds)
    assert predicted.shape == (60, 4)
    scores = cross_val_score(model, X, full, cv=folds)
    assert scores.mean() == pytest.approx(accuracy_score(full, predicted))
    for scoring in ("f1_micro", "roc_auc", lambda m, X, y: -hamming_loss(y, m.predict(X))):
        search, plain = (
            GridSearchCV(model, {"lam": [0.01, 1.0]}, cv=folds, scoring=scoring).fit(*data)
            for data in ((X, full), (X.to_numpy(), full.to_numpy()))
        )
        assert search.best_score_ == plain.best_score_
        pd.testing.assert_index_equal(search.predict(X).columns, full.columns)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, full)
    assert f1_score(full, pipeline.predict(X), average="micro") > 0.8
    for tool in (RegularizationPath(model, cv=3), EarlyStopping(model, random_state=0)):
        predicted = tool.fit(X, full).predict(X)
        pd.testing.assert_index_equal(predicted.columns, full.columns)
        assert tool.classes_.tolist() == full.columns.tolist()
        assert tool.score(X, full) > 0.5


def test_a_warm_start_is_told_of_other_names():
    X, _, full = frames()
    model = MultilabelPairwise(warm_start=True, random_state=0).fit(X, full)
    assert model.fit(X, full).n_iter_ == 0
    with pytest.raises(ValueError, match="the classes changed from .'root', 'a'.* to .'a/1', 'b'"):
        model.fit(X, full[full.columns[::-1]])


# ---- priors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_priors_are_aligned_by_names(name):
    X, _, full = frames()
    source = clone(MODELS[name]).fit(X, full)
    order = [2, 0, 3, 1]
    other = clone(MODELS[name]).set_params(prior=source, lam=1e9)
    if name == "hierarchy":
        other.set_params(hierarchy=[[0, 1], [3, 1], [2, 3]])
    other.fit(X, full.iloc[:, order])
    np.testing.assert_allclose(other.coef_, source.coef_[order], atol=1e-6)
    np.testing.assert_allclose(other.intercept_, source.intercept_[order], atol=1e-6)
    if name == "pairs":
        weights = dict(zip(map(frozenset, named_edges(source)), source.pairwise_, strict=True))
        for pair, weight in zip(named_edges(other), other.pairwise_, strict=True):
            assert weight == pytest.approx(weights[frozenset(pair)], abs=1e-6)


def named_edges(model):
    return [tuple(model.classes_[pair]) for pair in model.edges_]


@pytest.mark.parametrize("named", ["source", "target"])
def test_a_prior_without_names_is_aligned_by_place(named):
    X, _, full = frames()
    given = [full, full.to_numpy()]
    if named == "target":
        given = given[::-1]
    source = clone(MODELS["pairs"]).fit(X, given[0])
    model = clone(MODELS["pairs"]).set_params(prior=source, lam=1e9).fit(X, given[1])
    np.testing.assert_allclose(model.coef_, source.coef_, atol=1e-6)
    np.testing.assert_allclose(model.pairwise_, source.pairwise_, atol=1e-6)
    fewer = given[1].iloc[:, :3] if named == "target" else given[1][:, :3]
    with pytest.raises(ValueError, match=r"^prior\[.* must be numbers of shape"):
        clone(model).fit(X, fewer)


def test_a_prior_from_a_dict_names_pairs_by_its_classes():
    X, _, full = frames()
    prior = {
        "classes_": ["a/1", "root"],
        "coef_": np.ones((2, 5)),
        "edges_": [[0, 1]],
        "pairwise_": [2.0],
    }
    model = MultilabelPairwise(prior=prior, lam=1e9, random_state=0).fit(X, full)
    np.testing.assert_allclose(model.coef_.sum(axis=1), [5, 0, 0, 5], atol=1e-6)
    weights = dict(zip(map(frozenset, named_edges(model)), model.pairwise_, strict=True))
    assert weights[frozenset(["root", "a/1"])] == pytest.approx(2.0, abs=1e-6)
