"""Estimators by exponentiated gradient steps: the optimum of L-BFGS, weights, warm starts."""

import pickle
import warnings
from unittest import mock

import numpy as np
import pytest
from helpers.fits import segments
from helpers.labellings import all_weights
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from sskit import (
    CalibratedTagger,
    EarlyStopping,
    RegularizationPath,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.datasets import make_digit_strings
from sskit.solvers import LBFGS, ExponentiatedGradient

TAGS = np.array(["a", "b", "c"])
PARENTS = [[-1], [-1, 0], [-1, 0, 0], [-1, 0, 1, -1]]
ALLOWED = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)


def sequences(n=12, seed=0):
    rng = np.random.default_rng(seed)
    y = [TAGS[rng.integers(3, size=1 + i % 4)] for i in range(n)]
    return [1.0 * (t[:, None] == TAGS) + rng.normal(size=(len(t), 3)) for t in y], y


def edged(X):
    return [(x, np.column_stack([np.diff(x[:, 0]), np.ones(len(x) - 1)])) for x in X]


def data(name):
    X, y = sequences()
    if name == "edges":
        return edged(X), y
    if name == "trees":
        return [(x, PARENTS[len(x) - 1]) for x in X], y
    if name == "rules":
        walks = [["a", "b", "c", "a"][: len(t)] for t in y]
        return X, walks
    if name == "rows":
        return np.concatenate(X), np.concatenate(y)
    return X, y


CASES = {
    "sequences": SequenceTagger(),
    "rules": SequenceTagger(allowed_transitions=ALLOWED),
    "edges": SequenceTagger(),
    "trees": TreeTagger(),
    "rows": StructSVMClassifier(),
}


def make(name="sequences", **params):
    params = {"surrogate": "log", "lam": 0.05, "tol": 1e-6, "random_state": 0} | params
    params = {"solver": "exponentiated_gradient", "max_iter": 5000} | params
    return clone(CASES[name]).set_params(**params), *data(name)


@pytest.mark.parametrize("name", CASES)
def test_the_objective_is_that_of_the_other_solver(name):
    model, X, y = make(name)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    model.fit(X, y, sample_weight=weight)
    other = clone(model).set_params(solver="lbfgs", tol=1e-9).fit(X, y, sample_weight=weight)
    assert model.certified_ and type(model.solver_) is ExponentiatedGradient
    assert model.primal_objective_ == pytest.approx(other.primal_objective_, rel=3e-6)
    assert model.dual_objective_ <= other.primal_objective_ * (1 + 1e-9)
    assert model.dual_gap_ <= 1.01e-6 * (model.primal_objective_ + 0.01)
    again = clone(model).fit(X, y, sample_weight=weight)
    assert (all_weights(again) == all_weights(model)).all()
    copied = pickle.loads(pickle.dumps(model))
    assert (all_weights(copied) == all_weights(model)).all()


def test_weights_are_repetitions_and_zeros_leave_out():
    model, X, y = make(tol=1e-7)
    times = np.arange(len(X)) % 3
    weighted = clone(model).fit(X, y, sample_weight=times)
    numbers = np.repeat(np.arange(len(X)), times)
    repeated = clone(model).fit([X[i] for i in numbers], [y[i] for i in numbers])
    np.testing.assert_allclose(all_weights(weighted), all_weights(repeated), atol=5e-3)
    assert weighted.primal_objective_ == pytest.approx(repeated.primal_objective_, rel=1e-6)


def test_what_is_around_takes_it():
    model, X, y = make(warm_start=True, tol=1e-4)
    n_iter = model.fit(X, y).n_iter_
    restored = pickle.loads(pickle.dumps(model))
    assert restored.fit(X, y).n_iter_ == 0 < n_iter
    further = model.set_params(lam=0.04).fit([*X, X[0]], [*y, y[0]])
    assert further.certified_ and further.n_iter_ < n_iter
    # another solver goes on from the weights
    switched = restored.set_params(solver="lbfgs", tol=0.01).fit(X, y)
    assert switched.n_iter_ == 0 and type(switched.solver_) is LBFGS
    near = SequenceTagger(surrogate="log", prior=further, lam=1e4, tol=1e-3)
    near.set_params(solver="exponentiated_gradient", random_state=0).fit(X, y)
    np.testing.assert_allclose(near.coef_, further.coef_, atol=1e-3)
    model = make(tol=0.02)[0]
    stopping = EarlyStopping(model, validation_fraction=0.3, random_state=0).fit(X, y)
    assert stopping.score(X, y) > 0.3
    chosen = RegularizationPath(clone(model).set_params(lam=None), cv=2).fit(X, y)
    assert chosen.score(X, y) > 0.3
    steps = clone(model).partial_fit(X[:6], y[:6], classes=TAGS)
    assert steps.partial_fit(X[6:], y[6:]).certified_


@pytest.mark.parametrize("name", CASES)
def test_bounds_are_kept_and_loose_ones_change_nothing(name):
    model, X, y = make(name, solver="auto", prior=None, tol=1e-5)
    free = clone(model).set_params(solver="exponentiated_gradient").fit(X, y)
    side = np.quantile(np.abs(all_weights(free)), 0.6)
    bounded = clone(model).set_params(bounds=(-side, 0.5 * side)).fit(X, y)
    assert type(bounded.solver_) is ExponentiatedGradient and bounded.certified_
    inside = all_weights(bounded)
    assert inside.min() == pytest.approx(-side) and inside.max() == pytest.approx(0.5 * side)
    assert bounded.dual_objective_ > free.primal_objective_
    loose = clone(model).set_params(bounds=(-1e9, 1e9)).fit(X, y)
    assert loose.primal_objective_ == pytest.approx(free.primal_objective_, rel=2e-5)
    steps = bounded.partial_fit(X, y)
    assert np.abs(all_weights(steps)).max() <= side * (1 + 1e-12)


@pytest.mark.parametrize("name", ["sequences", "rows"])
def test_a_kernel_is_the_inner_product_of_features(name):
    model, X, y = make(name, solver="auto", kernel="rbf", gamma=0.3, tol=1e-5, warm_start=True)
    rows = np.concatenate(X) if name == "sequences" else X
    features = np.linalg.cholesky(rbf_kernel(rows, gamma=0.3) + 1e-12 * np.eye(len(rows)))
    params = {"kernel": "linear", "solver": "lbfgs", "tol": 1e-9}
    if name == "sequences":
        features = np.split(features, np.cumsum([len(x) for x in X])[:-1])
    else:
        params["standardize"] = False
    weight = np.arange(len(X)) % 3
    linear = clone(model).set_params(**params).fit(features, y, sample_weight=weight)
    model.fit(X, y, sample_weight=weight)
    assert type(model.solver_) is ExponentiatedGradient and model.certified_
    assert model.primal_objective_ == pytest.approx(linear.primal_objective_, rel=2e-5)
    assert model.dual_objective_ <= linear.primal_objective_
    shown, wanted = (
        CalibratedTagger(m, method="likelihood", cv="prefit").fit(Z, y).predict_proba(Z)
        if name == "sequences" else [m.predict_proba(Z)]
        for m, Z in ((model, X), (linear, features))
    )  # fmt: skip
    for p, q in zip(shown, wanted, strict=True):
        np.testing.assert_allclose(p, q, atol=0.02)
    restored = pickle.loads(pickle.dumps(model))
    assert restored.fit(X, y, sample_weight=weight).n_iter_ == 0


@pytest.mark.parametrize(
    ("params", "name", "cure"),
    [
        ({"bounds": (-1, 1)}, "bounds and surrogate='log'", "not keep weights within bounds"),
        ({"kernel": "rbf"}, "a kernel and surrogate='log'", "of weights, not of functions"),
    ],
)
def test_what_dual_steps_alone_can_do_excludes_is_named(params, name, cure):
    model, X, y = make(solver="auto", **params)
    cases = [
        ({"order": 2}, y, f"({name}|kernel.*) cannot be combined with order=2"),
        ({"n_states_per_label": 2}, y, "cannot be combined with (n_states_per_label=2|kernel)"),
        ({"ignore_label": "?"}, [["?", *y[0][1:]], *y[1:]], f"{name} .* with y.* no known label"),
        ({"solver": "lbfgs"}, y, f"{cure}; use 'auto'"),
    ]
    for further, labels, message in cases:
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(**further).fit(X, labels)
    with pytest.raises(ValueError, match="cannot be combined with a path: not yet"):
        RegularizationPath(clone(model).set_params(lam=None), lam_min=0.1).fit(X, y)


def test_what_it_does_not_take_is_named():
    model, X, y = make()
    with pytest.raises(ValueError, match=r"order=2 .*triples of labels .*'lbfgs'"):
        clone(model).set_params(order=2).fit(X, y)
    unknown = [["?", *y[0][1:]], *y[1:]]
    with pytest.raises(ValueError, match=r"no known label.* not convex; use 'lbfgs'"):
        clone(model).set_params(ignore_label="?").fit(X, unknown)
    with pytest.raises(ValueError, match=r"a path cannot be combined .*'lbfgs'"):
        RegularizationPath(clone(model).set_params(lam=None), lam_min=0.1).fit(X, y)
    tagger = SegmentTagger(surrogate="log", solver="exponentiated_gradient")
    with pytest.raises(ValueError, match=r"a segmentation cannot be combined .*'lbfgs'"):
        tagger.fit(*segments())
    with pytest.raises(ValueError, match=r"surrogate='log'; use 'bcfw'"):
        clone(model).set_params(surrogate="hinge").fit(X, y)
    with pytest.raises(ValueError, match="max_memory=0.001; raise that or use LBFGS"):
        clone(model).set_params(solver=ExponentiatedGradient(max_memory=0.001)).fit(X, y)
    with pytest.raises(ValueError, match="max_memory.* must be"):
        clone(model).set_params(solver=ExponentiatedGradient(max_memory=0)).fit(X, y)


def chosen(tagger, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return type(tagger.fit(X, y).solver_)


def test_auto_takes_dual_steps_where_they_are_faster():
    X, y = make_digit_strings(12, random_state=0)
    tagger = SequenceTagger(surrogate="log", random_state=0, max_iter=3)
    assert chosen(tagger, X, y) is ExponentiatedGradient
    lam = tagger.lam_
    for params, labels in [
        ({"lam": 0.4 * lam}, y),
        ({"tol": 1e-5}, y),
        ({"order": 2}, y),
        ({"solver": "lbfgs"}, y),
        ({"ignore_label": -1}, [[-1, *labels[1:]] for labels in y]),
        ({"n_states_per_label": 2}, y),
    ]:
        assert chosen(clone(tagger).set_params(**params), X, labels) is LBFGS
    assert chosen(clone(tagger).set_params(lam=0.6 * lam), X, y) is ExponentiatedGradient
    with mock.patch.object(ExponentiatedGradient, "_fits", lambda *_: False):
        assert chosen(clone(tagger), X, y) is LBFGS
    rows = StructSVMClassifier(surrogate="log", max_iter=3)
    assert chosen(rows, np.concatenate(X), np.concatenate(y)) is LBFGS
    spans = [["B-A"] * len(labels) for labels in y]
    assert chosen(SegmentTagger(surrogate="log", max_iter=3), X, spans) is LBFGS
