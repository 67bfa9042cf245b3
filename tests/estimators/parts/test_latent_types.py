"""Types of springs that are chosen anew in training, against enumeration."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from sskit import PartsModel
from sskit.datasets import make_score_maps
from sskit.estimators.base.combinations import refusal
from sskit.models.parts.log_odds import as_log_odds
from sskit.models.parts.model import PoseModel

PARENTS = [1, -1, 1]
FAST = {"n_types": 2, "latent_types": True, "tol": 0.05, "random_state": 0}


def figures(n=8, shape=(4, 5), seed=0):
    """A body with two limbs on small maps with clutter."""
    rng = np.random.default_rng(seed)
    y = list(rng.integers(shape[::-1], size=(n, 3, 2)))
    return make_score_maps(y, shape, blur=1.0, clutter=2.0, random_state=seed), y


X, Y = figures()
FITTED = PartsModel(PARENTS, **FAST, lam=1e-3).fit(X, Y)


def spring_scores(model, k, moved):
    """Score of each type of a part that is displaced from its parent by so much, (T,)."""
    u = (moved - model.means_[k]) / model.unit_
    cost = model.springs_[k, ..., 0] * u + model.springs_[k, ..., 1] * u**2
    return model.types_[k] - cost.sum(axis=-1)


def best_score(model, x, places):
    """Score of places with the best types."""
    total = sum(
        c * x[k, j, i] for k, (c, (i, j)) in enumerate(zip(model.coef_, places, strict=True))
    )
    for k, parent in enumerate(PARENTS):
        if parent >= 0:
            total += spring_scores(model, k, np.subtract(places[k], places[parent])).max()
    return total


def hinge(model, x, y):
    """Largest loss plus score, by enumeration, without the score of the truth."""
    cells = [(i, j) for j in range(x.shape[1]) for i in range(x.shape[2])]
    torso = max(1.0, np.ptp(y, axis=0).max())
    loss = [
        [min(1.0, np.sum(np.subtract(cell, true) ** 2) / torso**2) / len(y) for cell in cells]
        for true in y
    ]
    node = [
        [loss[k][c] + model.coef_[k] * x[k, j, i] for c, (i, j) in enumerate(cells)]
        for k in range(3)
    ]
    best = -np.inf
    for c, body in enumerate(cells):
        total = node[1][c]
        for k in (0, 2):
            total += max(
                node[k][q] + spring_scores(model, k, np.subtract(cell, body)).max()
                for q, cell in enumerate(cells)
            )
        best = max(best, total)
    return best


def objective(model):
    """P(w), by enumeration."""
    total = model.lam_ / 2 * sum((b**2).sum() for b in (model.coef_, model.types_, model.springs_))
    for x, y in zip(as_log_odds(X, model.score_curves_), Y, strict=True):
        total += (hinge(model, x, y) - best_score(model, x, y)) / len(X)
    return total


def test_objective_is_that_of_enumeration():
    # a seed that takes more than one round
    model = PartsModel(PARENTS, **FAST | {"random_state": 6}, lam=1e-3).fit(X, Y)
    assert model.round_objectives_[-1] == pytest.approx(objective(model), rel=1e-6)
    assert (np.diff(model.round_objectives_) <= 0).all()
    assert model.n_rounds_ == len(model.round_objectives_) > 1
    assert model.certified_


def test_types_are_the_best_of_all():
    rng = np.random.default_rng(0)
    model = PoseModel(np.array(PARENTS), FITTED.means_, FITTED.unit_)
    w = rng.normal(size=model.layout.n_weights)
    fitted = pickle.loads(pickle.dumps(FITTED))
    for name, block in model.layout.split(w).items():
        setattr(fitted, f"{name}_", block)
    places = np.array(Y)
    types = model.best_types(places, w)
    for y, found in zip(Y, types, strict=True):
        for k in (0, 2):
            assert found[k] == spring_scores(fitted, k, y[k] - y[1]).argmax()
    assert (types[:, 1] == 0).all()


def test_they_explain_the_truth_no_worse():
    for seed in range(3):
        X, y = figures(seed=seed)
        fixed = PartsModel(PARENTS, n_types=3, tol=1e-3, random_state=0).fit(X, y)
        free = clone(fixed).set_params(latent_types=True).fit(X, y)
        # the first round is the fit with fixed types, and the rest only goes down
        assert free.round_objectives_[0] <= fixed.primal_objective_ * (1 + 1e-3)
        assert (np.diff(free.round_objectives_) <= 0).all()


def test_with_weights_bounds_means_and_names():
    weight = np.arange(len(X)) % 2 + 0.5
    given = {"bounds": {"coef": (0.0, None)}, "means": np.nan_to_num(FITTED.means_[..., ::-1])}
    model = PartsModel(PARENTS, **FAST, **given, part_names=["hand", "body", "foot"])
    named = [dict(zip(["hand", "body", "foot"], x, strict=True)) for x in X]
    model.fit(named, Y, sample_weight=weight)
    assert (model.coef_ >= 0).all() and model.n_rounds_ >= 1
    for kept in (model, PartsModel(PARENTS, **FAST)):
        assert "latent_types" in refusal(kept, parts="data in parts")
    assert refusal(model.set_params(latent_types=False), parts="data in parts") is None
    plain, one = (
        PartsModel(PARENTS, n_types=1, latent_types=latent, random_state=0).fit(X, Y)
        for latent in (False, True)
    )
    np.testing.assert_array_equal(one.coef_, plain.coef_)
    assert one.n_rounds_ == 1 and one.stationary_ and not hasattr(plain, "n_rounds_")


def test_a_fit_goes_on_with_its_types():
    model = PartsModel(PARENTS, **FAST, lam=1e-3, warm_start=True).fit(X, Y)
    before, reached = model.springs_.copy(), model.round_objectives_[-1]
    model.fit(X, Y)
    if model.n_iter_ == 0:
        np.testing.assert_array_equal(model.springs_, before)
    assert model.round_objectives_[-1] <= reached + 1e-9
    model.set_params(tol=1e-3).fit(X, Y)
    assert (np.diff(model.round_objectives_) <= 0).all()
    assert model.round_objectives_[-1] <= reached
    assert model.round_objectives_[-1] == pytest.approx(objective(model), rel=1e-6)
    with pytest.raises(ValueError, match="warm_start=True cannot continue"):
        model.fit(X[:-1], Y[:-1])
