"""What is inside pipelines, searches and other meta-estimators, and what each of these is given."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import EarlyStopping, RegularizationPath, StructSVMClassifier
from sskit._meta_estimators import unwrap


def test_from_outside_in():
    X, y = load_iris(return_X_y=True)
    inner = EarlyStopping(StructSVMClassifier(random_state=0), random_state=0)
    search = GridSearchCV(make_pipeline(StandardScaler(), inner), {}, cv=2)
    found = [type(estimator) for estimator, _ in unwrap(search)]
    assert found[0] is GridSearchCV and found[2:] == [EarlyStopping, StructSVMClassifier]
    search.fit(X, y)
    *_, (stopped, given), (model, same) = unwrap(search, X)
    assert model is stopped.estimator_ is search.best_estimator_[-1].estimator_
    np.testing.assert_array_equal(given, search.best_estimator_[0].transform(X))
    assert same is given
    assert [estimator for estimator, _ in unwrap(FrozenEstimator(model))][1:] == [model]
    # a path is an end, and a choice is none
    path = RegularizationPath(StructSVMClassifier(random_state=0), lam_min=0.1).fit(X, y)
    assert [estimator for estimator, _ in unwrap(path)] == [path]
    path.set_params(cv=2).fit(X, y)
    assert [estimator for estimator, _ in unwrap(path)] == [path, path.best_estimator_]
