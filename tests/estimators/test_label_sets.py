"""MultilabelPairwise and HierarchicalMultilabel minimise and predict what enumeration does."""

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.label_sets import leaves
from helpers.multilabel import all_sets
from helpers.objectives import bracket
from helpers.refusals import refused
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, hamming_loss
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sskit
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
        model = sskit.MultilabelPairwise(loss=loss, fit_intercept=fit_intercept, **given).fit(X, Y)
        cost = np.array(weight) / (4 if loss == "hamming" else 1)
        expected = objective(model, X, Y, cost, all_sets(4))
        assert model.primal_objective_ == pytest.approx(expected, rel=1e-9)
        assert model.certified_ and model.intercept_.any() == fit_intercept
        assert inference != "graphcut" or model.pairwise_.min() >= 0
    assert edges is not None or (model.inference_, model.pairwise_.shape) == ("independent", (0,))


def test_of_many_labels_the_strongest_pairs_have_weights():
    """Of what goes together in the training rows, by their weights: models/label_sets."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 5)), (rng.random((60, 24)) < 0.3).astype(int)
    Y[:30, :2] = 1
    weight = np.repeat([0.0, 1.0], 30)
    model, half, whole = (sskit.MultilabelPairwise(tol=0.1, random_state=0) for _ in range(3))
    assert model.fit(X, Y, weight).edges_.shape == (240, 2) and model.inference_ == "lp"
    np.testing.assert_array_equal(model.edges_, half.fit(X[30:], Y[30:]).edges_)
    assert not np.array_equal(whole.fit(X, Y).edges_, half.edges_)
    explicit = clone(model).set_params(edges=model.edges_).fit(X, Y, weight)
    np.testing.assert_array_equal(model.coef_, explicit.coef_)


@pytest.mark.parametrize("edges", ["full", "tree", None])
def test_decisions_and_predictions(edges):
    model = sskit.MultilabelPairwise(edges=edges, random_state=0).fit(X, Y)
    predicted, gains = model.predict(X), model.decision_function(X)
    assert predicted.dtype == int and predicted.shape == gains.shape == Y.shape
    np.testing.assert_array_equal(predicted, gains > 0)
    (k, j), table = model.edges_.T, np.zeros((4, 4))
    table[k, j] = table[j, k] = model.pairwise_
    expected = X @ model.coef_.T + model.intercept_ + predicted @ table
    np.testing.assert_allclose(gains, expected, atol=1e-12)
    assert model.score(X, Y) == accuracy_score(Y, predicted)
    # labels that always or never occur
    same = np.column_stack([Y[:, :2], np.zeros(120, int), np.ones(120, int)])
    predicted = model.fit(X, same).predict(X)
    assert not predicted[:, 2].any() and predicted[:, 3].mean() > 0.95


def test_two_classes_are_one_label():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.1 * rng.normal(size=60) > 0, "yes", "no")
    model = sskit.MultilabelPairwise(random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"] and model.coef_.shape == (1, 3)
    gains = model.decision_function(X)
    assert gains.shape == (60,) and model.score(X, y) > 0.9
    np.testing.assert_array_equal(model.predict(X) == "yes", gains > 0)
    column = sskit.MultilabelPairwise(random_state=0).fit(X, (y == "yes")[:, None])
    np.testing.assert_array_equal(column.coef_, model.coef_)
    assert column.predict(X).shape == (60, 1)


@pytest.mark.parametrize(
    ("edges", "inference"),
    [("auto", "lp"), ("tree", "tree"), ([[0, 3], [3, 5]], "tree")],
)
def test_auto_on_the_local_polytope_is_projections(edges, inference):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 6)), (rng.random((40, 16)) < 0.3).astype(int)
    options = {"edges": edges, "random_state": 0}
    auto, steps = (
        sskit.MultilabelPairwise(**options, tol=1e-3, solver=solver).fit(X, Y)
        for solver in ("auto", "bcfw")
    )
    assert auto.inference_ == inference and isinstance(auto.solver_, GDMM)
    assert auto.solver_.method == "projection"
    bracket(auto, steps)
    # towards a prior too
    prior = rng.normal(size=auto.coef_.size + 16 + len(auto.edges_))
    auto, steps = (
        sskit.MultilabelPairwise(**options, tol=1e-3, solver=solver, prior=prior).fit(X, Y)
        for solver in ("auto", "bcfw")
    )
    assert isinstance(auto.solver_, GDMM)
    bracket(auto, steps)
    # and what that cannot do is left to steps
    for params in (
        {"bounds": (-1.0, 1.0)}, {"warm_start": True}, {"rescaling": "slack"}, {"steps": "fw"},
        {"cache": False}, {"solver": BCFW()}, {"inference": "graphcut"},
    ):  # fmt: skip
        model = sskit.MultilabelPairwise(tol=0.5, **options | params).fit(X, Y)
        assert isinstance(model.solver_, BCFW), params


def test_auto_where_all_sets_are_tried():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 6)), (rng.random((40, 16)) < 0.3).astype(int)
    few = sskit.MultilabelPairwise(random_state=0, tol=0.5).fit(X, Y[:, :14])
    assert few.inference_ == "exhaustive" and isinstance(few.solver_, BCFW)
    # for which an oracle of few sets is no costly one
    assert (few.solver_.sampling, few.solver_.cache, few.solver_.stored_passes) == (
        "permutation", False, 3,
    )  # fmt: skip
    for params, sampling in (
        ({"inference": "graphcut"}, "gap"), ({"sampling": "uniform"}, "uniform"),
        ({"warm_start": True}, "gap"), ({"edges": "tree", "solver": "bcfw"}, "permutation"),
    ):  # fmt: skip
        model = sskit.MultilabelPairwise(random_state=0, tol=0.5, **params).fit(X, Y[:, :14])
        assert model.solver_.sampling == sampling


# edges and indicators that are wrong are in tests/models/label_sets and tests/inputs
BAD = [
    ({"label_weight": [1, 1]}, Y, r"^label_weight must be numbers of shape \(4,\)"),
    ({"label_weight": [1, -1, 1, 1]}, Y, r"^label_weight\[1\] is -1.0"),
    ({"label_weight": [0, 0, 0, 0]}, Y, "^label_weight is zero for all labels"),
    ({"label_weight": [[1], [1, 2]]}, Y, "^label_weight is no array: its items have"),
    ({"bounds": {"pairwise": (-2, -1)}, "inference": "graphcut"}, Y,
     "^bounds leave nothing of the model's own at weight 36"),
    ({}, np.arange(120) % 3, "Only binary classification is supported"),
    ({}, np.ones(120), "or have two classes, got 1 class"),
    ({}, np.linspace(0, 1, 120), "^Unknown label type: continuous"),
]  # fmt: skip


def test_bad_input_is_named_and_changes_nothing():
    model = sskit.MultilabelPairwise(tol=0.5, random_state=0).fit(X, Y)
    for params, y, message in BAD:
        changed = copy.copy(model).set_params(**params)
        with refused(changed, ValueError, message):
            changed.fit(X, y)


def test_slack_rescaling_of_the_relaxation():
    options = {"max_iter": 50, "tol": 0.0, "random_state": 0}
    model = sskit.MultilabelPairwise(0.2, rescaling="slack", inference="lp", **options)
    with pytest.warns(ConvergenceWarning):
        model.fit(X[:20], Y[:20])
    assert model.certified_
    assert 0 <= model.history_["inexactness"][-1] <= model.dual_gap_ < Y.shape[1]
    with pytest.raises(ValueError, match="search='angular' needs a constrained oracle"):
        model.set_params(rescaling=sskit.SlackRescaling("angular")).fit(X[:20], Y[:20])


# ---- hierarchies -------------------------------------------------------------------------------

PARENTS = [-1, 0, 0, 1, 1, -1]
DAG = [[1, 0], [2, 0], [3, 1], [3, 2], [4, 1]]


@pytest.mark.parametrize("hierarchy", [PARENTS, DAG, None])
def test_objective_and_predictions_by_enumeration(hierarchy):
    X, Y, _ = leaves(PARENTS, 80)
    model = sskit.HierarchicalMultilabel(
        hierarchy, lam=0.05, random_state=0, standardize=False
    ).fit(X, Y)
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


# ---- what is known of labels ---------------------------------------------------------------


def test_forms_of_known_labels():
    """That sets under what is known are the best is in models/label_sets/test_model.py."""
    model = sskit.MultilabelPairwise(random_state=0).fit(X, Y)
    rows = [[1, None, 0, None], [None] * 4, [0, 1, None, None]]
    expected, numbers = model.predict(X[:3], known=rows), np.array(rows, dtype=float)
    assert [expected[i, j] for i, j in ((0, 0), (0, 2), (2, 0), (2, 1))] == [1, 0, 0, 1]
    np.testing.assert_array_equal(expected[1], model.predict(X[1:2])[0])
    gains = model.decision_function(X[:3], known=rows)
    np.testing.assert_array_equal((gains > 0)[np.isnan(numbers)], expected[np.isnan(numbers)] == 1)
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
    np.testing.assert_array_equal(model.predict(X[:3], known=known), expected)
    with pytest.raises(ValueError, match="^the columns of known are 'd', .* of fit are 'a', 'b'"):
        model.predict(X[:3], known=known[list("dcba")])
    # two classes are one label
    model.fit(X, np.where(Y[:, 0], "yes", "no"))
    alone, known = model.predict(X[:4]), [[1], [0], None, [None]]
    assert model.predict(X[:4], known=known).tolist() == ["yes", "no", *alone[2:]]
    gains = [model.decision_function(X[:4], known=given) for given in (None, known)]
    np.testing.assert_array_equal(*gains)


def test_wrong_known_labels_are_named():
    pairs = sskit.MultilabelPairwise(edges=None, tol=0.5, random_state=0).fit(X, Y)
    closed = sskit.HierarchicalMultilabel([-1, 0, 0, 1], tol=0.5, random_state=0).fit(X, Y)
    for model, known, error, message in (
        (pairs, [None, [1, 2, 0, 0], None], ValueError, r"^known\[1\]\[1\] has 2, .* such as 0, 1"),
        (pairs, np.zeros((3, 4, 1)), ValueError, r"^known\[0\] must be a sequence of labels"),
        (pairs, np.full((3, 4), 0.5), ValueError, r"^known\[0\]\[0\] has 0.5, which is no label"),
        (closed, [None, [0, None, None, 1], None], ValueError,
         r"^known\[1\] has label 3, but not label 0, an ance"),
    ):  # fmt: skip
        for method in (model.predict, model.decision_function):
            with pytest.raises(error, match=message):
                method(X[:3], known=known)


# ---- names of labels from data frames, and scores that see what fit sees ------------------------


SMALL_TREE = [-1, 0, 0, 1]
FRAMED = {
    "pairs": sskit.MultilabelPairwise(random_state=0),
    "tree": sskit.MultilabelPairwise(edges="tree", random_state=0),
    "hierarchy": sskit.HierarchicalMultilabel(SMALL_TREE, random_state=0),
}


NAMES = ["root", "a", "b", "a/1"]


def frames(names=NAMES):
    """The rows and the closed sets as data frames."""
    X, _, full = leaves(SMALL_TREE, 60)
    index = pd.Index(range(100, 160), name="document")
    X = pd.DataFrame(X, index=index, columns=[f"x{j}" for j in range(5)])
    return X, pd.DataFrame(full, index=index, columns=list(names))


def make(name, **given):
    return clone(FRAMED[name]).set_params(**given)


FORMS = {
    "array": lambda Y: Y,
    "booleans": lambda Y: Y.astype(bool),
    "floats": lambda Y: Y.astype(np.float32),
    "lists": lambda Y: Y.tolist(),
    "tuples": lambda Y: [tuple(row) for row in Y.tolist()],
    "sparse": sp.csr_array,
    "sparse columns": sp.csc_matrix,
    "frame": pd.DataFrame,
    "nullable": lambda Y: pd.DataFrame(Y).astype("Int64"),
    "mixed": lambda Y: pd.DataFrame(Y).astype({0: "boolean", 1: "Int64", 2: bool}),
    "sparse frame": lambda Y: pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(Y)),
}


@pytest.mark.parametrize("name", FRAMED)
def test_a_score_sees_what_fit_sees(name):
    """Of hierarchies leaves only, as fit allows, and closed sets are the same."""
    X, Y, full = leaves(SMALL_TREE, 60)
    allowed = (full, Y) if name == "hierarchy" else (full,)
    plain = make(name).fit(X, full)
    predicted, weight = plain.predict(X), np.linspace(0.0, 1.0, 60)
    expected, weighted = (accuracy_score(full, predicted, sample_weight=w) for w in (None, weight))
    for form in FORMS.values():
        model = make(name).fit(X, form(allowed[-1]))
        np.testing.assert_array_equal(model.coef_, plain.coef_)
        found = model.predict(X)
        assert sp.issparse(found) == sp.issparse(form(full))
        np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, predicted)
        for other, given in itertools.product(FORMS.values(), allowed):
            assert model.score(X, other(given)) == pytest.approx(expected)
            assert model.score(X, other(given), sample_weight=weight) == pytest.approx(weighted)


def test_one_column():
    X, Y, _ = leaves(SMALL_TREE, 60)
    one = Y[:, :1]
    for given in (sp.csr_matrix(one), sp.csc_array(one), one, pd.DataFrame({"a": one[:, 0]})):
        model = make("pairs").fit(X, given)
        right = np.mean(np.asarray(sp.csr_matrix(model.predict(X)).todense()) == one)
        for asked in (sp.csr_matrix(one), one, one[:, 0]):
            assert model.score(X, asked) == right


def test_wrong_targets_of_scores():
    X, Y, _ = leaves(SMALL_TREE, 60)
    model = make("pairs").fit(X, pd.DataFrame(Y, columns=list("abcd")))
    seventh = np.arange(60)[:, None] == 7
    for given, message in (
        (Y[:, :3], "^y has 3 labels, but that of fit 4"),
        (np.where(seventh, 2, Y), r"^y\[7, 0\] is 2, expected 0 or 1"),
        ([*Y[:-1].tolist(), [0, 1]], "^y is no array"),
        (np.where(seventh, np.nan, Y), "^Input y contains NaN"),
        (Y[:-1], "inconsistent numbers of samples"),
        (Y[:, 0], "^y has 1 labels, but that of fit 4"),
        (pd.DataFrame(Y, columns=list("abdc")), "^the columns of y are 'a', 'b', 'd'"),
    ):
        with pytest.raises(ValueError, match=message):
            model.score(X, given)


@pytest.mark.parametrize("name", FRAMED)
def test_columns_name_the_labels(name):
    X, full = frames()
    model, plain = make(name).fit(X, full), make(name).fit(X, full.to_numpy())
    assert model.classes_.tolist() == NAMES and plain.classes_.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    predicted, expected = model.predict(X), plain.predict(X)
    pd.testing.assert_frame_equal(predicted, full * 0 + expected)
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(model)).predict(X), predicted)
    assert isinstance(expected, np.ndarray)
    weights = model.weights_frame(top=2)
    assert set(weights["label"]) <= set(NAMES)
    if name != "hierarchy":
        assert set(weights.loc[weights["kind"] == "pair", "to_label"]) <= set(NAMES)
    # what names nothing else stays as it is
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.score(X, full) == model.score(X, full.to_numpy()) == plain.score(X, full)
    # rows without an index
    numbers = make(name).fit(X.to_numpy(), full).predict(X.to_numpy())
    pd.testing.assert_index_equal(numbers.index, pd.RangeIndex(60))


def test_names_of_any_type():
    for names in ([3, 1, 2, 0], ["a", 1, None, 2.5], [(0, 1), (0, 2), (1, 1), (1, 2)]):
        X, full = frames(names)
        model = make("pairs").fit(X, full)
        assert model.classes_.tolist() == model.predict(X).columns.tolist() == names
        assert model.score(X, full) > 0.5
    X, full = frames(["a", "b", "a", "c"])
    with pytest.raises(ValueError, match="^y has two columns named 'a'"):
        model.fit(X, full)
    X, full = frames()
    model.set_params(warm_start=True).fit(X, full)
    with pytest.raises(ValueError, match="the classes changed from .'root', 'a'.* to .'a/1', 'b'"):
        model.fit(X, full[full.columns[::-1]])


def test_tools_take_frames():
    X, full = frames()
    model, folds = make("pairs"), KFold(3)
    for scoring in ("f1_micro", "roc_auc", lambda m, X, y: -hamming_loss(y, m.predict(X))):
        search, plain = (
            GridSearchCV(model, {"lam": [0.01, 1.0]}, cv=folds, scoring=scoring).fit(*data)
            for data in ((X, full), (X.to_numpy(), full.to_numpy()))
        )
        assert search.best_score_ == plain.best_score_
    path, stopping = (
        sskit.RegularizationPath(model, cv=3),
        sskit.EarlyStopping(model, random_state=0),
    )
    for tool in (path, stopping, make_pipeline(StandardScaler(), model)):
        predicted = tool.fit(X, full).predict(X)
        pd.testing.assert_index_equal(predicted.columns, full.columns)
        assert tool.classes_.tolist() == NAMES


@pytest.mark.parametrize("name", FRAMED)
def test_priors_are_aligned_by_names(name):
    X, full = frames()
    source, order = make(name).fit(X, full), [2, 0, 3, 1]
    other = make(name, prior=source, lam=1e9)
    if name == "hierarchy":
        other.set_params(hierarchy=[[0, 1], [3, 1], [2, 3]])
    other.fit(X, full.iloc[:, order])
    np.testing.assert_allclose(other.coef_, source.coef_[order], atol=1e-6)
    np.testing.assert_allclose(other.intercept_, source.intercept_[order], atol=1e-6)
    if name == "pairs":
        assert weights_by_name(other) == pytest.approx(weights_by_name(source), abs=1e-6)


def weights_by_name(model):
    pairs = [frozenset(model.classes_[pair]) for pair in model.edges_]
    return dict(zip(pairs, model.pairwise_, strict=True))


@pytest.mark.parametrize("named", ["source", "target"])
def test_a_prior_without_names_is_aligned_by_place(named):
    X, full = frames()
    one, two = (full, full.to_numpy()) if named == "source" else (full.to_numpy(), full)
    source = make("pairs").fit(X, one)
    model = make("pairs", prior=source, lam=1e9).fit(X, two)
    np.testing.assert_allclose(model.coef_, source.coef_, atol=1e-6)
    np.testing.assert_allclose(model.pairwise_, source.pairwise_, atol=1e-6)
    with pytest.raises(ValueError, match=r"^prior\[.* must be numbers of shape"):
        model.fit(X, two.iloc[:, :3] if named == "target" else two[:, :3])


def test_a_prior_from_a_dict_names_pairs_by_its_classes():
    named = {"classes_": ["a/1", "root"], "edges_": [[0, 1]]}
    prior = named | {"coef_": np.ones((2, 5)), "pairwise_": [2.0]}
    model = make("pairs", prior=prior, lam=1e9).fit(*frames())
    np.testing.assert_allclose(model.coef_.sum(axis=1), [5, 0, 0, 5], atol=1e-6)
    assert weights_by_name(model)[frozenset(["root", "a/1"])] == pytest.approx(2.0, abs=1e-6)
    assert abs(weights_by_name(model)[frozenset(["root", "a"])]) < 1e-6
