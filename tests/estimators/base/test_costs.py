"""Losses by costs of pairs of labels, in each family, against enumeration."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
from helpers.fits import FITS, PAIRS, chains, edged_chains, graphs, rows, trees
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from sskit import (
    GraphTagger,
    RegularizationPath,
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.dask import Distributed
from sskit.solvers import GDMM

TABLE = PAIRS["loss"]
ONES = 1.0 - np.eye(3)
RAW = {"standardize": False}


def labelled(labels):
    """Sums of scores of nodes by features, of all labellings (n, T)."""
    return lambda model, x: (x @ model.coef_.T)[np.arange(len(x)), labels].sum(axis=1)


def scores(model, item, labels):
    """Scores of labellings (n, T)."""
    x, *rest = item if isinstance(item, tuple) else (item,)
    total = labelled(labels)(model, x)
    if isinstance(model, SequenceTagger):
        total = total + model.start_[labels[:, 0]] + model.end_[labels[:, -1]]
        pairs = labels[:, :-1], labels[:, 1:]
        total = total + model.transitions_[pairs].sum(axis=1)
        if rest:
            tables = np.einsum("ej,jab->eab", rest[0].toarray(), model.edge_coef_)
            total = total + tables[(np.arange(len(x) - 1), *pairs)].sum(axis=1)
        if hasattr(model, "triples_"):
            triples = labels[:, :-2], labels[:, 1:-1], labels[:, 2:]
            total = total + model.triples_[triples].sum(axis=1)
        return total
    if isinstance(model, TreeTagger):
        (parents,) = rest
        roots, leaves = parents < 0, ~np.isin(np.arange(len(x)), parents)
        total = total + model.root_[labels[:, roots]].sum(axis=1)
        total = total + model.leaf_[labels[:, leaves]].sum(axis=1)
        pairs = labels[:, parents[~roots]], labels[:, ~roots]
        return total + model.transitions_[pairs].sum(axis=1)
    edges, features = rest
    first, second = labels[:, edges[:, 0]], labels[:, edges[:, 1]]
    for e, z in enumerate(features):
        w = np.tensordot(z, model.pairwise_, axes=1)
        equal = first[:, e] == second[:, e]
        total = total + (w * equal if np.ndim(w) == 0 else w[first[:, e], second[:, e]])
    return total


def objective(model, X, losses, possible=None, weight=None):
    """P(w) by enumeration of labellings, with losses (T, K) of labels and what may be true."""
    hinges = []
    names = "coef_", "transitions_", "start_", "end_", "triples_", "edge_coef_", "root_", "leaf_"
    names += ("pairwise_",)
    for i, item in enumerate(X):
        T, K = losses[i].shape
        labels = np.array(list(itertools.product(range(K), repeat=T)))
        found = scores(model, item, labels)
        loss = losses[i][np.arange(T), labels].sum(axis=1)
        right = (losses[i] == 0) if possible is None else possible[i]
        true = right[np.arange(T), labels].all(axis=1)
        hinges.append((loss + found).max() - found[true].max())
    squares = sum((getattr(model, name) ** 2).sum() for name in names if hasattr(model, name))
    return model.lam_ / 2 * squares + np.average(hinges, weights=weight)


def truth_of(y, table=TABLE):
    """Losses (T, K) of labellings of each sample, and where labels are true."""
    return [table[labels] for labels in y], [np.eye(len(table), dtype=bool)[labels] for labels in y]


FAMILIES = {
    "chains": (SequenceTagger(), chains),
    "second order": (SequenceTagger(order=2), chains),
    "edges": (SequenceTagger(), edged_chains),
    "trees": (TreeTagger(), trees),
    "any graphs": (GraphTagger(), graphs(3)),
    "attractive tables": (
        SegmentationModel(inference="elimination"),
        graphs(3),
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_is_that_of_enumeration(name, weighted):
    model, data = FAMILIES[name]
    X, y = data()
    weight = np.arange(len(y)) % 3 + 0.5 if weighted else None
    model = clone(model).set_params(loss=TABLE, lam=0.05, tol=0.01, random_state=0)
    model.fit(X, y, sample_weight=weight)
    found = objective(model, X, *truth_of(y), weight)
    assert model.certified_
    assert model.primal_objective_ == pytest.approx(found, rel=1e-9)
    # weights of other costs are worse by these
    plain = clone(model).set_params(loss="hamming_sum").fit(X, y, sample_weight=weight)
    assert objective(plain, X, *truth_of(y), weight) > model.dual_objective_


@pytest.mark.parametrize("n_labels", [2, 3])
def test_expansions_and_cuts_take_costs_too(n_labels):
    X, y = graphs(n_labels)()
    table = TABLE[:n_labels, :n_labels]
    model = SegmentationModel(loss=table, lam=0.05, tol=0.01, random_state=0).fit(X, y)
    found = objective(model, X, *truth_of(y, table))
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
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_of_rows(steps, weighted):
    X, y = rows()
    weight = np.arange(len(y)) % 3 + 0.5 if weighted else None
    given = {"loss": TABLE, "lam": 0.05, "tol": 1e-3, "random_state": 0, **RAW}
    model = StructSVMClassifier(steps=steps, **given).fit(X, y, sample_weight=weight)
    assert model.primal_objective_ == pytest.approx(
        enumerated_rows(model, X, y, TABLE, weight), rel=1e-9
    )
    other = StructSVMClassifier(solver="cutting_plane", **given).fit(X, y, sample_weight=weight)
    assert other.primal_objective_ == pytest.approx(model.primal_objective_, rel=3e-3)


def test_slack_rescaling_of_rows_is_exact():
    X, y = rows()
    model = StructSVMClassifier(
        loss=TABLE, rescaling="slack", lam=0.05, tol=1e-3, random_state=0, **RAW
    ).fit(X, y)
    found, codes = X @ model.coef_.T + model.intercept_, np.searchsorted(model.classes_, y)
    hinges = [(TABLE[a] * (1 + row - row[a])).max() for a, row in zip(codes, found, strict=True)]
    squares = (model.coef_**2).sum() + (model.intercept_**2).sum()
    primal = model.lam_ / 2 * squares + np.mean(hinges)
    assert model.certified_ and model.primal_objective_ == pytest.approx(primal, rel=1e-9)


def test_wrong_components_of_the_right_class_cost_nothing():
    X, y = rows(48)
    model = StructSVMClassifier(
        n_components={"a": 2, "c": 2}, loss=TABLE, lam=0.05, tol=1e-3, random_state=0, **RAW
    ).fit(X, y)
    assert model.round_objectives_[-1] == pytest.approx(
        enumerated_rows(model, X, y, TABLE), rel=1e-9
    )
    assert (np.diff(model.round_objectives_) <= 0).all()


def concealed(y):
    """Labels of which some are not known, others one of two."""
    return [
        [-1 if t % 4 == 1 else {int(k), (int(k) + 1) % 3} if t % 4 == 2 else int(k)
         for t, k in enumerate(labels)]
        for labels in y
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["chains", "edges", "trees"])
def test_of_several_right_labels_the_least_cost_counts(name):
    model, data = FAMILIES[name]
    X, y = data()
    y = concealed(y)
    losses, possible = [], []
    for labels in y:
        sets = [set(range(3)) if k == -1 else k if isinstance(k, set) else {k} for k in labels]
        right = np.array([[k in some for k in range(3)] for some in sets])
        costs = [np.min(TABLE[list(some)], axis=0) for some in sets]
        losses.append(np.where(right, 0.0, costs))
        possible.append(right)
    model = clone(model).set_params(loss=TABLE, ignore_label=-1, lam=0.05, tol=0.01, random_state=0)
    model.fit(X, y)
    assert model.round_objectives_[-1] == pytest.approx(
        objective(model, X, losses, possible), rel=1e-9
    )


def test_hidden_states_cost_what_their_labels_do():
    X, y = chains()
    model = SequenceTagger(
        n_states_per_label={0: 2}, loss=TABLE, lam=0.05, tol=0.01, random_state=0
    ).fit(X, y)
    owner = np.array([0, 0, 1, 2])
    losses = [TABLE[labels][:, owner] for labels in y]
    possible = [labels[:, None] == owner for labels in y]
    assert model.round_objectives_[-1] == pytest.approx(
        objective(model, X, losses, possible), rel=1e-9
    )


# ---- equivalences ------------------------------------------------------------------------

PLAIN = {
    "chains": FAMILIES["chains"],
    "trees": FAMILIES["trees"],
    "any graphs": FAMILIES["any graphs"],
    "graphs": (SegmentationModel(), graphs(3)),
    "rows": (StructSVMClassifier(), rows),
    "kernel": (StructSVMClassifier(kernel="rbf"), rows),
    "kernel of chains": (SequenceTagger(kernel="rbf"), chains),
}


@pytest.mark.parametrize("name", PLAIN)
def test_ones_are_the_default(name):
    model, data = PLAIN[name]
    X, y = data()
    one = clone(model).set_params(random_state=0, tol=0.1).fit(X, y)
    for loss in (ONES, {}):
        other = clone(one).set_params(loss=loss).fit(X, y)
        assert other.primal_objective_ == pytest.approx(one.primal_objective_, rel=1e-9)
        assert other.lam_ == one.lam_
        for a, b in zip(one.decision_function(X), other.decision_function(X), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


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


@pytest.mark.parametrize("name", ["chains", "trees"])
def test_weights_of_classes_and_tokens_multiply_costs(name):
    model, data = FAMILIES[name]
    X, y = data()
    rng = np.random.default_rng(1)
    token_weight = [rng.uniform(size=len(labels)) for labels in y]
    factors = np.array([2.0, 1.0, 0.5])
    model = clone(model).set_params(loss=TABLE, lam=0.05, tol=0.01, random_state=0)
    model.set_params(class_weight=dict(enumerate(factors)))
    model.fit(X, y, token_weight=token_weight)
    losses, possible = truth_of(y, factors[:, None] * TABLE)
    losses = [w[:, None] * loss for w, loss in zip(token_weight, losses, strict=True)]
    assert model.primal_objective_ == pytest.approx(objective(model, X, losses, possible), rel=1e-9)


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
def test_copies_files_threads_and_searches(name):
    estimator, (X, y) = FITS[name].estimator, FITS[name].data()
    labels = ["a", "b", "c"] if name.startswith("rows") else [0, 1, 2]
    costs = {labels[0]: {labels[1]: 3.0}, labels[2]: {labels[0]: 0.5}}
    model = clone(estimator).set_params(loss=costs, random_state=0, tol=0.1)
    assert clone(model).get_params()["loss"] == costs
    model.fit(X, y)
    assert costs == {labels[0]: {labels[1]: 3.0}, labels[2]: {labels[0]: 0.5}}
    assert model.loss is costs
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.fit(X, y).coef_, model.coef_)
    threads = clone(model).set_params(n_jobs=2).fit(X, y)
    assert threads.primal_objective_ == pytest.approx(model.primal_objective_, rel=0.1)
    grid = {"loss": [costs, {}]}  # a fold may lack a label
    search = GridSearchCV(clone(model), grid, cv=2, error_score="raise").fit(X, y)
    assert any(search.best_params_["loss"] is given for given in grid["loss"])
    assert "loss" in repr(model)


@pytest.mark.parametrize("name", SOME)
def test_warm_starts_know_costs(name):
    estimator, (X, y) = FITS[name].estimator, FITS[name].data()
    model = clone(estimator).set_params(warm_start=True, tol=0.3, random_state=0, solver="bcfw")
    model.fit(X, y)
    model.set_params(tol=0.01).fit(X, y)
    cold = clone(model).fit(X, y)
    assert model.primal_objective_ == pytest.approx(cold.primal_objective_, rel=0.03)
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


@pytest.mark.parametrize("name", ["chains, costs", "rows, costs"])
def test_paths_have_costs(name):
    estimator, (X, y) = FITS[name].estimator, FITS[name].data()
    estimator = clone(estimator).set_params(random_state=0, tol=0.01)
    found = RegularizationPath(estimator, lam_min=0.05).fit(X, y).estimator_at(0.1)
    cold = clone(estimator).set_params(lam=0.1).fit(X, y)
    if name.startswith("rows"):
        values = [enumerated_rows(model, X, y, TABLE) for model in (found, cold)]
    else:
        values = [objective(model, X, *truth_of(y)) for model in (found, cold)]
    assert values[0] == pytest.approx(values[1], rel=0.1)  # between two models of the path


# ---- what is refused ---------------------------------------------------------------------

ALL = {**PLAIN, "attractive tables": FAMILIES["attractive tables"]}


@pytest.mark.parametrize("name", ALL)
def test_wrong_costs_are_refused_and_change_nothing(name):
    model, data = ALL[name]
    X, y = data()
    model = clone(model).set_params(random_state=0, tol=0.1).fit(X, y)
    before = {key: value for key, value in vars(model).items() if key.endswith("_")}
    a, b = model.classes_.tolist()[:2]
    for loss, error, message in (
        ({a: {b: -1}}, ValueError, f"loss[{a!r}][{b!r}] is -1, expected a finite number >= 0"),
        ({a: 2}, TypeError, f"loss[{a!r}] must be a dict of costs by predicted label, got int"),
        (np.ones((3, 3)), ValueError, f"loss[{a!r}][{a!r}] is 1, expected 0"),
        (np.ones((2, 2)), ValueError, "loss must have shape (3, 3)"),
        ("squared", ValueError, "The 'loss' parameter of"),
        (None, ValueError, "The 'loss' parameter of"),
    ):
        with pytest.raises(error) as caught:
            model.set_params(loss=loss).fit(X, y)
        assert message in str(caught.value)
        assert {key: value for key, value in vars(model).items() if key.endswith("_")} == before


def test_labels_that_are_none_are_named():
    X, y = rows()
    model = StructSVMClassifier(random_state=0, tol=0.1)
    with pytest.warns(UserWarning, match=r"loss has keys that are no labels in y, 'A', 'B', and"):
        model.set_params(loss={"A": {"b": 3.0}, "c": {"B": 2.0}}).fit(X, y)
    # of a fold that lacks a label nobody complains
    few = y != "b"
    model.set_params(loss={"a": {"b": 3.0, "c": 2.0}, "b": {"c": 2.0}}).fit(X[few], y[few])


def test_solvers_that_need_one_cost_say_so():
    X, y = chains()
    for solver in ("gdmm", "soft_bcfw", GDMM()):
        with pytest.raises(ValueError, match="it takes one cost for each token"):
            SequenceTagger(loss=TABLE, solver=solver).fit(X, y)
