"""Estimators that train by the likelihood: their objective, laws, what they refuse."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.labellings import all_weights as weights
from helpers.objectives import log_loss_by_attributes
from helpers.pairwise import every_pair
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from sskit import CalibratedTagger, EarlyStopping, RegularizationPath, SequenceTagger, TreeTagger
from sskit.dask import Distributed

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
