"""The estimators pass scikit-learn's checks and ours, and the tools of scikit-learn take them."""

import numpy as np
import pytest
from helpers.images import AnyOnPaths, OnPaths
from helpers.paths import TreesOfKinds, TreesOfPaths
from helpers.ragged_checks import CHECKS
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sskit import (
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    RankingSVM,
    SequenceTagger,
    StructSVMClassifier,
)
from sskit.datasets import make_chains, make_score_maps
from sskit.metrics import sequence_accuracy_scorer, token_accuracy_scorer
from sskit.preprocessing import TokenTransformer
from sskit.solvers import BCFW

# What scikit-learn expects of LinearSVC, whose solver draws samples too: the check compares
# decisions to seven digits, while a model is within `tol` of the optimum, on either side.
EXPECTED_FAILURES = {
    f"check_sample_weight_equivalence_on_{kind}_data": (
        "the order of the training pairs is random: two fits agree up to tol, not to seven digits"
    )
    for kind in ("dense", "sparse")
}


# A loss of a whole set has weights of sets, not of rows: others are refused.
EXPECTED_FAILURES_OF_SETS = dict.fromkeys(
    [
        *EXPECTED_FAILURES,
        "check_sample_weights_not_overwritten",
        "check_classifiers_one_label_sample_weights",
    ],
    "a loss of a whole set has a weight for the set, and refuses others of its rows",
)


# Some checks fit data with features around 100, not scaled; the certificate then tells, by a
# ConvergenceWarning, what LinearSVC tells in the same checks.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [StructSVMClassifier(), MultilabelPairwise(), HierarchicalMultilabel()],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [RankingSVM()],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES_OF_SETS,
)
def test_scikit_learn_checks_of_losses_of_sets(estimator, check):
    check(estimator)


def test_expected_failures_are_those_of_linear_svc():
    registry = pytest.importorskip("sklearn.utils._test_common.instance_generator")
    theirs = registry.PER_ESTIMATOR_XFAIL_CHECKS[registry.LinearSVC]
    assert set(EXPECTED_FAILURES) <= set(theirs)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ragged_checks(check):
    for estimator in (SequenceTagger(), TreesOfPaths(), OnPaths(), AnyOnPaths()):
        # searches of the first two in several processes are below
        if check.__name__ != "check_grid_search" or isinstance(estimator, OnPaths | AnyOnPaths):
            check(estimator)
    if check.__name__ in ("check_pickle", "check_bad_data", "check_what_decides"):
        check(TreesOfKinds())


FOLDS = KFold(3)


@pytest.fixture(scope="module")
def chains():
    X, y = make_chains(36, n_features=6, n_states=3, noise=0.8, random_state=0)
    return X, [np.array(["a", "b", "c"])[states] for states in y]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return MinMaxScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def label_sets():
    rng = np.random.default_rng(0)
    sets = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 0, 1]])
    kind = rng.integers(4, size=60)
    return 2.0 * np.eye(4)[kind] + 0.3 * rng.normal(size=(60, 4)), sets[kind]


@pytest.fixture(scope="module")
def parts():
    """Two parts of which the second stands right of the first, on maps with little clutter."""
    rng = np.random.default_rng(0)
    first = rng.integers([0, 0], [5, 8], size=(36, 2))
    y = list(np.stack([first, first + [3, 0] + rng.integers(-1, 2, size=(36, 2))], axis=1))
    y = [np.clip(places, 0, 8) for places in y]
    return make_score_maps(y, (9, 9), jitter=0.0, misses=0.0, clutter=1.0, random_state=0), y


TAGGER = SequenceTagger(tol=0.05, random_state=0)
CLASSIFIER = StructSVMClassifier(tol=0.05, random_state=0)
MULTILABEL = MultilabelPairwise(tol=0.02, random_state=0)
HIERARCHICAL = HierarchicalMultilabel([-1, 0, 0], tol=0.02, random_state=0)
CASES = pytest.mark.parametrize(
    ("model", "data", "folds"),
    [
        pytest.param(TAGGER, "chains", FOLDS, id="SequenceTagger"),
        pytest.param(
            CLASSIFIER, "iris", StratifiedKFold(3, shuffle=True, random_state=0), id="classifier"
        ),
        pytest.param(MULTILABEL, "label_sets", FOLDS, id="MultilabelPairwise"),
        pytest.param(HIERARCHICAL, "label_sets", FOLDS, id="HierarchicalMultilabel"),
        pytest.param(
            PartsModel([-1, 0], n_types=1, radius=0.5, tol=0.05, random_state=0),
            "parts",
            FOLDS,
            id="PartsModel",
        ),
    ],
)
GRID = {"lam": [0.01, 0.1, 1.0]}


@CASES
def test_searches(model, data, folds, request):
    X, y = request.getfixturevalue(data)
    one, two = (GridSearchCV(model, GRID, cv=folds, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_array_equal(one.cv_results_[name], two.cv_results_[name])
    assert one.best_params_ == two.best_params_
    assert one.best_estimator_.lam_ == one.best_params_["lam"]
    assert one.best_score_ > 0.8
    assert 0.8 < one.score(X, y) <= 1


# Halving refuses labels of two dimensions; that of sequences is a check of ragged estimators.
@pytest.mark.parametrize(
    ("model", "data", "folds"),
    [case for case in CASES.args[1] if case.values[1] in ("iris", "parts")],
)
def test_halving(model, data, folds, request):
    X, y = request.getfixturevalue(data)
    halving = HalvingGridSearchCV(model, GRID, cv=folds, factor=2, random_state=0).fit(X, y)
    assert halving.n_iterations_ > 1
    assert halving.score(X, y) > 0.6


@CASES
def test_cross_validation(model, data, folds, request):
    X, y = request.getfixturevalue(data)
    scores = cross_validate(model, X, y, cv=folds, return_estimator=True, return_train_score=True)
    predicted = cross_val_predict(model, X, y, cv=folds)
    assert len(predicted) == len(y)
    for fold, (_, test) in enumerate(folds.split(X, y if data == "iris" else np.zeros(len(X)))):
        fitted = scores["estimator"][fold]
        X_test, y_test = [X[i] for i in test], [y[i] for i in test]
        assert scores["test_score"][fold] == fitted.score(X_test, y_test)
        for found, expected in zip(predicted[test], fitted.predict(X_test), strict=True):
            np.testing.assert_array_equal(found, expected)
    assert scores["test_score"].mean() > 0.8


def test_pipelines(chains, iris):
    X, y = chains
    pipeline = make_pipeline(TokenTransformer(StandardScaler()), TAGGER)
    search = GridSearchCV(
        pipeline,
        {"sequencetagger__lam": [0.03, 0.3], "sequencetagger__loss": ["hamming", "hamming_sum"]},
        scoring={"token": token_accuracy_scorer, "sequence": sequence_accuracy_scorer},
        refit="sequence",
        cv=FOLDS,
    ).fit(X, y)
    scores = search.cv_results_
    assert np.isfinite(scores["mean_test_token"]).all()
    assert (scores["mean_test_token"] >= scores["mean_test_sequence"]).all()
    assert search.best_estimator_.score(X, y) > 0.8
    pipeline = make_pipeline(StandardScaler(), clone(CLASSIFIER).set_params(solver=BCFW()))
    names = [f"structsvmclassifier__{name}" for name in ("lam", "solver__sampling")]
    grid = dict(zip(names, ([0.1, 1.0], ["permutation", "uniform"]), strict=True))
    search = GridSearchCV(pipeline, grid, scoring=["accuracy", "f1_macro"], refit="f1_macro")
    assert search.fit(*iris).best_score_ > 0.8
    assert search.best_estimator_[-1].solver_.sampling in ("permutation", "uniform")


@CASES
def test_metadata_routing(model, data, folds, request):
    X, y = request.getfixturevalue(data)
    weight = np.random.default_rng(0).uniform(0.1, 3, size=len(X))
    expected = []
    for train, test in folds.split(X, y if data == "iris" else np.zeros(len(X))):
        fitted = clone(model).fit(
            [X[i] for i in train], [y[i] for i in train], sample_weight=weight[train]
        )
        expected.append(
            fitted.score([X[i] for i in test], [y[i] for i in test], sample_weight=weight[test])
        )
    with config_context(enable_metadata_routing=True):
        routed = (
            clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        scores = cross_validate(routed, X, y, cv=folds, params={"sample_weight": weight})
        search = GridSearchCV(routed, {}, cv=folds).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(scores["test_score"], expected)
    found = [search.cv_results_[f"split{k}_test_score"][0] for k in range(3)]
    np.testing.assert_array_equal(found, expected)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(search.best_estimator_.coef_, weighted.coef_)
