"""Estimators that train by the likelihood: their objective, laws, what they refuse."""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.fits import of_features, segments
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


OF_PATHS = ["rows", "segments", "sequences", "order 2", "edges", "trees"]


CASES = {
    "sequences": (SequenceTagger(), lambda X: X),
    "order 2": (SequenceTagger(order=2), lambda X: X),
    "edges": (SequenceTagger(), edged),
    "trees": (TreeTagger(), trees),
}


def make(name, n=12, **params):
    """An estimator, and its data."""
    X, y = sequences(n)
    params = {"surrogate": "log", "lam": 0.1, "tol": 1e-8} | params
    if name == "rows":
        return StructSVMClassifier(**params), np.concatenate(X), np.concatenate(y)
    if name == "segments":
        return (SegmentTagger(**params), *segments())
    estimator, of = CASES[name]
    return clone(estimator).set_params(**params), of(X), y


@pytest.mark.parametrize("name", CASES)
def test_the_objective_is_that_of_the_enumeration(name):
    model, X, y = make(name)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    losses = log_loss_by_attributes(model.fit(X, y, sample_weight=weight), X, y)

    def objective(model, losses):
        w = weights(model)
        return 0.05 * w @ w + np.average(losses, weights=weight)

    assert model.certified_
    assert model.primal_objective_ == pytest.approx(objective(model, losses), abs=1e-10)
    assert 0 <= model.dual_gap_ <= 1e-8 * model.primal_objective_ * (1 + 1e-3) + 1e-8
    # nearby weights are no better than the certificate says
    for seed in range(3):
        other, rng = copy.copy(model), np.random.default_rng(seed)
        other.coef_ = model.coef_ + 1e-3 * rng.normal(size=model.coef_.shape)
        assert objective(other, log_loss_by_attributes(other, X, y)) >= model.dual_objective_
    field = CalibratedTagger(model, method="likelihood", cv="prefit").fit(X, y)
    np.testing.assert_allclose(-np.log(field.confidence(X, y)), losses, atol=1e-9)
    assert field.log_likelihood_ == pytest.approx(-losses.mean(), abs=1e-9)


@every_pair(name=CASES, n_jobs=[1, 2], form=[sp.csr_array, np.float32])
def test_other_forms_of_rows_have_the_same_optimum(name, n_jobs, form):
    model, X, y = make(name, n_jobs=n_jobs)
    first = weights(model.fit(X, y))
    model.fit(of_features(X, form), y)
    np.testing.assert_allclose(weights(model), first, rtol=1e-3, atol=1e-4)


def test_what_is_around_takes_it():
    """Steps are in online/test_steps.py, priors in base/test_prior.py."""
    X, y = sequences(40)
    tagger = SequenceTagger(surrogate="log")
    search = GridSearchCV(SequenceTagger(), {"surrogate": ["hinge", "log"]}, cv=2).fit(X, y)
    assert 0.3 < search.best_score_ <= 1
    path = RegularizationPath(tagger, cv=2).fit(X, y)
    field = CalibratedTagger(path, method="likelihood", cv="prefit").fit(X, y)
    assert field.predict(X)[0].shape == y[0].shape and field.log_likelihood_ < 0
    stopping = EarlyStopping(tagger, validation_fraction=0.3, random_state=0).fit(X, y)
    assert stopping.score(X, y) > 0.3
    with pytest.warns(ConvergenceWarning, match="stopped after 2 passes with a relative duality"):
        SequenceTagger(surrogate="log", max_iter=2).fit(X, y)


@pytest.mark.parametrize(
    ("name", "known", "changed"),
    [("rows", "all", "the model"), ("sequences", "all", "the surr"), ("sequences", "some", "the")],
)
def test_fits_go_on(name, known, changed):
    model, X, y = make(name, 40, tol=1e-2, warm_start=True)
    if known == "some":
        y = partly(y)[0]
        model.set_params(ignore_label="?")
    before = model.fit(X, y).n_iter_
    cold = clone(model).set_params(tol=1e-6).fit(X, y)
    assert model.set_params(tol=1e-6).fit(X, y).n_iter_ < cold.n_iter_ + before
    np.testing.assert_allclose(model.coef_, cold.coef_, atol=1e-2)
    with pytest.raises(ValueError, match=f"{changed}.* changed"):
        model.set_params(surrogate="auto" if name == "rows" else "hinge").fit(X, y)


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
    objective = 0.05 * w @ w + np.average(losses, weights=weight)
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
    with pytest.raises(ValueError, match="a path cannot be combined with labels that are not"):
        RegularizationPath(tagger, lam_min=0.1).fit(X, known)
    assert RegularizationPath(tagger, cv=2).fit(X, known).score(X, y) > 0.5


@pytest.mark.parametrize(
    ("name", "begin"),
    [*((name, 0) for name in OF_PATHS), *((name, "prior") for name in OF_PATHS[:3])],
)
def test_paths(name, begin):
    """From no weights, or from a prior, which is then the model of infinite lam."""
    estimator, X, y = make(name, 30, lam=None, tol=1e-2)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X))
    if begin == "prior":
        before = clone(estimator).set_params(lam=0.3, tol=0.1).fit(X[::2], y[::2])
        estimator.set_params(prior=before)
    path = RegularizationPath(estimator, lam_min=1e-3).fit(X, y, sample_weight=weight)
    assert path.certified_ and path.lam_end_ <= 1e-3 and path.max_gap_ == 0.1
    far = path.estimator_at(1e9).coef_
    np.testing.assert_allclose(far, before.coef_ if begin else 0.0, atol=1e-6)
    assert not hasattr(path, "n_support_planes_")
    for lam in (2 * path.lams_[0], *np.geomspace(path.lams_[1], 1e-3, 5)):
        exact = clone(estimator).set_params(lam=lam, tol=1e-9).fit(X, y, sample_weight=weight)
        low, high = path.dual_objective_at(lam), path.primal_objective_at(lam)
        assert low <= exact.primal_objective_ + 1e-9 and high >= exact.dual_objective_ - 1e-9
        assert high - low == pytest.approx(path.gap_at(lam), abs=1e-9)
        assert path.relative_gap_at(lam) <= 0.1 * (1 + 1e-6)
    assert sorted(RegularizationPathDisplay(path).curves()) == ["gap", "norm"]
    if name == "segments" or begin:
        return
    assert not path.coefs_[0].any()
    model = path.estimator_at(0.01)
    losses = (
        -log_probabilities(model, X, y) if name == "rows" else log_loss_by_attributes(model, X, y)
    )
    j = np.searchsorted(-path.lams_, -0.01, "right") - 1
    assert np.average(losses, weights=weight) == pytest.approx(path.hinges_[j], abs=1e-9)


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
