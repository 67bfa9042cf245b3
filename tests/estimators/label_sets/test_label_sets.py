"""MultilabelPairwise and HierarchicalMultilabel: what they minimise and predict."""

import numpy as np
import pytest
from helpers.objectives import bracket
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


def objective(model, X, Y, cost):
    """P(w) by enumeration of all sets."""
    sets = np.array(list(np.ndindex(*[2] * Y.shape[1])))
    k, j = model.edges_.T
    scores = X @ model.coef_.T + model.intercept_
    pairs, of_truth = ((y[:, k] * y[:, j]) @ model.pairwise_ for y in (sets, Y))
    loss = np.abs(sets[None] - Y[:, None]) @ cost
    hinge = (loss + scores @ sets.T + pairs).max(axis=1) - (scores * Y).sum(axis=1) - of_truth
    square = sum(np.sum(part**2) for part in (model.coef_, model.intercept_, model.pairwise_))
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
        assert model.primal_objective_ == pytest.approx(objective(model, X, Y, cost), rel=1e-9)
        assert model.certified_ and model.intercept_.any() == fit_intercept
        gap = model.primal_objective_ - model.dual_objective_
        assert model.dual_gap_ == pytest.approx(gap, abs=1e-12)
        assert model.dual_gap_ <= 0.02 * cost.sum()
        assert inference != "graphcut" or model.pairwise_.min() >= 0
    assert edges is not None or (model.inference_, model.pairwise_.shape) == ("independent", (0,))


def test_the_relaxed_objective_is_an_upper_bound():
    relaxed, exact = (
        MultilabelPairwise(lam=0.01, inference=inference, random_state=0).fit(X, Y)
        for inference in ("lp", "auto")
    )
    assert (relaxed.inference_, exact.inference_) == ("lp", "exhaustive")
    assert relaxed.certified_
    assert relaxed.primal_objective_ >= objective(relaxed, X, Y, np.ones(4)) - 1e-9
    assert exact.dual_objective_ <= relaxed.primal_objective_ + 1e-9


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


def many_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    return X, (X @ rng.normal(size=(6, 16)) + rng.normal(size=(40, 16)) > 0.8).astype(int)


def test_auto_of_relaxed_problems_is_dual_decomposed_training():
    X, Y = many_labels()
    auto, steps = (
        MultilabelPairwise(random_state=0, tol=1e-3, solver=solver).fit(X, Y)
        for solver in ("auto", "bcfw")
    )
    assert auto.inference_ == "lp" and isinstance(auto.solver_, GDMM)
    assert 0 <= auto.dual_gap_ <= 1.1e-3 * auto.primal_objective_
    bracket(auto, steps)
    # and what that cannot do is left to steps
    for params in (
        {"edges": "tree"}, {"edges": None}, {"inference": "graphcut"}, {"bounds": (-1.0, 1.0)},
        {"prior": np.zeros(7 * 16 + 120)}, {"warm_start": True}, {"rescaling": "slack"},
        {"steps": "fw"}, {"cache": False}, {"solver": BCFW()},
    ):  # fmt: skip
        model = MultilabelPairwise(random_state=0, tol=0.2, **params).fit(X, Y)
        assert isinstance(model.solver_, BCFW), params
    few = MultilabelPairwise(random_state=0, tol=0.2).fit(X, Y[:, :14])
    assert few.inference_ == "exhaustive" and isinstance(few.solver_, BCFW)


BAD = [
    ({"edges": [[0, 4]]}, {}, r"^edges\[0, 1\] is 4"),
    ({"inference": "tree"}, {}, "^inference='tree' needs edges without a cycle"),
    ({"label_weight": [1, 1]}, {}, r"^label_weight must be numbers of shape \(4,\)"),
    ({"label_weight": [1, -1, 1, 1]}, {}, r"^label_weight\[1\] is -1.0"),
    ({"label_weight": [0, 0, 0, 0]}, {}, "^label_weight is zero for all labels"),
    (
        {"bounds": {"pairwise": (-2, -1)}, "inference": "graphcut"}, {},
        "^bounds leave nothing of the model's own at weight 36",
    ),
    ({}, {"y": np.full((120, 4), 2)}, r"^y\[0, 0\] is 2, expected 0 or 1"),
    ({}, {"y": [("a", "b")] * 120}, r"^y\[0, 0\] is 'a', .*MultiLabelBinarizer"),
    ({"label_weight": [[1], [1, 2]]}, {}, "^label_weight is no array: its items have"),
    ({}, {"y": np.arange(120) % 3}, "Only binary classification is supported"),
    ({}, {"y": np.ones(120)}, "or have two classes, got 1 class"),
    ({}, {"y": np.linspace(0, 1, 120)}, "^Unknown label type: continuous"),
    ({}, {"y": np.zeros((120, 0))}, "y has no labels|0 feature"),
]  # fmt: skip


def test_bad_input_is_named_and_changes_nothing():
    model = MultilabelPairwise(tol=0.5, random_state=0).fit(X, Y)
    before, plain = dict(vars(model)), model.get_params()
    for params, given, message in BAD:
        with pytest.raises(ValueError, match=message):
            model.set_params(**params).fit(**{"X": X, "y": Y, **given})
        model.set_params(**plain)
        assert vars(model).keys() == before.keys()
        assert all(value is before[name] for name, value in vars(model).items())
    with pytest.raises(ValueError, match="^inference='exhaustive' .* y has 21; use 'lp'"):
        MultilabelPairwise(inference="exhaustive").fit(np.eye(30), np.eye(30, 21, dtype=int))


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


def rows_of_trees():
    """Rows that name the lowest labels only; features tell of all ancestors."""
    rng = np.random.default_rng(0)
    Y = (rng.integers(-1, 6, size=80)[:, None] == np.arange(6)).astype(int)
    full = Y.copy()
    for child in (4, 3, 2, 1):
        full[:, PARENTS[child]] |= full[:, child]
    return full @ rng.normal(size=(6, 5)) + 0.3 * rng.normal(size=(80, 5)), Y


@pytest.mark.parametrize("hierarchy", [PARENTS, DAG, None])
def test_objective_and_predictions_by_enumeration(hierarchy):
    X, Y = rows_of_trees()
    model = HierarchicalMultilabel(hierarchy, lam=0.05, random_state=0, standardize=False).fit(X, Y)
    sets = np.array(list(np.ndindex(*[2] * 6)))
    child, parent = model.hierarchy_.T
    sets = sets[(sets[:, child] <= sets[:, parent]).all(axis=1)]
    # the smallest closed set that holds a row's labels
    truth = np.array([sets[(sets >= y).all(axis=1)].min(axis=0) for y in Y])
    scores = X @ model.coef_.T + model.intercept_
    loss = np.abs(sets[None] - truth[:, None]).sum(axis=2)
    hinge = (loss + scores @ sets.T).max(axis=1) - (scores * truth).sum(axis=1)
    square = np.sum(model.coef_**2) + np.sum(model.intercept_**2)
    assert model.primal_objective_ == pytest.approx(0.025 * square + hinge.mean(), rel=1e-9)
    assert model.certified_ and model.dual_gap_ <= 0.01 * 6
    predicted, gains = model.predict(X), model.decision_function(X)
    np.testing.assert_array_equal(predicted, gains > 0)
    assert (predicted[:, None] == sets[None]).all(axis=2).any(axis=1).all()
    best = (scores @ sets.T).max(axis=1)
    np.testing.assert_allclose((scores * predicted).sum(axis=1), best, atol=1e-9)


def test_both_forms_of_a_tree_and_no_hierarchy():
    X, Y = rows_of_trees()
    edges = [[child, parent] for child, parent in enumerate(PARENTS) if parent >= 0]
    one, two = (HierarchicalMultilabel(h, random_state=0).fit(X, Y) for h in (PARENTS, edges))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.hierarchy_.tolist() == edges
    options = {"random_state": 0, "tol": 1e-4, "max_iter": 5000}
    flat = HierarchicalMultilabel(**options).fit(X, Y)
    independent = MultilabelPairwise(edges=None, **options).fit(X, Y)
    assert flat.lam_ == independent.lam_
    bracket(flat, independent)


def test_wrong_hierarchies_are_named():
    X, Y = rows_of_trees()
    for hierarchy, message in (
        ([-1, 0], "^hierarchy has the parents of 2 labels, but y has 6 labels"),
        ([1, 0, -1, -1, -1, -1], "^hierarchy: parents has a cycle: label 0 is its own ancestor"),
        ([[0, 6]], r"^hierarchy: edges\[0, 1\] is 6"),
        ("tree", "The 'hierarchy' parameter of HierarchicalMultilabel"),
    ):
        model = HierarchicalMultilabel(hierarchy)
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y)
        assert not hasattr(model, "coef_")
