"""Losses by costs of pairs of labels.

The objective of taggers by enumeration is in tests/estimators/test_enumeration.py.
"""

import numpy as np
import pytest
from helpers.fits import FITS, PAIRS, graphs, rows
from helpers.labellings import losses_of, objective
from helpers.objectives import primal_of_rows
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sskit import SegmentationModel, StructSVMClassifier

TABLE = PAIRS["loss"]
ONES = 1.0 - np.eye(3)
RAW = {"standardize": False}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("n_labels", [2, 3])
def test_expansions_and_cuts_take_costs_too(n_labels):
    X, y = graphs(n_labels)()
    table = TABLE[:n_labels, :n_labels]
    model = SegmentationModel(loss=table, lam=0.05, tol=0.01, random_state=0).fit(X, y)
    known = [losses_of(labels, range(n_labels), table) for labels in y]
    found = objective(model, X, *zip(*known, strict=True))
    assert model.primal_objective_ == pytest.approx(found, rel=1e-9 if n_labels == 2 else 0.02)
    if n_labels == 3:
        exact = clone(model).set_params(inference="elimination", bounds={"pairwise": (0, None)})
        exact.fit(X, y)
        assert exact.primal_objective_ == pytest.approx(model.primal_objective_, rel=0.03)


@pytest.mark.parametrize("steps", ["projection", "pairwise", "fw"])
def test_objective_of_rows(steps):
    X, y = rows()
    given = {"loss": TABLE, "lam": 0.05, "tol": 1e-3, "random_state": 0, **RAW}
    given["surrogate"] = "crammer_singer"
    for weight in (None, np.arange(len(y)) % 3 + 0.5):
        model, other = (
            StructSVMClassifier(**how, **given).fit(X, y, sample_weight=weight)
            for how in ({"steps": steps}, {"solver": "cutting_plane"})
        )
        expected = primal_of_rows(model, X, y, TABLE, weight)
        assert model.primal_objective_ == pytest.approx(expected, rel=1e-9)
        assert other.primal_objective_ == pytest.approx(model.primal_objective_, rel=3e-3)
    slack = StructSVMClassifier(rescaling="slack", **given).fit(X, y)
    expected = primal_of_rows(slack, X, y, TABLE, slack=True)
    assert slack.certified_ and slack.primal_objective_ == pytest.approx(expected, rel=1e-9)


LIKE_ONES = ["chains", "trees", "any graphs", "graphs, inexact", "rows", "rows, kernel"]


@pytest.mark.parametrize("name", [*LIKE_ONES, "chains, kernel"])
def test_ones_are_the_default(name):
    X, y = FITS[name].data()
    one = clone(FITS[name].estimator).set_params(random_state=0, tol=0.1).fit(X, y)
    for loss in (ONES, {}):
        other = clone(one).set_params(loss=loss).fit(X, y)
        assert other.primal_objective_ == pytest.approx(one.primal_objective_, rel=1e-9)
        assert other.lam_ == one.lam_
        for a, b in zip(one.decision_function(X), other.decision_function(X), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)
    a, b = one.classes_.tolist()[:2]
    with pytest.raises(ValueError, match=rf"loss\[{a!r}\]\[{b!r}\] is -1, expected a finite"):
        one.set_params(loss={a: {b: -1}}).fit(X, y)


@pytest.mark.parametrize("name", ["chains", "trees", "any graphs", "rows"])
def test_costs_that_are_given_stay_as_they_are(name):
    X, y = FITS[name].data()
    a, b, c = np.unique(np.concatenate(y) if name != "rows" else y).tolist()
    costs = {a: {b: 3.0}, c: {a: 0.5}}
    model = clone(FITS[name].estimator).set_params(random_state=0, tol=0.1)
    search = GridSearchCV(model, {"loss": [costs]}, cv=2, error_score="raise")
    found = search.fit(X, y).best_estimator_  # though a fold may lack a label
    assert found.loss == costs == {a: {b: 3.0}, c: {a: 0.5}}
    # a fit that goes on knows them
    model.set_params(warm_start=True, solver="bcfw", loss=TABLE).fit(X, y)
    with pytest.raises(ValueError, match="the costs of pairs|the loss of y"):
        model.set_params(loss=TABLE + 0.5 * np.eye(3)[::-1] * ONES).fit(X, y)
    if name == "rows":
        with pytest.warns(UserWarning, match=r"^loss has keys that are no labels in y, 'A', 'B'"):
            found.set_params(loss={"A": {"b": 3.0}, "c": {"B": 2.0}}).fit(X, y)
