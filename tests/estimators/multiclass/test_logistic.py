"""StructSVMClassifier(surrogate="log"): scikit-learn's LogisticRegression, with a certificate.

What else holds for all fits, those of the likelihood among them, is in test_laws.py.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.pairwise import every_pair
from scipy.special import logsumexp
from sklearn.datasets import load_iris, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MinMaxScaler

from sskit import EarlyStopping, RegularizationPath, StructSVMClassifier

LAM = 0.05
TABLES = {
    "two": make_blobs(60, 5, centers=2, center_box=(-1, 1), random_state=1),
    "three": load_iris(return_X_y=True),
    "many": make_blobs(90, 4, centers=7, center_box=(-2, 2), random_state=2),
}


def make(lam=LAM, tol=1e-9, **params):
    return StructSVMClassifier(**{"lam": lam, "tol": tol, "surrogate": "log"} | params)


def table(name):
    X, y = TABLES[name]
    return MinMaxScaler().fit_transform(X), np.array([*"zyxwvut"])[y]


def objective(model, X, y, weight=None):
    """P(w) by the definition, of columns as they are."""
    weight = np.ones(len(X)) if weight is None else weight
    coef = np.hstack([model.coef_, model.intercept_[:, None]])
    if len(coef) == 1:
        coef = np.vstack([-0.5 * coef, 0.5 * coef])
    scores = np.hstack([X, np.ones((len(X), 1))]) @ coef.T
    own = scores[np.arange(len(X)), np.searchsorted(model.classes_, y)]
    losses = logsumexp(scores, axis=1) - own
    return 0.5 * LAM * (coef**2).sum() + weight @ losses / weight.sum()


@every_pair(
    name=TABLES, form=["dense", "csr", "single", "F"], weighted=[False, True], n_jobs=[None, 2]
)
def test_it_is_logistic_regression(name, form, weighted, n_jobs):
    X, y = table(name)
    if form == "single":
        X = X.astype(np.float32).astype(np.float64)
    weight = np.random.default_rng(0).uniform(0.2, 3, size=len(X)) if weighted else None
    rows = {"csr": sp.csr_array, "single": np.float32, "F": np.asfortranarray}.get(form, np.asarray)
    model = make(standardize=False, n_jobs=n_jobs).fit(rows(X), y, sample_weight=weight)
    # of two classes the weights of the second are those of the first with the other sign
    C = (1 if len(model.classes_) > 2 else 2) / LAM
    c = np.ones(len(X)) / len(X) if weight is None else weight / weight.sum()
    theirs = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=10_000)
    with_ones = np.hstack([X, np.ones((len(X), 1))])
    theirs.fit(with_ones, y, sample_weight=c)
    coef = np.hstack([model.coef_, model.intercept_[:, None]])
    np.testing.assert_allclose(coef, theirs.coef_, atol=1e-3)
    p = model.predict_proba(rows(X))
    np.testing.assert_allclose(p, theirs.predict_proba(with_ones), atol=2e-4)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(rows(X)))
    value = objective(model, X, y, weight)
    assert model.certified_ and model.primal_objective_ == pytest.approx(value, abs=1e-10)
    theirs.intercept_, theirs.coef_ = theirs.coef_[:, -1], theirs.coef_[:, :-1]
    assert abs(value - objective(theirs, X, y, weight)) < 1e-7 and 0 <= model.dual_gap_ < 1e-8


def test_probabilities_of_large_scores_are_finite():
    X, y = table("three")
    model = make().fit(X, y)
    model.coef_ *= 1e5
    log_p = model.predict_log_proba(X)
    assert np.isfinite(log_p).all() and log_p.min() < -1e3
    np.testing.assert_allclose(np.exp(log_p), model.predict_proba(X))
    scores = model.decision_function(X)
    np.testing.assert_allclose(log_p - log_p[:, :1], scores - scores[:, :1])


def test_what_is_around_takes_it():
    X, y = table("three")
    model = StructSVMClassifier(surrogate="log")
    choice = RegularizationPath(model, cv=3, scoring="neg_log_loss").fit(X, y)
    assert choice.predict_proba(X).shape == (len(X), 3) and choice.best_score_ > -0.3
    np.testing.assert_allclose(np.exp(choice.predict_log_proba(X)), choice.predict_proba(X))
    stopping = EarlyStopping(model, validation_fraction=0.3, scoring="neg_log_loss", random_state=0)
    assert stopping.fit(X, y).predict_proba(X).shape == (len(X), 3)


def test_only_this_surrogate_has_probabilities():
    X, y = table("three")
    model = StructSVMClassifier().fit(X, y)
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(model, name) and not hasattr(RegularizationPath(model, cv=2), name)
        assert hasattr(StructSVMClassifier(surrogate="log"), name)
    with pytest.raises(AttributeError) as error:
        model.predict_proba(X)
    assert "probabilities need surrogate='log', got 'auto'" in str(error.value.__cause__)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"solver": "bcfw"}, "solver='bcfw': it is for hinges; use 'auto' or 'lbfgs'"),
        ({"steps": "pairwise"}, "steps='pairwise' cannot be combined with solver='auto'"),
    ],
)
def test_what_it_does_not_take_is_named(params, message):
    """The rest of it is in test_combinations.py."""
    X, y = table("three")
    with pytest.raises(ValueError, match=message):
        StructSVMClassifier(surrogate="log", **params).fit(X, y)
