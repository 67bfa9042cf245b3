"""Losses by costs of pairs of labels.

The objective of taggers by enumeration is in tests/estimators/test_enumeration.py.
"""

import pickle
import warnings

import numpy as np
import pytest
from helpers.fits import FITS, PAIRS, chains, graphs, rows, trees
from helpers.labellings import losses_of, objective
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from sskit import GraphTagger, SegmentationModel, SequenceTagger, StructSVMClassifier, TreeTagger
from sskit.dask import Distributed

TABLE = PAIRS["loss"]
ONES = 1.0 - np.eye(3)
RAW = {"standardize": False}


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


def enumerated_rows(model, X, y, table, weight=None):
    """P(w) of a linear model of rows; components by their best."""
    owner = np.arange(3)
    if hasattr(model, "component_labels_"):
        owner = np.searchsorted(model.classes_, model.component_labels_)
    codes = np.searchsorted(model.classes_, y)
    found = X @ model.coef_.T + model.intercept_
    hinges = [
        (table[a, owner] + row).max() - row[owner == a].max()
        for a, row in zip(codes, found, strict=True)
    ]
    squares = (model.coef_**2).sum() + (model.intercept_**2).sum()
    return model.lam_ / 2 * squares + np.average(hinges, weights=weight)


@pytest.mark.parametrize("steps", ["projection", "pairwise", "fw"])
def test_objective_of_rows(steps):
    X, y = rows()
    given = {"loss": TABLE, "lam": 0.05, "tol": 1e-3, "random_state": 0, **RAW}
    for weight in (None, np.arange(len(y)) % 3 + 0.5):
        model = StructSVMClassifier(steps=steps, **given).fit(X, y, sample_weight=weight)
        expected = enumerated_rows(model, X, y, TABLE, weight)
        assert model.primal_objective_ == pytest.approx(expected, rel=1e-9)
        other = StructSVMClassifier(solver="cutting_plane", **given).fit(X, y, sample_weight=weight)
        assert other.primal_objective_ == pytest.approx(model.primal_objective_, rel=3e-3)
    slack = StructSVMClassifier(rescaling="slack", **given).fit(X, y)
    found, codes = X @ slack.coef_.T + slack.intercept_, np.searchsorted(slack.classes_, y)
    hinges = [(TABLE[a] * (1 + row - row[a])).max() for a, row in zip(codes, found, strict=True)]
    squares = (slack.coef_**2).sum() + (slack.intercept_**2).sum()
    assert slack.certified_
    assert slack.primal_objective_ == pytest.approx(0.025 * squares + np.mean(hinges), rel=1e-9)
    # wrong components of the right class cost nothing
    X, y = rows(48)
    mixed = StructSVMClassifier(n_components={"a": 2, "c": 2}, **given).fit(X, y)
    expected = enumerated_rows(mixed, X, y, TABLE)
    assert mixed.round_objectives_[-1] == pytest.approx(expected, rel=1e-9)
    assert (np.diff(mixed.round_objectives_) <= 0).all()


# ---- equivalences ------------------------------------------------------------------------

PLAIN = {
    "chains": (SequenceTagger(), chains),
    "trees": (TreeTagger(), trees),
    "any graphs": (GraphTagger(), graphs(3)),
    "graphs": (SegmentationModel(), graphs(3)),
    "rows": (StructSVMClassifier(), rows),
    "kernel": (StructSVMClassifier(kernel="rbf"), rows),
    "kernel of chains": (SequenceTagger(kernel="rbf"), chains),
}


@pytest.mark.parametrize("name", PLAIN)
def test_ones_are_the_default_and_wrong_costs_change_nothing(name):
    model, data = PLAIN[name]
    X, y = data()
    one = clone(model).set_params(random_state=0, tol=0.1).fit(X, y)
    for loss in (ONES, {}):
        other = clone(one).set_params(loss=loss).fit(X, y)
        assert other.primal_objective_ == pytest.approx(one.primal_objective_, rel=1e-9)
        assert other.lam_ == one.lam_
        for a, b in zip(one.decision_function(X), other.decision_function(X), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)
    before = {key: value for key, value in vars(one).items() if key.endswith("_")}
    a, b = one.classes_.tolist()[:2]
    for loss, error, message in (
        ({a: {b: -1}}, ValueError, f"loss[{a!r}][{b!r}] is -1, expected a finite number >= 0"),
        ({a: 2}, TypeError, f"loss[{a!r}] must be a dict of costs by predicted label, got int"),
        (np.ones((2, 2)), ValueError, "loss must have shape (3, 3)"),
        (None, ValueError, "The 'loss' parameter of"),
    ):
        with pytest.raises(error) as caught:
            one.set_params(loss=loss).fit(X, y)
        assert message in str(caught.value)
        assert {key: value for key, value in vars(one).items() if key.endswith("_")} == before


@pytest.mark.parametrize("name", ["chains", "trees", "any graphs", "rows"])
def test_other_names_and_orders_of_labels_change_nothing(name):
    model, data = PLAIN[name]
    X, y = data()
    names = np.array(["z", "x", "y"])
    if name == "rows":
        y = np.searchsorted(["a", "b", "c"], y)
    renamed = names[y] if name == "rows" else [names[labels] for labels in y]
    costs = {names[a]: {names[b]: TABLE[a, b] for b in range(3) if b != a} for a in range(3)}
    model = clone(model).set_params(lam=0.1, tol=1e-3, max_iter=10_000, solver="cutting_plane")
    one = clone(model).set_params(loss=TABLE).fit(X, y)
    other = clone(model).set_params(loss=costs).fit(X, renamed)
    np.testing.assert_allclose(
        other.coef_[np.searchsorted(other.classes_, names)], one.coef_, atol=0.05
    )
    assert other.primal_objective_ == pytest.approx(one.primal_objective_, rel=2e-3)


def test_costs_by_true_label_are_class_weights():
    """Also for solvers that need one cost for each token."""
    X, y = chains()
    factors = np.array([2.0, 1.0, 0.5])
    for solver in ("bcfw", "gdmm"):
        one = SequenceTagger(class_weight=dict(enumerate(factors)), solver=solver, random_state=0)
        other = SequenceTagger(loss=factors[:, None] * ONES, solver=solver, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            np.testing.assert_array_equal(one.fit(X, y).coef_, other.fit(X, y).coef_)


# ---- crossings ---------------------------------------------------------------------------

SOME = ["chains, costs", "trees, costs", "any graphs, costs", "rows, costs"]


@pytest.mark.parametrize("name", SOME)
def test_copies_files_and_searches(name):
    estimator, (X, y) = FITS[name].estimator, FITS[name].data()
    labels = ["a", "b", "c"] if name.startswith("rows") else [0, 1, 2]
    costs = {labels[0]: {labels[1]: 3.0}, labels[2]: {labels[0]: 0.5}}
    model = clone(estimator).set_params(loss=costs, random_state=0, tol=0.1)
    assert clone(model).get_params()["loss"] == costs
    model.fit(X, y)
    assert costs == {labels[0]: {labels[1]: 3.0}, labels[2]: {labels[0]: 0.5}}
    assert model.loss is costs and "loss" in repr(model)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.fit(X, y).coef_, model.coef_)
    grid = {"loss": [costs, {}]}  # a fold may lack a label
    search = GridSearchCV(clone(model), grid, cv=2, error_score="raise").fit(X, y)
    assert any(search.best_params_["loss"] is given for given in grid["loss"])
    # a fit that goes on knows them
    model.set_params(warm_start=True, solver="bcfw", loss=TABLE).fit(X, y)
    model.set_params(loss=TABLE + 0.5 * np.eye(3)[::-1] * ONES)
    with pytest.raises(ValueError, match="the costs of pairs|the loss of y"):
        model.fit(X, y)


@pytest.mark.parametrize("name", ["chains, costs", "trees, costs", "rows, costs"])
def test_parts_and_steps_know_all_labels(name):
    estimator, (X, y) = FITS[name].estimator, FITS[name].data()
    model = clone(estimator).set_params(tol=0.01, lam=0.1, solver="bcfw", random_state=0)
    whole = clone(model).fit(X, y)
    # parts of rows lack a class each
    order = np.argsort(y) if name.startswith("rows") else np.arange(len(y))
    cuts = np.array_split(order, 2)
    parts = [([X[i] for i in part], [y[i] for i in part]) for part in cuts]
    found = Distributed(clone(model)).fit(*zip(*parts, strict=True)).estimator_
    assert found.primal_objective_ == pytest.approx(whole.primal_objective_, rel=0.03)
    wrong = clone(model).set_params(loss=np.where(TABLE == 3, -3.0, TABLE))
    for fit in (
        lambda: Distributed(wrong).fit(*zip(*parts, strict=True)),
        lambda: wrong.partial_fit(X, y),
    ):
        with pytest.raises(ValueError, match=r"loss\[.*\]\[.*\] is -3, expected a finite"):
            fit()
    labels = ["a", "b", "c"] if name.startswith("rows") else [0, 1, 2]
    stepped = clone(model).partial_fit(*parts[0], classes=labels).partial_fit(*parts[1])
    assert stepped.coef_.shape == whole.coef_.shape


def test_labels_that_are_none_are_named():
    X, y = rows()
    model = StructSVMClassifier(random_state=0, tol=0.1)
    with pytest.warns(UserWarning, match=r"loss has keys that are no labels in y, 'A', 'B', and"):
        model.set_params(loss={"A": {"b": 3.0}, "c": {"B": 2.0}}).fit(X, y)
    # of a fold that lacks a label there is no complaint
    few = y != "b"
    model.set_params(loss={"a": {"b": 3.0, "c": 2.0}, "b": {"c": 2.0}}).fit(X[few], y[few])
