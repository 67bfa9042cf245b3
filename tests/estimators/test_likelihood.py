"""Estimators that train by the likelihood: their objective, laws, what they refuse."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.fits import segments
from helpers.labellings import all_weights as weights
from helpers.objectives import log_loss_by_attributes
from helpers.pairwise import every_pair
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from sskit import (
    CalibratedTagger,
    EarlyStopping,
    RegularizationPath,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.core.regularizer import Regularizer
from sskit.dask import Distributed
from sskit.display import RegularizationPathDisplay

TAGS = np.array(["a", "b", "c"])
PARENTS = [[-1], [-1, 0], [-1, 0, 0], [-1, 0, 1, -1]]


def sequences(n=12, seed=0):
    rng = np.random.default_rng(seed)
    y = [TAGS[rng.integers(3, size=1 + i % 4)] for i in range(n)]
    return [1.0 * (t[:, None] == TAGS) + rng.normal(size=(len(t), 3)) for t in y], y


def edged(X):
    return [(x, np.column_stack([np.diff(x[:, 0]), np.ones(len(x) - 1)])) for x in X]


def trees(X):
    return [(x, PARENTS[len(x) - 1]) for x in X]


CASES = {
    "sequences": (SequenceTagger(), lambda X: X),
    "order 2": (SequenceTagger(order=2), lambda X: X),
    "edges": (SequenceTagger(), edged),
    "trees": (TreeTagger(), trees),
}


def make(name, **params):
    estimator, of = CASES[name]
    X, y = sequences()
    params = {"surrogate": "log", "lam": 0.1, "tol": 1e-8} | params
    return type(estimator)(**estimator.get_params() | params), of(X), y


@pytest.mark.parametrize("name", CASES)
def test_the_objective_is_that_of_the_enumeration(name):
    model, X, y = make(name)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    model.fit(X, y, sample_weight=weight)
    w, losses = weights(model), log_loss_by_attributes(model, X, y)
    objective = 0.05 * w @ w + weight @ losses / weight.sum()
    assert model.certified_ and model.primal_objective_ == pytest.approx(objective, abs=1e-10)
    assert 0 <= model.dual_gap_ <= 1e-8 * model.primal_objective_ * (1 + 1e-3) + 1e-8
    # nearby weights are no better than the certificate says
    for seed in range(3):
        other = model.__class__(**model.get_params())
        vars(other).update({k: v for k, v in vars(model).items() if k.endswith("_")})
        other.coef_ = model.coef_ + 1e-3 * np.random.default_rng(seed).normal(
            size=model.coef_.shape
        )
        value = 0.05 * weights(other) @ weights(other) + (
            weight @ log_loss_by_attributes(other, X, y) / weight.sum()
        )
        assert value >= model.dual_objective_
    field = CalibratedTagger(model, method="likelihood", cv="prefit").fit(X, y)
    np.testing.assert_allclose(-np.log(field.confidence(X, y)), losses, atol=1e-9)
    assert field.log_likelihood_ == pytest.approx(-losses.mean(), abs=1e-9)


@every_pair(name=CASES, n_jobs=[1, 2], form=["csr", "single"])
def test_other_forms_of_rows_have_the_same_optimum(name, n_jobs, form):
    model, X, y = make(name, n_jobs=n_jobs)
    first = weights(model.fit(X, y))
    if form == "csr":
        X = [(sp.csr_array(x[0]), x[1]) if isinstance(x, tuple) else sp.csr_array(x) for x in X]
    else:
        X = [(x[0].astype("f4"), x[1]) if isinstance(x, tuple) else x.astype("f4") for x in X]
    np.testing.assert_allclose(weights(model.fit(X, y)), first, rtol=1e-3, atol=1e-4)


def test_what_is_around_takes_it():
    X, y = sequences(40)
    tagger = SequenceTagger(surrogate="log")
    search = GridSearchCV(SequenceTagger(), {"surrogate": ["hinge", "log"]}, cv=2).fit(X, y)
    assert 0.3 < search.best_score_ <= 1
    path = RegularizationPath(tagger, cv=2).fit(X, y)
    field = CalibratedTagger(path, method="likelihood", cv="prefit").fit(X, y)
    assert field.predict(X)[0].shape == y[0].shape and field.log_likelihood_ < 0
    stopping = EarlyStopping(tagger, validation_fraction=0.3, random_state=0).fit(X, y)
    assert stopping.score(X, y) > 0.3
    steps = SequenceTagger(surrogate="log").partial_fit(X[:20], y[:20], classes=TAGS)
    assert steps.partial_fit(X[20:], y[20:]).certified_
    warm = SequenceTagger(surrogate="log", warm_start=True).fit(X, y)
    before = warm.n_iter_
    assert warm.set_params(tol=1e-6).fit(X, y).n_iter_ < before + 60 and warm.certified_
    with pytest.raises(ValueError, match="the surrogate"):
        warm.set_params(surrogate="hinge").fit(X, y)
    near = SequenceTagger(surrogate="log", prior=warm, lam=1e4, tol=1e-3).fit(X, y)
    np.testing.assert_allclose(near.coef_, warm.coef_, atol=1e-3)
    with pytest.warns(ConvergenceWarning, match="stopped after 2 passes with a relative duality"):
        SequenceTagger(surrogate="log", max_iter=2).fit(X, y)


def partly(y, seed=0):
    """Labels of which some are not known, or one of two, and the same as sets."""
    rng = np.random.default_rng(seed)
    known, sets = [], []
    for labels in y:
        kinds = rng.integers(3, size=len(labels))
        two = [{label, TAGS[rng.integers(3)]} for label in labels.tolist()]
        given = zip(labels.tolist(), two, kinds, strict=True)
        known.append([[label, pair, "?"][kind] for label, pair, kind in given])
        sets.append([{*TAGS} if label == "?" else label for label in known[-1]])
    return known, sets


@every_pair(name=CASES, n_jobs=[1, 2])
def test_labels_that_are_not_known_are_summed_over(name, n_jobs):
    model, X, y = make(name, n_jobs=n_jobs, ignore_label="?")
    known, sets = partly(y)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    model.fit(X, known, sample_weight=weight)
    w, losses = weights(model), log_loss_by_attributes(model, X, sets)
    objective = 0.05 * w @ w + weight @ losses / weight.sum()
    assert model.primal_objective_ == pytest.approx(objective, abs=1e-10)
    # not convex: the gradient is small, but no gap is a certificate
    assert not model.certified_ and model.dual_gap_ <= 1e-7 and not hasattr(model, "n_rounds_")
    problem = model._make_task(X, known, weight).problem
    loss, n = problem.log_loss(n_jobs), problem.n_weights
    padded, step = Regularizer(1.0, n).padded, 1e-5

    def value(u):
        gradient = np.zeros(len(padded(u)))
        return loss.evaluate(padded(u), gradient), gradient[:n]

    u = np.random.default_rng(2).normal(size=n)
    slope = [value(u + step * e)[0] - value(u - step * e)[0] for e in np.eye(n)]
    np.testing.assert_allclose(value(u)[1], np.array(slope) / (2 * step), atol=1e-8)
    assert not loss.convex
    # all known, written as sets, is the convex problem
    whole = clone(model).fit(X, [[{label} for label in labels] for labels in y])
    np.testing.assert_allclose(weights(whole), weights(clone(model).fit(X, y)), atol=1e-12)
    assert whole.certified_


def test_what_is_around_labels_that_are_not_known():
    X, y = sequences(40)
    known, _ = partly(y)
    tagger = SequenceTagger(surrogate="log", ignore_label="?")
    assert tagger.fit(X, known).score(X, y) > 0.6
    nothing = tagger.fit(X, [["?"] * len(labels) for labels in y[:-1]] + [list(y[-1])])
    assert np.isfinite(nothing.coef_).all()
    field = CalibratedTagger(tagger, method="likelihood").fit(X, known)
    assert field.predict_proba(X)[0].shape == (len(y[0]), 3)
    steps = SequenceTagger(surrogate="log", ignore_label="?")
    steps.partial_fit(X[:20], known[:20], classes=TAGS).partial_fit(X[20:], known[20:])
    assert steps.score(X, y) > 0.6
    warm = SequenceTagger(surrogate="log", ignore_label="?", warm_start=True).fit(X, known)
    n_iter = warm.n_iter_
    assert warm.set_params(tol=1e-6).fit(X, known).n_iter_ < n_iter + 60
    with pytest.raises(ValueError, match="a path cannot be combined with labels that are not"):
        RegularizationPath(tagger, lam_min=0.1).fit(X, known)
    assert RegularizationPath(tagger, cv=2).fit(X, known).score(X, y) > 0.5


@pytest.mark.parametrize("name", ["rows", "segments", *CASES])
def test_paths(name):
    if name == "segments":
        estimator, (X, y) = SegmentTagger(surrogate="log"), segments()
    elif name == "rows":
        estimator, X = StructSVMClassifier(surrogate="log"), np.concatenate(sequences(30)[0])
        y = np.concatenate(sequences(30)[1])
    else:
        estimator, X, y = make(name, lam=None)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    path = RegularizationPath(estimator, lam_min=1e-3).fit(X, y, sample_weight=weight)
    assert path.certified_ and path.lam_end_ <= 1e-3 and path.max_gap_ == 0.1
    assert not path.coefs_[0].any() and not hasattr(path, "n_support_planes_")
    for lam in (2 * path.lams_[0], *np.geomspace(path.lams_[1], 1e-3, 5)):
        exact = clone(estimator).set_params(lam=lam, tol=1e-9).fit(X, y, sample_weight=weight)
        low, high = path.dual_objective_at(lam), path.primal_objective_at(lam)
        assert low <= exact.primal_objective_ + 1e-9 and high >= exact.dual_objective_ - 1e-9
        assert high - low == pytest.approx(path.gap_at(lam), abs=1e-9)
        assert path.relative_gap_at(lam) <= 0.1 * (1 + 1e-6)
    assert sorted(RegularizationPathDisplay(path).curves()) == ["gap", "norm"]
    if name == "segments":
        return
    model = path.estimator_at(0.01)
    losses = (
        -log_probabilities(model, X, y) if name == "rows" else log_loss_by_attributes(model, X, y)
    )
    j = np.searchsorted(-path.lams_, -0.01, "right") - 1
    assert weight @ losses / weight.sum() == pytest.approx(path.hinges_[j], abs=1e-9)


@pytest.mark.parametrize("name", ["rows", "segments", "chain"])
def test_paths_begin_at_a_prior(name):
    """The model of infinite lam is the prior, and bounds are those of fits with it."""
    X, y = sequences(30)
    make_one = {"rows": StructSVMClassifier, "segments": SegmentTagger, "chain": SequenceTagger}
    if name == "rows":
        X, y = map(np.concatenate, (X, y))
    elif name == "segments":
        X, y = segments()
    before = make_one[name](surrogate="log", lam=0.3, tol=0.1).fit(X[::2], y[::2])
    estimator = make_one[name](surrogate="log", prior=before)
    path = RegularizationPath(estimator, lam_min=1e-3).fit(X, y)
    assert path.certified_ and path.lam_end_ <= 1e-3
    far = path.estimator_at(1e9)
    np.testing.assert_allclose(far.coef_, before.coef_, atol=1e-6)
    for lam in (2 * path.lams_[0], *np.geomspace(path.lams_[1], 1e-3, 5)):
        exact = clone(estimator).set_params(lam=lam, tol=1e-9).fit(X, y)
        low, high = path.dual_objective_at(lam), path.primal_objective_at(lam)
        assert low <= exact.primal_objective_ + 1e-9 and high >= exact.dual_objective_ - 1e-9
        assert high - low == pytest.approx(path.gap_at(lam), abs=1e-9)
        assert path.relative_gap_at(lam) <= 0.1 * (1 + 1e-6)


def log_probabilities(model, X, y):
    """The logarithms of the probabilities of the true classes of rows."""
    return model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]


def test_probabilities_of_a_model_that_is_fitted_here_or_before():
    X, y = sequences(60)
    field = CalibratedTagger(SequenceTagger(), method="likelihood").fit(X[:40], y[:40])
    assert field.estimator_.surrogate == "log" and field.estimator.surrogate == "hinge"
    assert field.calibration_["pairs"] == 1.0 and not field.calibration_["bias"].any()
    p = field.predict_proba(X[40:])
    np.testing.assert_allclose(np.concatenate(list(p)).sum(axis=1), 1.0)
    assert field.sample(X[40:41], 3, random_state=0)[0].shape == (3, len(y[40]))
    for risk in (None, "labelling", "tokens"):
        assert 0.3 < field.set_params(risk=risk).score(X[40:], y[40:]) <= 1
    hinge = SequenceTagger().fit(X, y)
    with pytest.raises(ValueError, match="needs surrogate='log', got 'hinge'"):
        CalibratedTagger(hinge, method="likelihood", cv="prefit").fit(X, y)


def test_what_it_does_not_take_is_named():
    X, y = sequences()
    ones = [np.ones(len(labels)) for labels in y]
    tagger = SequenceTagger(surrogate="log")
    refused = {
        "a likelihood has no losses; weigh whole": lambda: tagger.fit(X, y, token_weight=ones),
        "surrogate='log'; use 'bcfw'": lambda: SequenceTagger(solver="lbfgs").fit(X, y),
        "on data in one piece": lambda: Distributed(tagger).fit([X[:6], X[6:]], [y[:6], y[6:]]),
    }
    for message, call in refused.items():
        with pytest.raises(ValueError, match=message):
            call()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequenceTagger(surrogate="log", solver="lbfgs").fit(X, y)
