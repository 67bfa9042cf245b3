"""Classes of several components: against enumeration, and what is refused."""

import itertools
import re

import numpy as np
import pytest
import scipy.sparse as sp

from sskit import StructSVMClassifier
from sskit.dask import Distributed
from sskit.solvers import BCFW, CuttingPlane, FrankWolfe, MultiPlane, Subgradient

RNG = np.random.default_rng(0)
N = 60
HIDDEN = RNG.integers(2, size=N)
CODES = RNG.integers(3, size=N)
X = RNG.normal(size=(3, 2, 4))[CODES, HIDDEN] + RNG.normal(scale=0.6, size=(N, 4))
Y = np.array(["a", "b", "c"])[CODES]


def make(**given):
    return StructSVMClassifier(
        **{"lam": 0.05, "n_components": 2, "random_state": 0, "standardize": False} | given
    )


def objective(model, X, y, weight=None):
    """P(w) by enumeration of components."""
    labels = model.component_labels_
    scores = X @ model.coef_.T + model.intercept_
    hinges = [
        max(s + (k != truth) for s, k in zip(row, labels, strict=True)) - max(row[labels == truth])
        for row, truth in zip(scores, y, strict=True)
    ]
    squares = (model.coef_**2).sum() + (model.intercept_**2).sum()
    return model.lam_ / 2 * squares + np.average(hinges, weights=weight)


@pytest.mark.parametrize("n_components", [2, {"a": 3, "c": 2}])
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_is_that_of_enumeration_and_never_rises(n_components, weighted):
    weight = np.arange(N) % 3 + 0.5 if weighted else None
    model = make(n_components=n_components, tol=1e-3).fit(X, Y, sample_weight=weight)
    rounds = model.round_objectives_
    # where the clusters of three components begin depends on the version of k-means
    assert len(rounds) == model.n_rounds_ >= (2 if n_components == 2 else 1)
    assert (np.diff(rounds) <= 0).all()
    assert rounds[-1] == pytest.approx(objective(model, X, Y, weight), rel=1e-9)
    assert model.certified_
    assert model.stationary_ == (rounds[-1] == pytest.approx(model.primal_objective_, rel=1e-12))
    assert model.primal_objective_ - model.dual_objective_ == pytest.approx(model.dual_gap_)


def test_the_best_of_all_completions_is_near():
    rows = np.r_[X[CODES == 0][:3], X[CODES == 1][:3]]
    y = np.repeat([0, 1], 3)
    given = {"lam": 0.1, "tol": 1e-4}
    best = min(
        StructSVMClassifier(solver="bcfw", **given)
        .fit(rows, [*first, *(2 + np.array(second))])
        .primal_objective_
        for first, second in itertools.product(itertools.product((0, 1), repeat=3), repeat=2)
        if len({*first}) == len({*second}) == 2
    )
    # with a loss between components too the optimum is no lower than without
    model = make(n_init=10, **given).fit(rows, y)
    assert model.round_objectives_[-1] <= best + 1e-9


def test_attributes_and_predictions():
    model = make(n_components={"a": 2, "b": 1, "c": 3}, n_init=2).fit(X, Y)
    assert model.component_labels_.tolist() == list("aabccc")
    assert model.coef_.shape == (6, 4) and model.intercept_.shape == (6,)
    assert model.classes_.tolist() == list("abc")
    scores = X @ model.coef_.T + model.intercept_
    best = np.stack([scores[:, :2].max(1), scores[:, 2], scores[:, 3:].max(1)], axis=1)
    np.testing.assert_allclose(model.decision_function(X), best)
    np.testing.assert_array_equal(model.predict(X), model.classes_[best.argmax(1)])
    components = model.predict_component(X)
    np.testing.assert_array_equal(components, scores.argmax(1))
    np.testing.assert_array_equal(model.component_labels_[components], model.predict(X))
    assert set(model.history_["start"]) == {1, 2}
    names = ["a/0", "a/1", "b/0", "c/0", "c/1", "c/2"]
    assert sorted(set(np.asarray(model.weights_frame(top=2)["label"]))) == names


def test_two_classes_have_one_score():
    two = np.isin(Y, ["a", "b"])
    model = make().fit(X[two], Y[two])
    scores = X[two] @ model.coef_.T + model.intercept_
    margin = scores[:, 2:].max(1) - scores[:, :2].max(1)
    np.testing.assert_allclose(model.decision_function(X[two]), margin)
    assert (model.predict(X[two]) == np.where(margin > 0, "b", "a")).all()
    labels = model.component_labels_[model.predict_component(X[two])]
    np.testing.assert_array_equal(labels, model.predict(X[two]))


@pytest.mark.parametrize("n_components", [1, {"a": 1}, {}])
def test_one_component_is_what_it_was(n_components):
    for rows in (Y == Y, Y != "c"):
        one = StructSVMClassifier(random_state=0, standardize=False).fit(X[rows], Y[rows])
        other = make(lam=None, n_components=n_components, n_init=4).fit(X[rows], Y[rows])
        assert one.coef_.tobytes() == other.coef_.tobytes()
        assert vars(one).keys() == vars(other).keys()
        labels = other.classes_[other.predict_component(X[rows])]
        np.testing.assert_array_equal(other.predict(X[rows]), labels)


def test_several_starts_are_never_worse_and_sparse_rows_are_the_same():
    found = [make(n_init=n).fit(X, Y).round_objectives_[-1] for n in (1, 3, 6)]
    assert found == sorted(found, reverse=True)
    dense, sparse = make().fit(X, Y), make().fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-8)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), dense.predict(X))


def test_all_solvers():
    for solver in (
        BCFW(steps="fw"), BCFW(cache=True), MultiPlane(), FrankWolfe(), CuttingPlane(),
        Subgradient(),
    ):  # fmt: skip
        model = make(solver=solver, tol=0.05, max_iter=3000).fit(X, Y)
        assert (np.diff(model.round_objectives_) <= 0).all()
        assert model.round_objectives_[-1] == pytest.approx(objective(model, X, Y), rel=1e-9)


def test_bounds_priors_jobs_weights_of_classes_and_no_constant():
    model = make(bounds={"coef": (0.0, None)}).fit(X, Y)
    assert (model.coef_ >= 0.0).all()
    prior = np.ones(6 * 5)
    near = make(prior=prior, lam=100.0).fit(X, Y)
    np.testing.assert_allclose(near.coef_, 1.0, atol=0.05)
    threads = make(n_jobs=2, class_weight="balanced").fit(X, Y)
    weight = (len(Y) / 3 / np.bincount(CODES))[CODES]
    assert threads.round_objectives_[-1] == pytest.approx(objective(threads, X, Y, weight))
    plain = make(fit_intercept=False).fit(X, Y)
    np.testing.assert_array_equal(plain.intercept_, np.zeros(6))
    assert plain.decision_function(X).shape == (N, 3)


def test_what_is_refused_leaves_the_estimator_as_it_was():
    for given, message in (
        ({"rescaling": "slack"}, "n_components=2 cannot be combined with rescaling='slack'"),
        ({"kernel": "rbf"}, "n_components=2 cannot be combined with kernel='rbf'"),
        ({"n_components": {"a": 0}}, "n_components['a'] is 0, expected a positive"),
        ({"n_components": {"a": True}}, "n_components['a'] is True, expected a positive"),
        ({"n_components": 61}, "n_components is 61, but y has 60 rows only"),
        ({"prior": StructSVMClassifier(random_state=0).fit(X, Y)},
         "cannot be combined with a fitted estimator as prior"),
        ({"n_components": 0}, "The 'n_components' parameter"),
        ({"n_init": 0}, "The 'n_init' parameter"),
    ):  # fmt: skip
        model = make(**given)
        before = set(vars(model))
        with pytest.raises(ValueError, match=re.escape(message)):
            model.fit(X, Y)
        assert set(vars(model)) == before
    with pytest.raises(ValueError, match="data in parts cannot be combined with n_components=2"):
        Distributed(make()).fit([X[:30], X[30:]], [Y[:30], Y[30:]])


def test_damaged_attributes():
    for name, value in {
        "component_labels_": np.array(["a", "a", "b", "b", "c", "a"]),
        "coef_": np.zeros((5, 4)),
        "intercept_": np.zeros(3),
        "classes_": np.array(["a", "b"]),
    }.items():
        model = make().fit(X, Y)
        setattr(model, name, value)
        for method in (model.predict, model.decision_function, model.predict_component):
            with pytest.raises(ValueError, match="is not as it was fitted"):
                method(X)


RNG = np.random.default_rng(0)
