"""MultivariateClassifier: rows classified for a measure of the whole set."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.rankings import everything
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import average_precision_score, f1_score, fbeta_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.svm import LinearSVC

from sskit import EarlyStopping, MultivariateClassifier, RankingSVM, RegularizationPath
from sskit.dask import Distributed
from sskit.solvers import BCFW, CuttingPlane

LOSSES = ["f1", "f_beta", "precision_at_k", "roc_area", "average_precision"]
RANKINGS = LOSSES[2:]


def data(n=80, p=4, share=0.25, seed=0, distance=1.0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    y[:2] = 0, 1
    return rng.normal(size=(n, p)) + distance * y[:, None] * [1.0, 0.5, 0.0, 0.0][:p], y


def objective(model, X, y, loss, lam, **options):
    """P(w) of one set by enumeration."""
    scores = X @ model.coef_[0]
    w2 = np.sum(model.coef_**2)
    if loss in ("f1", "f_beta") and model.fit_intercept:
        scores, w2 = scores + model.intercept_, w2 + model.intercept_[0] ** 2
    found = everything(y, loss, **options)
    return lam / 2 * w2 + max(lost - coef @ scores for coef, lost in found)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_objective_and_optimum_by_enumeration(loss, fit_intercept):
    X, y = data(7, 3, seed=1)
    model = MultivariateClassifier(loss, 0.1, fit_intercept=fit_intercept, tol=1e-4).fit(X, y)
    value = objective(model, X, y, loss, 0.1)
    assert model.primal_objective_ == pytest.approx(value, rel=1e-9)
    assert model.certified_
    assert model.dual_gap_ <= 1e-4 * (value + 1e-3)
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = clone(model)
        other.coef_ = model.coef_ + 0.1 * rng.normal(size=(1, 3))
        other.intercept_ = model.intercept_
        assert objective(other, X, y, loss, 0.1) >= model.dual_objective_


@pytest.mark.parametrize("loss", LOSSES)
def test_solvers_agree(loss):
    X, y = data()
    models = [
        MultivariateClassifier(loss, solver=solver, tol=1e-3, max_iter=5000, random_state=0)
        for solver in ("auto", "bcfw", "mpbcfw", BCFW(steps="away"), CuttingPlane(damping=0.0))
    ]
    models = [model.fit(X, y) for model in models]
    assert max(m.dual_objective_ for m in models) <= min(m.primal_objective_ for m in models) + 1e-9
    assert isinstance(models[0].solver_, CuttingPlane)


@pytest.mark.parametrize("loss", LOSSES)
def test_score_is_the_measure(loss):
    X, y = data()
    names = np.array(["no", "yes"])[y]
    model = MultivariateClassifier(loss, beta=2.0 if loss == "f_beta" else 1.0).fit(X, names)
    scores, labels = model.decision_function(X), model.predict(X) == "yes"
    assert ((scores > 0) == labels).all()
    k = y.sum()
    expected = {
        "f1": f1_score(y, labels),
        "f_beta": fbeta_score(y, labels, beta=2.0),
        "precision_at_k": y[np.argsort(-scores)[:k]].mean(),
        "roc_area": roc_auc_score(y, scores),
        "average_precision": average_precision_score(y, scores),
    }
    assert model.score(X, names) == pytest.approx(expected[loss])
    if loss in RANKINGS:
        assert labels.sum() == k


@pytest.mark.parametrize(("k", "places"), [(5, 5), (0.1, 8), (500, 80)])
def test_places_at_the_top(k, places):
    X, y = data(distance=4.0)
    model = MultivariateClassifier("precision_at_k", k=k).fit(X, y)
    assert model.predict(X).sum() == places
    top = np.argsort(-model.decision_function(X), kind="stable")[:places]
    assert model.score(X, y) == pytest.approx(y[top].mean())


def test_trained_measures_are_better_than_thresholds_of_another():
    rng = np.random.default_rng(3)
    y = (rng.random(1000) < 0.07).astype(int)
    X = rng.normal(size=(1000, 5)) + 1.2 * y[:, None]
    balanced = LinearSVC(class_weight="balanced").fit(X, y)
    model = MultivariateClassifier().fit(X, y)
    assert model.score(X, y) > f1_score(y, balanced.predict(X)) + 0.05


def test_f1_collapses_where_a_class_is_hard_to_find_and_balance_helps():
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.06).astype(int)
    X = rng.normal(size=(600, 4)) + 0.7 * y[:, None]
    plain, other = (MultivariateClassifier(balance=b).fit(X, y) for b in (0.0, 0.5))
    assert plain.score(X, y) == 0.0
    assert other.score(X, y) > 0.12


@pytest.mark.parametrize("loss", LOSSES)
def test_groups(loss):
    X, y = data(90)
    groups = np.arange(90) % 6  # of rows that do not follow each other
    options = {"tol": 1e-4, "random_state": 0, "max_iter": 5000}
    model = MultivariateClassifier(loss, 0.05, **options).fit(X, y, groups)
    order = np.argsort(groups, kind="stable")
    names = np.array([f"query {g}" for g in groups])
    other = MultivariateClassifier(loss, 0.05, **options).fit(X[order], y[order], names[order])
    np.testing.assert_allclose(model.coef_, other.coef_)
    alone = [model.score(X[groups == g], y[groups == g]) for g in range(6)]
    assert model.score(X, y, groups) == pytest.approx(np.mean(alone))
    # P(w) is the mean over the groups
    one = [
        MultivariateClassifier(loss, 0.05, **options, prior=model.coef_.ravel())
        .set_params(prior=None)
        .fit(X[groups == g], y[groups == g])
        .primal_objective_
        for g in range(6)
    ]
    assert np.mean(one) <= model.primal_objective_ + 1e-9


def test_weights_of_groups_are_copies():
    X, y = data(60)
    groups, weights = np.arange(60) % 4, np.array([1.0, 2.0, 0.0, 3.0])
    options = {"tol": 1e-5, "random_state": 0, "max_iter": 10_000}
    model = MultivariateClassifier("roc_area", **options).fit(X, y, groups, weights[groups])
    parts = [
        (X[groups == g], y[groups == g], np.full(15, 10 * g + copy))
        for g in range(4)
        for copy in range(int(weights[g]))
    ]
    copies = MultivariateClassifier("roc_area", **options).fit(*map(np.concatenate, zip(*parts)))  # noqa: B905
    assert model.lam_ == pytest.approx(copies.lam_)
    assert model.primal_objective_ == pytest.approx(copies.primal_objective_, rel=1e-4)
    np.testing.assert_allclose(model.coef_, copies.coef_, atol=0.02)
    score = model.score(X, y, groups, weights[groups])
    assert score == pytest.approx(copies.score(*map(np.concatenate, zip(*parts))))  # noqa: B905


def test_a_group_without_pairs_says_nothing():
    X, y = data(40)
    groups = np.repeat([0, 1, 2], [20, 19, 1])
    y[20:39] = 0
    model = MultivariateClassifier("average_precision", 0.1).fit(X, y, groups)
    assert model.score(X, y, groups) == model.score(X[:20], y[:20])
    assert model.score(X[20:39], y[20:39]) == 0.0


@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, np.asfortranarray, np.float32])
def test_forms_of_rows(form):
    X, y = data()
    X = np.round(X, 1).astype(np.float32).astype(float)
    groups = np.arange(80) % 3
    one, other = (
        MultivariateClassifier("roc_area", 0.1, tol=1e-4).fit(x, y, groups) for x in (X, form(X))
    )
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-3)
    np.testing.assert_allclose(one.decision_function(X), one.decision_function(form(X)), atol=1e-6)


def test_frames_and_names():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = MultivariateClassifier().fit(frame, y, groups=pd.Series(np.arange(80) // 40))
    assert model.feature_names_in_.tolist() == list("abcd")
    assert set(model.weights_frame()["feature"].dropna()) <= set("abcd")
    moved = MultivariateClassifier(prior=model, lam=1e6).fit(frame[["d", "a", "b", "c"]], y)
    np.testing.assert_allclose(moved.coef_, model.coef_[:, [3, 0, 1, 2]], atol=1e-3)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])


def test_bounds_and_prior():
    X, y = data()
    box = {"coef": (0.0, 0.4)}
    for solver in ("auto", "bcfw"):
        model = MultivariateClassifier("roc_area", bounds=box, solver=solver, random_state=0).fit(
            X, y
        )
        assert (model.coef_ >= 0).all() and (model.coef_ <= 0.4).all() and model.certified_
    near = MultivariateClassifier("roc_area", 1e6, prior={"coef_": [[1.0, 2.0, 3.0, 4.0]]})
    np.testing.assert_allclose(near.fit(X, y).coef_, [[1.0, 2.0, 3.0, 4.0]], atol=1e-4)


@pytest.mark.parametrize("loss", ["f1", "average_precision"])
def test_slack_rescaling_is_a_search(loss):
    X, y = data()
    model = MultivariateClassifier(loss, 0.1, rescaling="slack", max_iter=100).fit(X, y)
    assert model.score(X, y) > 0.3
    assert model.dual_gap_ >= model.history_["inexactness"][-1] >= 0


def test_warm_start():
    X, y = data(120)
    groups = np.arange(120) // 10
    model = MultivariateClassifier("roc_area", 0.05, warm_start=True, random_state=0, tol=1e-3)
    passes = model.fit(X[:100], y[:100], groups[:100]).n_iter_
    assert passes > 1
    again = model.fit(X[:100], y[:100], groups[:100])
    assert again.n_iter_ <= 2
    assert model.fit(X, y, groups).certified_
    with pytest.raises(ValueError, match="loss changed"):
        model.set_params(loss="average_precision").fit(X, y, groups)
    with pytest.raises(ValueError, match="cannot be combined"):
        model.set_params(solver="cutting_plane").fit(X, y, groups)


def test_path_and_early_stopping():
    X, y = data()
    path = RegularizationPath(MultivariateClassifier("roc_area"), eps=0.3, lam_min=0.05).fit(X, y)
    assert path.estimator_at(0.1).score(X, y) > 0.6
    stopped = EarlyStopping(MultivariateClassifier("roc_area"), random_state=0).fit(X, y)
    assert stopped.score(X, y) > 0.6


def test_data_in_parts_are_refused():
    X, y = data()
    model = Distributed(MultivariateClassifier())
    with pytest.raises(ValueError, match="nothing says that a set lies within one"):
        model.fit([X[:40], X[40:]], [y[:40], y[40:]])


def test_searches_with_groups():
    X, y = data(90)
    groups = np.arange(90) // 9
    with config_context(enable_metadata_routing=True):
        model = MultivariateClassifier("roc_area").set_fit_request(groups=True)
        model.set_score_request(groups=True)
        search = GridSearchCV(model, {"lam": [0.1, 0.01]}, cv=GroupKFold(3), n_jobs=2)
        search.fit(X, y, groups=groups)
        assert search.best_score_ > 0.6
    assert cross_val_score(MultivariateClassifier(), X, y, scoring="f1", cv=3).mean() > 0.1


def test_pickle_and_nothing_is_modified():
    X, y = data()
    groups = np.arange(80) % 4
    given = [X.copy(), y.copy(), groups.copy()]
    for array in given:
        array.setflags(write=False)
    model = MultivariateClassifier("average_precision").fit(*given)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert "MultivariateClassifier" in model._repr_html_()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "accuracy"}, "loss"),
        ({"beta": 2.0}, "beta=2.0 is of no use with loss='f1'"),
        ({"loss": "f_beta", "beta": 0.0}, "beta"),
        ({"k": 3}, "k=3 is of no use with loss='f1'"),
        ({"loss": "precision_at_k", "k": 0}, "k"),
        ({"loss": "precision_at_k", "k": 1.0}, "k"),
        ({"loss": "roc_area", "balance": 0.0}, "balance=0.0 is of no use"),
        ({"solver": "gdmm"}, "needs a model that is a sum over nodes and edges"),
    ],
)
def test_wrong_parameters(params, message):
    X, y = data()
    model = MultivariateClassifier(**params)
    before = vars(model).copy()
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"y": np.zeros(80)}, ValueError, "y must have 2 classes, got 1 class"),
        ({"y": np.arange(80) % 3}, ValueError, "Only binary classification is supported"),
        ({"y": [0.0] * 79 + [np.nan]}, ValueError, r"y\[79\] is nan"),
        ({"groups": np.zeros(79)}, ValueError, r"groups.shape == \(79,\), expected \(80,\)"),
        ({"groups": np.zeros((80, 1))}, ValueError, "groups.shape"),
        ({"groups": [0.0, np.nan] * 40}, ValueError, r"groups\[1\] is nan"),
        ({"groups": np.array([0, "a"] * 40, dtype=object)}, TypeError, r"groups\[1\]"),
        ({"groups": [None] * 80}, ValueError, r"groups\[0\]"),
        (
            {"sample_weight": np.arange(80.0)}, ValueError,
            r"sample_weight\[1\] is 1.0 but sample_weight\[0\] is 0.0: a loss of a set of rows",
        ),
        (
            {"groups": np.arange(80) % 2, "sample_weight": [1.0, 2.0, 1.0, 3.0] * 20}, ValueError,
            r"sample_weight\[3\] is 3.0 but sample_weight\[1\] is 2.0",
        ),
        ({"sample_weight": np.zeros(80)}, ValueError, "sample_weight is zero for all"),
        ({"X": np.full((80, 4), 1e200)}, ValueError, r"X\[0\]"),
        ({"X": np.full((80, 4), np.inf)}, ValueError, r"X\[0\]"),
    ],
)  # fmt: skip
def test_bad_data(changed, error, message):
    X, y = data()
    model = MultivariateClassifier("roc_area").fit(X, y)
    before = pickle.dumps(model)
    with pytest.raises(error, match=message):
        model.fit(**{"X": X, "y": y} | changed)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coef_", np.zeros((1, 3))),
        ("coef_", "weights"),
        ("intercept_", np.zeros(2)),
        ("intercept_", np.array([np.nan])),
        ("classes_", np.array([1])),
        ("classes_", np.arange(4)),
        ("coef_", np.full((1, 4), np.inf)),
    ],
)
def test_damaged_attributes(name, value):
    X, y = data()
    model = MultivariateClassifier().fit(X, y)
    setattr(model, name, value)
    with pytest.raises(ValueError, match=f"{name}|overflows"):
        model.predict(X)


def test_a_score_needs_labels():
    X = np.random.default_rng(0).normal(size=(6, 2))
    y = np.arange(6) % 2
    with pytest.raises(ValueError, match="y must have the class of each row, got None"):
        MultivariateClassifier().fit(X, y).score(X, None)
    with pytest.raises(ValueError, match="y must have the grade of each row, got None"):
        RankingSVM().fit(X, y).score(X, None)
