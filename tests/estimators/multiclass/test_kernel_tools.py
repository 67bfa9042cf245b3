"""Kernels with the tools of scikit-learn: searches, folds, pickles; and with other features."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

import sskit.models.kernel.functions
from sskit import RegularizationPath, SequenceTagger, StructSVMClassifier
from sskit.datasets import make_digit_strings

GAMMA = 2.0
PARAMS = {"kernel": "rbf", "gamma": GAMMA, "lam": 0.01, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_moons(90, noise=0.2, random_state=0)


def test_search_over_gamma_and_lam_in_two_processes(moons):
    grid = {"gamma": [0.1, 2.0], "lam": [0.1, 0.01]}
    one, two = (
        GridSearchCV(StructSVMClassifier(**PARAMS), grid, cv=3, n_jobs=n).fit(*moons)
        for n in (1, 2)
    )
    assert one.best_params_ == two.best_params_
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )
    assert two.best_score_ > 0.9
    assert two.best_params_["gamma"] == 2.0


def test_search_with_a_kernel_matrix_in_two_processes(moons):
    X, y = moons
    K, grid = rbf_kernel(X, gamma=GAMMA), {"lam": [0.1, 0.01]}
    other = StructSVMClassifier(kernel="precomputed", random_state=0)
    one = GridSearchCV(StructSVMClassifier(**PARAMS), grid, cv=3, n_jobs=2).fit(X, y)
    two = GridSearchCV(other, grid, cv=3, n_jobs=2).fit(K, y)
    np.testing.assert_allclose(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(one.predict(X), two.predict(K))


def test_predictions_of_folds(moons):
    X, y = moons
    found = cross_val_predict(StructSVMClassifier(**PARAMS), X, y, cv=3)
    assert (found == y).mean() > 0.9
    values = cross_val_predict(
        StructSVMClassifier(**PARAMS), X, y, cv=3, method="decision_function"
    )
    np.testing.assert_array_equal(values > 0, found == 1)


def test_taggers_in_folds():
    X, y = make_digit_strings(24, random_state=0)[:2]
    tagger = SequenceTagger(kernel="rbf", lam=0.01, tol=0.1, random_state=0)
    assert cross_val_score(tagger, X, y, cv=3, n_jobs=2).mean() > 0.5
    grid = GridSearchCV(tagger, {"gamma": ["scale", 0.1]}, cv=2, n_jobs=2).fit(X, y)
    assert len(grid.predict(X)) == len(X)


def test_a_clone_has_the_parameters_and_no_more(moons):
    model = StructSVMClassifier(**PARAMS, kernel_cache=3.0, degree=3).fit(*moons)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(moons[0])


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


@pytest.mark.parametrize("kernel_cache", [500.0, 0.01])
@pytest.mark.parametrize(
    "params",
    [
        {"rescaling": "slack"},
        {"class_weight": "balanced"},
        {"warm_start": True},
        {"solver": "mpbcfw"},
        {"solver": "one_slack"},
        {"sampling": "gap"},
        {"steps": "fw"},
    ],
    ids=lambda params: next(iter(params.values())),
)
def test_what_works_with_kernels_is_certified(moons, params, kernel_cache):
    X, y = moons
    weight = np.linspace(0.5, 2.0, len(y))
    params = {**PARAMS, "lam": 0.05, "tol": 0.02, **params}
    fits = [
        StructSVMClassifier(**{**params, "kernel_cache": size}).fit(X, y, sample_weight=weight)
        for size in (500.0, kernel_cache)
    ]
    for model in fits:
        assert model.certified_
        assert model.dual_gap_ <= 0.02
    # each within its gap of one optimum, but for kernels in single precision
    assert abs(fits[0].primal_objective_ - fits[1].primal_objective_) < 0.02 + 1e-5


def test_a_path_of_kernel_models(moons):
    X, y = moons
    path = RegularizationPath(
        StructSVMClassifier(kernel="rbf", gamma=GAMMA, kernel_cache=0.01, random_state=0),
        eps=0.2,
        lam_min=0.05,
    ).fit(X, y)
    lam = 0.1
    direct = StructSVMClassifier(**{**PARAMS, "lam": lam, "tol": 1e-3}).fit(X, y)
    model = path.estimator_at(lam)
    f = model.decision_function(X)
    K = rbf_kernel(X[model.support_], gamma=GAMMA)
    beta = model.dual_coef_[0]
    sqnorm = (float(beta @ K @ beta) + float(model.intercept_[0]) ** 2) / 2
    primal = lam / 2 * sqnorm + np.maximum(1 - (2 * y - 1) * f, 0).mean()
    assert direct.dual_objective_ - 1e-5 <= primal <= direct.primal_objective_ + 0.2


def test_what_does_not_work_says_so(moons):
    X, y = moons
    for params, pattern in (
        ({"bounds": (0.0, None)}, "kernel='rbf' cannot be combined with bounds"),
        ({"solver": "gdmm"}, "gdmm"),
    ):
        with pytest.raises(ValueError, match=pattern):
            StructSVMClassifier(**{**PARAMS, **params}).fit(X, y)
    words, labels = make_digit_strings(5, random_state=0)[:2]
    with pytest.raises(ValueError, match="sums over nodes and edges"):
        SequenceTagger(kernel="rbf", solver="gdmm").fit(words, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tagger = SequenceTagger(kernel="rbf", rescaling="slack", tol=0.5).fit(words, labels)
    assert tagger.certified_ and "inexactness" not in tagger.history_
