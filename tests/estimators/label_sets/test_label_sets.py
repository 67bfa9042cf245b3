"""MultilabelPairwise and HierarchicalMultilabel minimise and predict what enumeration does."""

import copy
import itertools

import numpy as np
import pandas as pd
import pytest
from helpers.label_sets import leaves
from helpers.multilabel import all_sets
from helpers.objectives import bracket
from helpers.refusals import refused
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, hamming_loss
from sklearn.preprocessing import StandardScaler

from sskit import HierarchicalMultilabel, MultilabelPairwise, SlackRescaling
from sskit.solvers import BCFW, GDMM

X, Y = make_multilabel_classification(
    120, n_features=8, n_classes=4, n_labels=2, length=30, random_state=0
)
X = StandardScaler().fit_transform(X)


def objective(model, X, Y, cost, sets):
    """P(w) by enumeration of the sets."""
    k, j = getattr(model, "edges_", np.empty((0, 2), dtype=int)).T
    pairwise = getattr(model, "pairwise_", np.empty(0))
    scores = X @ model.coef_.T + model.intercept_
    pairs, of_truth = ((y[:, k] * y[:, j]) @ pairwise for y in (sets, Y))
    loss = np.abs(sets[None] - Y[:, None]) @ cost
    hinge = (loss + scores @ sets.T + pairs).max(axis=1) - (scores * Y).sum(axis=1) - of_truth
    square = sum(np.sum(part**2) for part in (model.coef_, model.intercept_, pairwise))
    return 0.5 * model.lam_ * square + hinge.mean()


CASES = [
    ("full", "exhaustive"), ("full", "graphcut"), ("tree", "tree"), ("tree", "exhaustive"),
    ([[0, 3]], "auto"), (None, "auto"),
]  # fmt: skip


@pytest.mark.parametrize(("edges", "inference"), CASES)
def test_the_objective_is_what_the_docstring_says(edges, inference):
    weight = [1.0, 2.0, 0.0, 1.0]
    given = {"edges": edges, "inference": inference, "label_weight": weight, "random_state": 0}
    for loss, fit_intercept in (("hamming", True), ("hamming_sum", False)):
        model = MultilabelPairwise(loss=loss, fit_intercept=fit_intercept, **given).fit(X, Y)
        cost = np.array(weight) / (4 if loss == "hamming" else 1)
        expected = objective(model, X, Y, cost, all_sets(4))
        assert model.primal_objective_ == pytest.approx(expected, rel=1e-9)
        assert model.certified_ and model.intercept_.any() == fit_intercept
        gap = model.primal_objective_ - model.dual_objective_
        assert model.dual_gap_ == pytest.approx(gap, abs=1e-12)
        assert model.dual_gap_ <= 0.02 * cost.sum()
        assert inference != "graphcut" or model.pairwise_.min() >= 0
    assert edges is not None or (model.inference_, model.pairwise_.shape) == ("independent", (0,))


def test_of_many_labels_the_strongest_pairs_have_weights():
    """Ten for each label, of what goes together in the training rows, by their weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    Y = (X @ rng.normal(size=(5, 24)) + rng.normal(size=(60, 24)) > 1).astype(int)
    Y[:30, :2] = 1
    given, weight = {"tol": 0.1, "random_state": 0}, np.repeat([0.0, 1.0], 30)
    model = MultilabelPairwise(**given).fit(X, Y, weight)
    assert model.edges_.shape == (240, 2) and model.inference_ == "lp"
    explicit = MultilabelPairwise(edges=model.edges_, **given).fit(X, Y, weight)
    np.testing.assert_array_equal(model.coef_, explicit.coef_)
    half = MultilabelPairwise(**given).fit(X[30:], Y[30:])
    np.testing.assert_array_equal(model.edges_, half.edges_)
    assert not np.array_equal(MultilabelPairwise(**given).fit(X, Y).edges_, half.edges_)
    few = MultilabelPairwise(**given).fit(X, Y[:, :6])
    assert few.edges_.tolist() == [list(pair) for pair in itertools.combinations(range(6), 2)]


def test_scales_of_features_and_loss_cancel():
    raw = {"edges": None, "fit_intercept": False, "standardize": False, "random_state": 0}
    one = MultilabelPairwise(**raw).fit(X, Y)
    other = MultilabelPairwise(loss="hamming", **raw).fit(64.0 * X, Y)
    np.testing.assert_allclose(other.coef_ * 64.0 * 4.0, one.coef_, rtol=1e-9)
    assert other.lam_ == pytest.approx(64.0**2 * 4.0 * one.lam_)


@pytest.mark.parametrize("edges", ["full", "tree", None])
def test_decisions_and_predictions(edges):
    model = MultilabelPairwise(edges=edges, random_state=0).fit(X, Y)
    predicted, gains = model.predict(X), model.decision_function(X)
    assert predicted.dtype == int and predicted.shape == gains.shape == Y.shape
    np.testing.assert_array_equal(predicted, gains > 0)
    (k, j), table = model.edges_.T, np.zeros((4, 4))
    table[k, j] = table[j, k] = model.pairwise_
    expected = X @ model.coef_.T + model.intercept_ + predicted @ table
    np.testing.assert_allclose(gains, expected, atol=1e-12)
    assert model.score(X, Y) == accuracy_score(Y, predicted)
    assert hamming_loss(Y, predicted) < 0.3
    # labels that always or never occur
    same = np.column_stack([Y[:, :2], np.zeros(120, int), np.ones(120, int)])
    predicted = model.fit(X, same).predict(X)
    assert not predicted[:, 2].any() and predicted[:, 3].mean() > 0.95


def test_two_classes_are_one_label():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.1 * rng.normal(size=60) > 0, "yes", "no")
    model = MultilabelPairwise(random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"] and model.coef_.shape == (1, 3)
    gains = model.decision_function(X)
    assert gains.shape == (60,) and model.score(X, y) > 0.9
    np.testing.assert_array_equal(model.predict(X) == "yes", gains > 0)
    column = MultilabelPairwise(random_state=0).fit(X, (y == "yes")[:, None])
    np.testing.assert_array_equal(column.coef_, model.coef_)
    assert column.predict(X).shape == (60, 1)


def test_auto_of_relaxed_problems_is_dual_decomposed_training_of_many_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    Y = (X @ rng.normal(size=(6, 33)) + rng.normal(size=(40, 33)) > 0.8).astype(int)
    auto, steps = (
        MultilabelPairwise(random_state=0, tol=1e-2, solver=solver).fit(X, Y)
        for solver in ("auto", "bcfw")
    )
    assert auto.inference_ == "lp" and isinstance(auto.solver_, GDMM)
    assert 0 <= auto.dual_gap_ <= 1.1e-2 * auto.primal_objective_
    bracket(auto, steps)
    # and what that cannot do is left to steps
    for params in (
        {"edges": "tree"}, {"edges": None}, {"inference": "graphcut"}, {"bounds": (-1.0, 1.0)},
        {"prior": np.zeros(7 * 33 + 330)}, {"warm_start": True}, {"rescaling": "slack"},
        {"steps": "fw"}, {"cache": False}, {"solver": BCFW()},
    ):  # fmt: skip
        model = MultilabelPairwise(random_state=0, tol=0.3, **params).fit(X, Y)
        assert isinstance(model.solver_, BCFW), params
    for n_labels, inference in ((32, "lp"), (15, "lp"), (14, "exhaustive")):
        few = MultilabelPairwise(random_state=0, tol=0.3).fit(X, Y[:, :n_labels])
        assert few.inference_ == inference and isinstance(few.solver_, BCFW)
        assert few.solver_.sampling == "permutation" and not few.solver_.cache
        assert few.certified_


BAD = [
    ({"edges": [[0, 4]]}, Y, r"^edges\[0, 1\] is 4"),
    ({"inference": "tree"}, Y, "^inference='tree' needs edges without a cycle"),
    ({"label_weight": [1, 1]}, Y, r"^label_weight must be numbers of shape \(4,\)"),
    ({"label_weight": [1, -1, 1, 1]}, Y, r"^label_weight\[1\] is -1.0"),
    ({"label_weight": [0, 0, 0, 0]}, Y, "^label_weight is zero for all labels"),
    ({"label_weight": [[1], [1, 2]]}, Y, "^label_weight is no array: its items have"),
    ({"bounds": {"pairwise": (-2, -1)}, "inference": "graphcut"}, Y,
     "^bounds leave nothing of the model's own at weight 36"),
    ({}, np.full((120, 4), 2), r"^y\[0, 0\] is 2, expected 0 or 1"),
    ({}, [("a", "b")] * 120, r"^y\[0, 0\] is 'a', .*MultiLabelBinarizer"),
    ({}, np.arange(120) % 3, "Only binary classification is supported"),
    ({}, np.ones(120), "or have two classes, got 1 class"),
    ({}, np.linspace(0, 1, 120), "^Unknown label type: continuous"),
]  # fmt: skip


def test_bad_input_is_named_and_changes_nothing():
    model = MultilabelPairwise(tol=0.5, random_state=0).fit(X, Y)
    for params, y, message in BAD:
        changed = copy.copy(model).set_params(**params)
        with refused(changed, ValueError, message):
            changed.fit(X, y)


def test_slack_rescaling_of_the_relaxation():
    options = {"max_iter": 50, "tol": 0.0, "random_state": 0}
    model = MultilabelPairwise(0.2, rescaling="slack", inference="lp", **options)
    with pytest.warns(ConvergenceWarning):
        model.fit(X[:20], Y[:20])
    assert model.certified_
    assert 0 <= model.history_["inexactness"][-1] <= model.dual_gap_ < Y.shape[1]
    with pytest.raises(ValueError, match="search='angular' needs a constrained oracle"):
        model.set_params(rescaling=SlackRescaling("angular")).fit(X[:20], Y[:20])


# ---- hierarchies -------------------------------------------------------------------------------

PARENTS = [-1, 0, 0, 1, 1, -1]
DAG = [[1, 0], [2, 0], [3, 1], [3, 2], [4, 1]]


@pytest.mark.parametrize("hierarchy", [PARENTS, DAG, None])
def test_objective_and_predictions_by_enumeration(hierarchy):
    X, Y, _ = leaves(PARENTS, 80)
    model = HierarchicalMultilabel(hierarchy, lam=0.05, random_state=0, standardize=False).fit(X, Y)
    child, parent = model.hierarchy_.T
    sets = all_sets(6, lambda y: (y[child] <= y[parent]).all())
    # the smallest closed set that holds a row's labels
    truth = np.array([sets[(sets >= y).all(axis=1)].min(axis=0) for y in Y])
    expected = objective(model, X, truth, np.ones(6), sets)
    assert model.primal_objective_ == pytest.approx(expected, rel=1e-9)
    assert model.certified_ and model.dual_gap_ <= 0.01 * 6
    predicted, gains = model.predict(X), model.decision_function(X)
    np.testing.assert_array_equal(predicted, gains > 0)
    assert (predicted[:, None] == sets[None]).all(axis=2).any(axis=1).all()
    scores = X @ model.coef_.T + model.intercept_
    best = (scores @ sets.T).max(axis=1)
    np.testing.assert_allclose((scores * predicted).sum(axis=1), best, atol=1e-9)


def test_both_forms_of_a_tree_are_the_same():
    X, Y, _ = leaves(PARENTS, 80)
    edges = [[child, parent] for child, parent in enumerate(PARENTS) if parent >= 0]
    one, two = (HierarchicalMultilabel(h, random_state=0).fit(X, Y) for h in (PARENTS, edges))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.hierarchy_.tolist() == edges
    flat = HierarchicalMultilabel(tol=0.5).fit(X, Y)
    assert flat.lam_ == MultilabelPairwise(edges=None, tol=0.5).fit(X, Y).lam_


# ---- what is known of labels ---------------------------------------------------------------

SETS = all_sets(4)
CLOSED = all_sets(4, lambda y: (y[[1, 2, 3]] <= y[[0, 0, 1]]).all())
MODELS = {
    "full": MultilabelPairwise(lam=0.03, random_state=0),
    "tree": MultilabelPairwise(edges="tree", lam=0.003, tol=1e-3, random_state=0),
    "none": MultilabelPairwise(edges=None, lam=0.03, random_state=0),
    "hierarchy": HierarchicalMultilabel([-1, 0, 0, 1], random_state=0),
}


def some_known(Y):
    """Some true labels of each row, as lists; of some rows nothing, or all."""
    known = np.where(np.random.default_rng(0).random(Y.shape) < 0.6, None, Y).tolist()
    known[0], known[1], known[2] = None, [None] * 4, Y[2].tolist()
    return known


@pytest.mark.parametrize("name", MODELS)
def test_the_best_of_the_sets_that_agree(name):
    model, sets, truth = clone(MODELS[name]).fit(X, Y), SETS, Y.copy()
    if name == "hierarchy":
        sets = CLOSED
        truth[:, 1] |= truth[:, 3]
        truth[:, 0] |= truth[:, 1] | truth[:, 2]
    known, alone = some_known(truth), model.predict(X)
    found, scores = model.predict(X, known=known), X @ model.coef_.T + model.intercept_
    a, b = getattr(model, "edges_", np.empty((0, 2), dtype=int)).T
    pairwise = getattr(model, "pairwise_", np.empty(0))
    rows = [row or [None] * 4 for row in known]
    for y, row, given in zip(found, scores, rows, strict=True):
        agree = [k is None or sets[:, j] == k for j, k in enumerate(given)]
        possible = sets[np.logical_and.reduce(np.broadcast_arrays(*agree, sets[:, 0] >= 0))]
        values = possible @ row + (possible[:, a] * possible[:, b]) @ pairwise
        np.testing.assert_array_equal(y, possible[values.argmax()])
    np.testing.assert_array_equal(found[:2], alone[:2])
    free = np.array([[k is None for k in row] for row in rows])
    # what is known spreads to the other labels, unless they are independent
    assert (found != alone)[free].any() == (name != "none")
    if name == "hierarchy":
        return
    gains = model.decision_function(X, known=known)
    np.testing.assert_array_equal((gains > 0)[free], found[free] == 1)
    without, added = found.copy(), np.zeros(4, dtype=int)
    without[:, 2], added[2] = 0, 1
    pairs = [(y[:, a] * y[:, b]) @ pairwise for y in (without + added, without)]
    np.testing.assert_allclose(gains[:, 2], scores[:, 2] + pairs[0] - pairs[1], atol=1e-9)


def test_forms_of_known_labels():
    model = MultilabelPairwise(random_state=0).fit(X, Y)
    rows = [[1, None, 0, None], [None] * 4, [0, 1, None, None]]
    expected, numbers = model.predict(X[:3], known=rows), np.array(rows, dtype=float)
    for known in (
        [rows[0], None, tuple(rows[2])],
        [[True, None, False, None], None, np.array([0.0, 1.0, np.nan, np.nan])],
        numbers,
        np.array(rows, dtype=object),
        pd.DataFrame(rows),
        pd.DataFrame(numbers),
        pd.DataFrame(rows, dtype="Int64"),
    ):
        np.testing.assert_array_equal(model.predict(X[:3], known=known), expected)
    model.fit(X, pd.DataFrame(Y, columns=list("abcd")))
    known = pd.DataFrame(rows, columns=list("abcd"))
    found = model.predict(X[:3], known=known)
    assert found.columns.tolist() == list("abcd")
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="^the columns of known are 'd', .* of fit are 'a', 'b'"):
        model.predict(X[:3], known=known[list("dcba")])
    # two classes are one label
    model.fit(X, np.where(Y[:, 0], "yes", "no"))
    alone, known = model.predict(X[:4]), [[1], [0], None, [None]]
    assert model.predict(X[:4], known=known).tolist() == ["yes", "no", *alone[2:]]
    gains = [model.decision_function(X[:4], known=given) for given in (None, known)]
    np.testing.assert_array_equal(*gains)


def test_wrong_known_labels_are_named():
    pairs, closed = (clone(MODELS[name]).fit(X, Y) for name in ("none", "hierarchy"))
    for model, known, error, message in (
        (pairs, [None, [1, 2, 0, 0], None], ValueError, r"^known\[1\]\[1\] has 2, .* such as 0, 1"),
        (pairs, [None, [1], None], ValueError, r"^X\[1\] has 4 rows but known\[1\] has 1 labels"),
        (pairs, 5, TypeError, "^known must be a list with one item per sample"),
        (pairs, np.zeros((3, 4, 1)), ValueError, r"^known\[0\] must be a sequence of labels"),
        (pairs, np.full((3, 4), 0.5), ValueError, r"^known\[0\]\[0\] has 0.5, which is no label"),
        (closed, [None, [0, None, None, 1], None], ValueError,
         r"^known\[1\] has label 3, but not label 0, an ance"),
    ):  # fmt: skip
        for method in (model.predict, model.decision_function):
            with pytest.raises(error, match=message):
                method(X[:3], known=known)
