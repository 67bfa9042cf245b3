"""MultilabelPairwise: what it minimises and predicts, forms of Y, fitted attributes."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, hamming_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sskit import MultilabelPairwise, RegularizationPath, SlackRescaling
from sskit.estimators.label_sets import default_lam
from sskit.inputs.stacking import FeatureScale
from sskit.models.features import squared_norms
from sskit.solvers import BCFW, GDMM


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(
        120, n_features=8, n_classes=4, n_labels=2, length=30, random_state=0
    )
    return StandardScaler().fit_transform(X), Y


def hinge_objective(coef, intercept, x, target, lam):
    """lam / 2 ||w||^2 + mean hinge of one label."""
    score = x @ coef + intercept
    return 0.5 * lam * (coef @ coef + intercept**2) + np.maximum(0.0, 1.0 - target * score).mean()


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_without_edges_it_is_independent_support_vector_machines(data, fit_intercept):
    X, Y = data
    lam = 0.05
    ours = MultilabelPairwise(
        lam, edges=None, fit_intercept=fit_intercept, tol=1e-5, max_iter=5000, random_state=0
    ).fit(X, Y)
    # one wrong label costs one: max_y |y - t| + (y - t) score = max(0, 1 - target * score)
    theirs = OneVsRestClassifier(
        LinearSVC(
            C=1 / (lam * len(X)), loss="hinge", fit_intercept=fit_intercept, tol=1e-6,
            max_iter=1_000_000, random_state=0,
        )
    ).fit(X, Y)  # fmt: skip
    total = 0.0
    for j, svm in enumerate(theirs.estimators_):
        target = 2.0 * Y[:, j] - 1.0
        constant = float(np.ravel(svm.intercept_)[0]) if fit_intercept else 0.0
        found = hinge_objective(ours.coef_[j], ours.intercept_[j], X, target, lam)
        best = hinge_objective(svm.coef_[0], constant, X, target, lam)
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


@pytest.mark.parametrize("loss", ["hamming", "hamming_sum"])
@pytest.mark.parametrize(
    ("edges", "inference"),
    [
        ("full", "exhaustive"),
        ("full", "graphcut"),
        ("tree", "tree"),
        ("tree", "exhaustive"),
        ([[0, 3]], "auto"),
        (None, "auto"),
    ],
)
def test_the_objective_is_what_the_docstring_says(data, edges, inference, loss):
    X, Y = data
    weight = [1.0, 2.0, 0.0, 1.0]
    model = MultilabelPairwise(
        edges=edges, inference=inference, loss=loss, label_weight=weight, random_state=0
    ).fit(X, Y)
    cost = np.array(weight) / (4 if loss == "hamming" else 1)
    assert model.primal_objective_ == pytest.approx(objective(model, X, Y, cost), rel=1e-9)
    assert model.certified_
    gap = model.primal_objective_ - model.dual_objective_
    assert model.dual_gap_ == pytest.approx(gap, abs=1e-12)
    assert model.dual_gap_ <= 0.02 * cost.sum()
    if inference == "graphcut":
        assert model.pairwise_.min() >= 0


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


def lam_of(X, weight, cost):
    return default_lam(FeatureScale.of(squared_norms(X), weight), cost)


def test_default_lam():
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    unit = lam_of(np.eye(2), None, np.ones(3))
    assert lam_of(X, None, np.ones(3)) == pytest.approx(12.5 * unit)
    assert lam_of(sp.csr_array(X), None, np.ones(3)) == pytest.approx(12.5 * unit)
    assert lam_of(X, np.array([3.0, 1.0]), np.ones(3)) == pytest.approx(18.75 * unit / 2)
    assert lam_of(X, None, np.full(3, 0.5)) == pytest.approx(25.0 * unit)
    assert lam_of(0 * X, None, np.ones(3)) == 0.5
    with pytest.raises(ValueError, match="features in X are too large"):
        lam_of(np.full((2, 2), 1e200), None, np.ones(3))


@pytest.mark.parametrize("edges", ["full", "tree", None])
def test_decisions_and_predictions(data, edges):
    X, Y = data
    model = MultilabelPairwise(edges=edges, random_state=0).fit(X, Y)
    predicted, gains = model.predict(X), model.decision_function(X)
    assert predicted.dtype == int and predicted.shape == gains.shape == Y.shape
    np.testing.assert_array_equal(predicted, gains > 0)
    k, j = model.edges_.T
    table = np.zeros((4, 4))
    table[k, j] = table[j, k] = model.pairwise_
    expected = X @ model.coef_.T + model.intercept_ + predicted @ table
    np.testing.assert_allclose(gains, expected, atol=1e-12)
    assert model.score(X, Y) == accuracy_score(Y, predicted)
    assert hamming_loss(Y, predicted) < 0.3
    np.testing.assert_array_equal(model.classes_, np.arange(4))


FORMS = {
    "bool": lambda Y: Y.astype(bool),
    "float": lambda Y: Y.astype(float),
    "list": lambda Y: Y.tolist(),
    "frame": lambda Y: pd.DataFrame(Y, columns=list("abcd")),
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "triplets": sp.coo_matrix,
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_indicators(data, form):
    X, Y = data
    base = MultilabelPairwise(random_state=0)
    expected, model = clone(base).fit(X, Y), clone(base).fit(X, FORMS[form](Y))
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    predicted = model.predict(X)
    assert sp.issparse(predicted) == (form in ("csr", "csc", "triplets"))
    dense = predicted.toarray() if sp.issparse(predicted) else predicted
    np.testing.assert_array_equal(dense, expected.predict(X))
    assert model.score(X, FORMS[form](Y)) == expected.score(X, Y)


def test_dense_and_sparse_features(data):
    X, Y = data
    X = X * (np.random.default_rng(0).random(X.shape) < 0.5)
    model = MultilabelPairwise(random_state=0, standardize=False)
    dense, sparse = (clone(model).fit(x, Y) for x in (X, sp.csr_array(X)))
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-10)
    np.testing.assert_allclose(
        dense.decision_function(sp.csc_array(X)), sparse.decision_function(X), atol=1e-9
    )


def test_two_classes_are_one_label():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.1 * rng.normal(size=60) > 0, "yes", "no")
    model = MultilabelPairwise(random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"] and model.coef_.shape == (1, 3)
    assert model.decision_function(X).shape == (60,)
    np.testing.assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)
    assert model.score(X, y) > 0.9
    column = MultilabelPairwise(random_state=0).fit(X, (y == "yes")[:, None])
    np.testing.assert_array_equal(column.coef_, model.coef_)
    assert column.predict(X).shape == (60, 1)


def test_labels_that_always_or_never_occur(data):
    X, Y = data
    Y = np.column_stack([Y[:, :2], np.zeros(len(Y), int), np.ones(len(Y), int)])
    for edges in ("full", "tree", None):
        predicted = MultilabelPairwise(edges=edges, random_state=0).fit(X, Y).predict(X)
        assert not predicted[:, 2].any() and predicted[:, 3].mean() > 0.95


def test_pairs_are_learnt():
    # the second label is there if and only if the first is, which features do not tell
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=200)
    X = np.column_stack([2.0 * y - 1.0 + 0.2 * rng.normal(size=200), rng.normal(size=(200, 2))])
    Y = np.column_stack([y, y, 1 - y])
    model = MultilabelPairwise(bounds={"coef": (np.array([[-9, -9, -9], [0, 0, 0], [0, 0, 0]]), 9)})
    model.set_params(lam=1e-3, random_state=0).fit(X, Y)
    assert model.edges_.tolist() == [[0, 1], [0, 2], [1, 2]]
    attraction, repulsion, _ = model.pairwise_
    assert attraction > 0 > repulsion
    assert model.score(X, Y) > 0.98


def test_weights_of_samples_and_labels(data):
    X, Y = data
    weight = np.arange(len(X)) % 3
    copies = np.repeat(np.arange(len(X)), weight)
    params = {"lam": 0.1, "tol": 1e-4, "max_iter": 3000, "random_state": 0}
    weighted = MultilabelPairwise(**params).fit(X, Y, sample_weight=weight)
    repeated = MultilabelPairwise(**params).fit(X[copies], Y[copies])
    low = max(weighted.dual_objective_, repeated.dual_objective_)
    assert low <= min(weighted.primal_objective_, repeated.primal_objective_) + 1e-9
    one = MultilabelPairwise(edges=None, label_weight=[1, 1, 0, 1], random_state=0).fit(X, Y)
    assert np.abs(one.coef_[2]).max() < 0.1 * np.abs(one.coef_[[0, 1, 3]]).max()


def test_fitted_attributes_survive_pickling(data):
    X, Y = data
    model = MultilabelPairwise(edges="tree", random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    model.fit(frame, Y)
    assert model.n_features_in_ == 8 and model.feature_names_in_[0] == "x0"
    assert model.edges_.shape == (3, 2) and model.pairwise_.shape == (3,)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    assert not any(name.endswith("_") for name in vars(clone(model)))


def test_tools(data):
    X, Y = data
    pipeline = make_pipeline(StandardScaler(), MultilabelPairwise(tol=0.05, random_state=0))
    search = GridSearchCV(
        pipeline,
        {"multilabelpairwise__edges": [None, "tree", "full"], "multilabelpairwise__lam": [0.01, 1]},
        scoring=["f1_macro", "accuracy"],
        refit="f1_macro",
        cv=3,
    ).fit(X, Y)
    assert search.best_score_ > 0.5
    folds = KFold(3)
    scores = cross_val_score(pipeline, X, Y, cv=folds)
    predicted = cross_val_predict(pipeline, X, Y, cv=folds)
    gains = cross_val_predict(pipeline, X, Y, cv=folds, method="decision_function")
    np.testing.assert_array_equal(predicted, gains > 0)
    assert scores.mean() == pytest.approx(accuracy_score(Y, predicted))
    areas = cross_val_score(pipeline, X, Y, cv=folds, scoring="roc_auc")
    assert (areas > 0.7).all()


def test_regularization_path(data):
    X, Y = data
    path = RegularizationPath(MultilabelPairwise(edges="tree", random_state=0), lam_min=0.01)
    path.fit(X, Y)
    assert path.certified_ and len(path.lams_) > 2
    assert path.estimator_at(0.05).pairwise_.shape == (3,)
    assert path.predict(X).shape == Y.shape
    assert path.relative_gap_at(0.05) <= path.max_gap_
    assert path.gap_at(0.05) <= path.max_gap_ * (path.primal_objective_at(0.05) + 4e-3)


def many_labels(L=16, n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    return X, (X @ rng.normal(size=(6, L)) + rng.normal(size=(n, L)) > 0.8).astype(int)


def test_auto_of_relaxed_problems_is_dual_decomposed_training():
    X, Y = many_labels()
    auto = MultilabelPairwise(random_state=0, tol=1e-3).fit(X, Y)
    assert auto.inference_ == "lp" and isinstance(auto.solver_, GDMM)
    assert auto.certified_ and 0 <= auto.dual_gap_ <= 1.1e-3 * auto.primal_objective_
    steps = MultilabelPairwise(random_state=0, tol=1e-3, solver="bcfw").fit(X, Y)
    assert auto.dual_objective_ <= steps.primal_objective_ + 1e-9
    assert steps.dual_objective_ <= auto.primal_objective_ + 1e-9


@pytest.mark.parametrize(
    "params",
    [
        {"edges": "tree"},
        {"edges": None},
        {"inference": "graphcut"},
        {"bounds": (-1.0, 1.0)},
        {"prior": np.zeros(7 * 16 + 120)},
        {"warm_start": True},
        {"rescaling": "slack"},
        {"steps": "fw"},
        {"cache": False},
        {"solver": BCFW()},
    ],
    ids=lambda params: next(iter(params)),
)
def test_what_dual_decomposed_training_cannot_do_is_left_to_steps(params):
    X, Y = many_labels()
    model = MultilabelPairwise(random_state=0, tol=0.2, **params).fit(X, Y)
    assert isinstance(model.solver_, BCFW)
    few = MultilabelPairwise(random_state=0, tol=0.2).fit(X, Y[:, :14])
    assert few.inference_ == "exhaustive" and isinstance(few.solver_, BCFW)


def test_threads_change_nothing(data):
    X, Y = data
    one, two = (
        MultilabelPairwise(inference="lp", n_jobs=n_jobs, random_state=0).fit(X, Y)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.dual_gap_ == two.dual_gap_


BAD = [
    ({"edges": [[0, 4]]}, {}, r"^edges\[0, 1\] is 4"),
    ({"inference": "tree"}, {}, "^inference='tree' needs edges without a cycle"),
    ({"label_weight": [1, 1]}, {}, r"^label_weight must be numbers of shape \(4,\)"),
    ({"label_weight": [1, -1, 1, 1]}, {}, r"^label_weight\[1\] is -1.0"),
    ({"label_weight": [1, np.nan, 1, 1]}, {}, r"^label_weight\[1\] is nan"),
    ({"label_weight": [0, 0, 0, 0]}, {}, "^label_weight is zero for all labels"),
    ({"label_weight": ["a"] * 4}, {}, "^label_weight must hold numbers"),
    ({"loss": "zero_one"}, {}, "The 'loss' parameter of MultilabelPairwise"),
    ({"edges": "ring"}, {}, "The 'edges' parameter of MultilabelPairwise"),
    ({"inference": "magic"}, {}, "The 'inference' parameter of MultilabelPairwise"),
    ({"bounds": {"pairs": (0, 1)}}, {}, "^bounds has no block 'pairs'"),
    (
        {"bounds": {"pairwise": (-2, -1)}, "inference": "graphcut"}, {},
        "^bounds leave nothing of the model's own at weight 36",
    ),
    ({}, {"y": np.full((120, 4), 2)}, r"^y\[0, 0\] is 2, expected 0 or 1"),
    ({}, {"y": np.full((120, 4), np.nan)}, "^Input y contains NaN"),
    ({}, {"y": [[1, 0]] * 119 + [[1]]}, "^y is no array"),
    ({}, {"y": [("a", "b")] * 120}, r"^y\[0, 0\] is 'a', .*MultiLabelBinarizer"),
    ({"label_weight": [[1], [1, 2]]}, {}, "^label_weight is no array: its items have"),
    ({}, {"y": np.ones((119, 4))}, "inconsistent numbers of samples"),
    ({}, {"y": np.arange(120) % 3}, "Only binary classification is supported"),
    ({}, {"y": np.ones(120)}, "or have two classes, got 1 class"),
    ({}, {"y": np.linspace(0, 1, 120)}, "^Unknown label type: continuous"),
    ({}, {"y": np.zeros((120, 0))}, "y has no labels|0 feature"),
    ({}, {"X": np.where(np.arange(120)[:, None] == 17, np.nan, np.ones((120, 8)))},
     "^X contains NaN at row 17, column 0$"),
    ({}, {"X": np.full((120, 8), 1e200)}, "^the features in X are too large"),
    ({"lam": 1.0}, {"X": np.full((120, 8), 1e200)}, "^the features in X are too large"),
    ({}, {"sample_weight": np.full(120, -1.0)}, r"^sample_weight\[0\] is -1.0"),
]  # fmt: skip


@pytest.mark.parametrize(("params", "given", "message"), BAD)
def test_bad_input_is_named_and_changes_nothing(data, params, given, message):
    X, Y = data
    model = MultilabelPairwise(tol=0.5, random_state=0).fit(X, Y)
    before = pickle.dumps({k: v for k, v in vars(model).items() if k.endswith("_")})
    with pytest.raises(ValueError, match=message):
        model.set_params(**params).fit(**{"X": X, "y": Y, **given})
    assert pickle.dumps({k: v for k, v in vars(model).items() if k.endswith("_")}) == before


@pytest.mark.parametrize("params", [{"edges": None}, {"edges": "tree"}, {"edges": "full"}])
def test_slack_rescaling(data, params):
    X, Y = data
    model = MultilabelPairwise(0.05, rescaling="slack", random_state=0, **params).fit(X, Y)
    assert model.certified_
    assert model.dual_gap_ <= model.tol * Y.shape[1]
    assert (model.predict(X) == Y).mean() > 0.65
    other = clone(model).set_params(rescaling=SlackRescaling("angular")).fit(X, Y)
    assert other.certified_
    assert other.dual_objective_ <= model.primal_objective_
    assert model.dual_objective_ <= other.primal_objective_
    # the same problem in another unit: a loss, and a lam, of a quarter
    share = clone(model).set_params(loss="hamming", lam=0.05 / 4).fit(X, Y)
    np.testing.assert_allclose(4 * share.primal_objective_, model.primal_objective_, rtol=0.05)


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


@pytest.mark.parametrize("inference", ["lp", "exhaustive", "graphcut", "tree"])
def test_scores_that_overflow_are_named(data, inference):
    X, Y = data
    edges = "tree" if inference == "tree" else "full"
    model = MultilabelPairwise(edges=edges, inference=inference, tol=0.5).fit(X, Y)
    rows = X.copy()
    rows[7] *= 1e307
    model.coef_ *= 1e3
    for method in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match=r"^X\[7\] is too large: the scores"):
            method(rows)
    assert model.predict(1e-10 * rows).shape == Y.shape


def test_exhaustive_inference_has_a_limit():
    X = np.eye(30)
    Y = np.eye(30, 21, dtype=int)
    with pytest.raises(ValueError, match="^inference='exhaustive' .* y has 21; use 'lp'"):
        MultilabelPairwise(inference="exhaustive").fit(X, Y)
