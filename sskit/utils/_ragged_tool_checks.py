"""Checks that scikit-learn's tools take the estimator as they take its own."""

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import has_fit_parameter

from sskit.inputs.ragged_array import object_array
from sskit.utils._checking import assert_same_labels, assert_sequences, ragged_check

FOLDS = KFold(3)


def _grid(estimator):
    """Return values to search: of lam if the estimator has it, else those that are set."""
    params = estimator.get_params(deep=False)
    if "lam" in params:
        return {"lam": [0.1, 1.0]}
    name = min(params)
    return {name: [params[name]]}


def _rows(items, index):
    return [items[i] for i in index]


def _with_errors(y):
    """Return labels that nobody gets all right, so that scores tell weights and folds apart."""
    return [labels[::-1] if i % 3 == 0 else labels for i, labels in enumerate(y)]


@ragged_check
def check_grid_search(estimator, X, y):
    """Expect that GridSearchCV works, with the same scores in one process and two."""
    scores = []
    for n_jobs in (1, 2):
        search = GridSearchCV(estimator, _grid(estimator), cv=FOLDS, n_jobs=n_jobs)
        search.fit(X, y)
        assert_sequences(search.predict(X), [len(x) for x in X], "GridSearchCV.predict")
        assert 0 <= search.score(X, y) <= 1
        scores.append(search.cv_results_["mean_test_score"])
    assert np.isfinite(scores).all(), "GridSearchCV found scores that are not numbers"
    assert np.array_equal(*scores), "GridSearchCV finds other scores with n_jobs=2"


@ragged_check
def check_halving_grid_search(estimator, X, y):
    """Expect that HalvingGridSearchCV works."""
    search = HalvingGridSearchCV(
        estimator, _grid(estimator), cv=FOLDS, factor=2, min_resources=9, random_state=0
    )
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all(), "scores are not numbers"
    assert_sequences(search.predict(X), [len(x) for x in X], "HalvingGridSearchCV.predict")


@ragged_check
def check_cross_validation(estimator, X, y):
    """Expect that cross_validate and cross_val_predict do what a loop over the folds does."""
    y = _with_errors(y)
    scores = cross_validate(estimator, X, y, cv=FOLDS, return_train_score=True)
    predicted = cross_val_predict(estimator, X, y, cv=FOLDS)
    assert_sequences(predicted, [len(x) for x in X], "cross_val_predict")
    for fold, (train, test) in enumerate(FOLDS.split(X)):
        model = clone(estimator).fit(_rows(X, train), _rows(y, train))
        test_X, test_y = _rows(X, test), _rows(y, test)
        assert scores["test_score"][fold] == model.score(test_X, test_y), "cross_validate differs"
        assert_same_labels(predicted[test], model.predict(test_X), "cross_val_predict")
    as_arrays = cross_val_score(estimator, object_array(X), object_array(y), cv=FOLDS)
    assert np.array_equal(as_arrays, scores["test_score"]), "object arrays give other scores"


@ragged_check
def check_pipeline(estimator, X, y):
    """Expect that a pipeline hands data and parameters on."""
    pipeline = Pipeline([("identity", FunctionTransformer()), ("model", clone(estimator))])
    predicted = pipeline.fit(X, y).predict(X)
    assert_same_labels(predicted, clone(estimator).fit(X, y).predict(X), "in a pipeline")
    assert 0 <= pipeline.score(X, y) <= 1
    grid = {f"model__{name}": values for name, values in _grid(estimator).items()}
    search = GridSearchCV(pipeline, grid, cv=FOLDS).fit(X, y)
    assert_sequences(search.predict(X), [len(x) for x in X], "a search over a pipeline: predict")


@ragged_check
def check_metadata_routing(estimator, X, y):
    """Expect that sample weights reach fit and score through searches and cross-validation."""
    if not has_fit_parameter(estimator, "sample_weight"):
        return
    weight = np.linspace(0.1, 3.0, len(X))
    y = _with_errors(y)
    expected = []
    for train, test in FOLDS.split(X):
        model = clone(estimator).fit(_rows(X, train), _rows(y, train), sample_weight=weight[train])
        expected.append(model.score(_rows(X, test), _rows(y, test), sample_weight=weight[test]))
    with config_context(enable_metadata_routing=True):
        routed = clone(estimator).set_fit_request(sample_weight=True)
        routed.set_score_request(sample_weight=True)
        scores = cross_validate(routed, X, y, cv=FOLDS, params={"sample_weight": weight})
        search = GridSearchCV(routed, {}, cv=FOLDS).fit(X, y, sample_weight=weight)
        pipeline = Pipeline([("identity", FunctionTransformer()), ("model", routed)])
        pipeline.fit(X, y, sample_weight=weight)
    found = {
        "cross_validate": scores["test_score"],
        "GridSearchCV": [search.cv_results_[f"split{k}_test_score"][0] for k in range(3)],
    }
    for name, values in found.items():
        assert np.array_equal(values, expected), f"sample_weight does not reach {name}"
    predicted = clone(estimator).fit(X, y, sample_weight=weight).predict(X)
    assert_same_labels(search.predict(X), predicted, "the refit of a routed GridSearchCV")
    assert_same_labels(pipeline.predict(X), predicted, "a routed pipeline")
