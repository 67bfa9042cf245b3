"""MultilabelPairwise: what it minimises and predicts, forms of Y, fitted attributes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, hamming_loss
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sskit import MultilabelPairwise, SlackRescaling
from sskit.estimators.label_sets import default_lam
from sskit.inputs.stacking import FeatureScale
from sskit.models.features import squared_norms
from sskit.solvers import BCFW, GDMM


@pytest.fixture(scope="module")
def data():
    given = {"n_features": 8, "n_classes": 4, "n_labels": 2, "length": 30, "random_state": 0}
    X, Y = make_multilabel_classification(120, **given)
    return StandardScaler().fit_transform(X), Y


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_without_edges_it_is_independent_support_vector_machines(data, fit_intercept):
    X, Y = data
    given = {"fit_intercept": fit_intercept, "random_state": 0}
    ours = MultilabelPairwise(0.05, edges=None, tol=1e-5, max_iter=5000, **given).fit(X, Y)
    # one wrong label costs one: max_y |y - t| + (y - t) score = max(0, 1 - target * score)
    theirs = OneVsRestClassifier(
        LinearSVC(C=1 / (0.05 * len(X)), loss="hinge", tol=1e-6, max_iter=1_000_000, **given)
    ).fit(X, Y)
    total = 0.0
    for j, svm in enumerate(theirs.estimators_):
        constant = np.ravel(svm.intercept_) if fit_intercept else np.zeros(1)
        found, best = (
            0.025 * w @ w + np.maximum(0, 1 - (2 * Y[:, j] - 1) * (X @ w[:-1] + w[-1])).mean()
            for w in (np.append(ours.coef_[j], ours.intercept_[j]), np.append(svm.coef_, constant))
        )
        assert found == pytest.approx(best, abs=1e-4)
        total += found
    assert total == pytest.approx(ours.primal_objective_, abs=1e-10)
    assert ours.inference_ == "independent" and ours.pairwise_.shape == (0,)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.995


def objective(model, X, Y, cost):
    """P(w) by enumeration of all sets."""
    n_labels = Y.shape[1]
    sets = np.array(list(np.ndindex(*[2] * n_labels)))
    k, j = model.edges_.T
    scores = X @ model.coef_.T + model.intercept_

    def pairs(y):
        return (y[:, k] * y[:, j]) @ model.pairwise_

    truth = (scores * Y).sum(axis=1) + pairs(Y)
    loss = np.abs(sets[None] - Y[:, None]) @ cost
    hinge = (loss + scores @ sets.T + pairs(sets)[None]).max(axis=1) - truth
    square = sum(np.sum(part**2) for part in (model.coef_, model.intercept_, model.pairwise_))
    return 0.5 * model.lam_ * square + hinge.mean()


@pytest.mark.parametrize(
    ("edges", "inference"),
    [("full", "exhaustive"), ("full", "graphcut"), ("tree", "tree"), ("tree", "exhaustive"),
     ([[0, 3]], "auto"), (None, "auto")],
)  # fmt: skip
def test_the_objective_is_what_the_docstring_says(data, edges, inference):
    X, Y = data
    weight = [1.0, 2.0, 0.0, 1.0]
    given = {"edges": edges, "inference": inference, "label_weight": weight, "random_state": 0}
    for loss in ("hamming", "hamming_sum"):
        model = MultilabelPairwise(loss=loss, **given).fit(X, Y)
        cost = np.array(weight) / (4 if loss == "hamming" else 1)
        assert model.primal_objective_ == pytest.approx(objective(model, X, Y, cost), rel=1e-9)
        assert model.certified_
        gap = model.primal_objective_ - model.dual_objective_
        assert model.dual_gap_ == pytest.approx(gap, abs=1e-12)
        assert model.dual_gap_ <= 0.02 * cost.sum()
        assert inference != "graphcut" or model.pairwise_.min() >= 0


def test_the_relaxed_objective_is_an_upper_bound(data):
    X, Y = data
    model = MultilabelPairwise(lam=0.01, inference="lp", random_state=0).fit(X, Y)
    assert model.inference_ == "lp" and model.certified_
    assert model.primal_objective_ >= objective(model, X, Y, np.ones(4)) - 1e-9
    exact = MultilabelPairwise(lam=0.01, random_state=0).fit(X, Y)
    assert exact.inference_ == "exhaustive"
    assert exact.dual_objective_ <= model.primal_objective_ + 1e-9


def test_scales_of_features_and_loss_cancel(data):
    X, Y = data
    raw = {"edges": None, "fit_intercept": False, "standardize": False, "random_state": 0}
    one = MultilabelPairwise(**raw).fit(X, Y)
    other = MultilabelPairwise(loss="hamming", **raw).fit(64.0 * X, Y)
    np.testing.assert_allclose(other.coef_ * 64.0 * 4.0, one.coef_, rtol=1e-9)
    assert other.lam_ == pytest.approx(64.0**2 * 4.0 * one.lam_)


def test_default_lam():
    def lam_of(X, weight=None, cost=1.0):
        return default_lam(FeatureScale.of(squared_norms(X), weight), np.full(3, cost))

    X, unit = np.array([[3.0, 4.0], [0.0, 0.0]]), lam_of(np.eye(2))
    for form in (np.asarray, sp.csr_array):
        assert lam_of(form(X)) == pytest.approx(12.5 * unit)
    assert lam_of(X, np.array([3.0, 1.0])) == pytest.approx(18.75 * unit / 2)
    assert lam_of(X, cost=0.5) == pytest.approx(25.0 * unit)
    assert lam_of(0 * X) == 0.5
    with pytest.raises(ValueError, match="features in X are too large"):
        lam_of(np.full((2, 2), 1e200))


@pytest.mark.parametrize("edges", ["full", "tree", None])
def test_decisions_and_predictions(data, edges):
    X, Y = data
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
    Y = np.column_stack([Y[:, :2], np.zeros(len(Y), int), np.ones(len(Y), int)])
    predicted = model.fit(X, Y).predict(X)
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


def test_pairs_are_learnt():
    # the second label is there if and only if the first is, which features do not tell
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=200)
    X = np.column_stack([2.0 * y - 1.0 + 0.2 * rng.normal(size=200), rng.normal(size=(200, 2))])
    lower = np.repeat([[-9.0], [0.0], [0.0]], 3, axis=1)
    model = MultilabelPairwise(lam=1e-3, bounds={"coef": (lower, 9)}, random_state=0)
    model.fit(X, Y := np.column_stack([y, y, 1 - y]))
    assert model.edges_.tolist() == [[0, 1], [0, 2], [1, 2]]
    attraction, repulsion, _ = model.pairwise_
    assert attraction > 0 > repulsion
    assert model.score(X, Y) > 0.98


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
    assert auto.certified_ and 0 <= auto.dual_gap_ <= 1.1e-3 * auto.primal_objective_
    assert auto.dual_objective_ <= steps.primal_objective_ + 1e-9
    assert steps.dual_objective_ <= auto.primal_objective_ + 1e-9
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


def test_bad_input_is_named_and_changes_nothing(data):
    X, Y = data
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


@pytest.mark.parametrize("edges", [None, "tree", "full"])
def test_slack_rescaling(data, edges):
    X, Y = data
    model = MultilabelPairwise(0.05, rescaling="slack", random_state=0, edges=edges).fit(X, Y)
    other = clone(model).set_params(rescaling=SlackRescaling("angular")).fit(X, Y)
    assert model.certified_ and other.certified_ and model.dual_gap_ <= model.tol * Y.shape[1]
    assert (model.predict(X) == Y).mean() > 0.65
    assert other.dual_objective_ <= model.primal_objective_
    assert model.dual_objective_ <= other.primal_objective_
    # the same problem in another unit: a loss, and a lam, of a quarter
    fraction = clone(model).set_params(loss="hamming", lam=0.05 / 4).fit(X, Y)
    np.testing.assert_allclose(4 * fraction.primal_objective_, model.primal_objective_, rtol=0.05)


def test_slack_rescaling_of_the_relaxation(data):
    X, Y = data
    options = {"max_iter": 50, "tol": 0.0, "random_state": 0}
    model = MultilabelPairwise(0.2, rescaling="slack", inference="lp", **options)
    with pytest.warns(ConvergenceWarning):
        model.fit(X[:20], Y[:20])
    assert model.certified_
    assert 0 <= model.history_["inexactness"][-1] <= model.dual_gap_ < Y.shape[1]
    with pytest.raises(ValueError, match="search='angular' needs a constrained oracle"):
        model.set_params(rescaling=SlackRescaling("angular")).fit(X[:20], Y[:20])
