"""Kernels with the tools of scikit-learn: searches, folds, pickles; and with other features."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV

import sskit.models.kernel.functions
from sskit import StructSVMClassifier

GAMMA = 2.0
PARAMS = {"kernel": "rbf", "gamma": GAMMA, "lam": 0.01, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_moons(90, noise=0.2, random_state=0)


def test_search_over_gamma_and_lam(moons):
    grid = {"gamma": [0.1, 2.0], "lam": [0.1, 0.01]}
    search = GridSearchCV(StructSVMClassifier(**PARAMS), grid, cv=3).fit(*moons)
    assert search.best_score_ > 0.9
    assert search.best_params_["gamma"] == 2.0


@pytest.mark.parametrize("kernel_cache", [500.0, 0.01])
def test_a_pickle_holds_support_vectors_but_no_kernel_rows(moons, kernel_cache):
    X, y = (np.repeat(part, 8, axis=0) for part in moons)
    X += np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    model = StructSVMClassifier(**PARAMS, kernel_cache=kernel_cache).fit(X, y)
    saved = pickle.dumps(model)
    held = sum(
        getattr(model, name).nbytes for name in ("support_", "support_vectors_", "dual_coef_")
    )
    # a row of the kernel matrix has 5760 bytes
    assert len(saved) < held + 6000
    np.testing.assert_array_equal(
        pickle.loads(saved).decision_function(X), model.decision_function(X)
    )


def test_predictions_do_not_depend_on_the_blocks_they_are_made_in(moons, monkeypatch):
    model = StructSVMClassifier(**PARAMS).fit(*moons)
    X = np.random.default_rng(0).normal(size=(500, 2))
    whole, shapes = model.decision_function(X), []
    monkeypatch.setattr(sskit.models.kernel.functions, "BLOCK_ENTRIES", 1000)
    against = type(model.kernel_).against

    def watched(*args):
        shapes.append(against(*args).shape)
        return against(*args)

    monkeypatch.setattr(type(model.kernel_), "against", watched)
    np.testing.assert_allclose(model.decision_function(X), whole, rtol=1e-12)
    assert max(rows * columns for rows, columns in shapes) <= 1000
    assert sum(rows for rows, _ in shapes) == 500


def test_what_works_with_kernels_is_certified(moons):
    X, y = moons
    weight = np.linspace(0.5, 2.0, len(y))
    for params in (
        {"rescaling": "slack"},
        {"class_weight": "balanced"},
        {"warm_start": True},
        {"solver": "mpbcfw"},
        {"solver": "one_slack"},
        {"sampling": "gap"},
        {"steps": "fw"},
    ):
        params = {**PARAMS, "lam": 0.05, "tol": 0.02, **params}
        fits = [
            StructSVMClassifier(**{**params, "kernel_cache": size}).fit(X, y, sample_weight=weight)
            for size in (500.0, 0.01)
        ]
        for model in fits:
            assert model.certified_
            assert model.dual_gap_ <= 0.02
        # each within its gap of one optimum, but for kernels in single precision
        assert abs(fits[0].primal_objective_ - fits[1].primal_objective_) < 0.02 + 1e-5
