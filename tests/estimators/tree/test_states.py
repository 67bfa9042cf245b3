"""Hidden states of the labels of trees, against enumeration of all states."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.trees import random_parents
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from sskit import CalibratedTagger, EarlyStopping, RegularizationPath, TreeTagger
from sskit.dask import Distributed
from sskit.solvers import BCFW

COUNTS = np.array([2, 1, 2])
OWNER = np.repeat(np.arange(3), COUNTS)
STATES = {"a": 2, "c": 2}
NAMES = np.array(["a", "b", "c"])
COSTS = np.array([[0, 1, 3], [1, 0, 2], [0.5, 1, 0]])


def data(n=14, kinds=False):
    """Small trees and forests, whose nodes have blobs within labels."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for i in range(n):
        parents = random_parents(rng, 1 + i % 5, n_roots=1 + (i % 5 > 2 and i % 2))
        labels = rng.integers(3, size=len(parents))
        rows = np.eye(3)[labels] + 2.0 * rng.integers(2, size=(len(labels), 1))
        rows += rng.normal(size=rows.shape)
        X.append((rows, parents, parents % 2) if kinds else (rows, parents))
        y.append(NAMES[labels])
    return X, y


X, Y = data()
FAST = {"n_states_per_label": STATES, "random_state": 0, "tol": 0.05, "lam": 0.05}
FITTED = TreeTagger(**FAST).fit(X, Y)


def score_states(model, tree, states):
    """Scores of states of the nodes, (n, V)."""
    x, parents = tree[:2]
    nodes = np.arange(len(x))
    leaf = ~np.isin(nodes, parents)
    total = (x @ model.coef_.T)[nodes, states].sum(axis=1)
    total = total + model.leaf_[states[:, leaf]].sum(axis=1)
    for v, parent in enumerate(parents):
        if parent < 0:
            total = total + model.root_[states[:, v]]
            continue
        table = model.transitions_
        if model.edge_kinds_ is not None:
            table = table[np.searchsorted(model.edge_kinds_, tree[2][v])]
        total = total + table[states[:, parent], states[:, v]]
    return total


def by_label(model, tree, known=None, over=np.max):
    """What each labelling of a tree scores that agrees with sets of labels, None: anything."""
    states = np.array(list(itertools.product(range(len(OWNER)), repeat=len(tree[0]))))
    labels, values = OWNER[states], score_states(model, tree, states)
    keep = np.ones(len(states), dtype=bool)
    for v, names in enumerate(known or ()):
        keep &= names is None or np.isin(NAMES[labels[:, v]], list(names))
    found = {}
    for labelling, value in zip(map(tuple, labels[keep].tolist()), values[keep], strict=True):
        found.setdefault(labelling, []).append(value)
    return {labelling: over(several) for labelling, several in found.items()}


WAYS = {
    "labels": {},
    "kinds": {},
    "share": {"loss": "hamming"},
    "costs": {"loss": COSTS},
    "sets": {},
    "no label": {"ignore_label": "?"},
    "costs of sets": {"loss": COSTS},
    "no label, costs": {"ignore_label": "?", "loss": COSTS},
}


@pytest.mark.parametrize("way", WAYS)
def test_objective_is_that_of_enumeration(way):
    trees, y = data(kinds=way == "kinds")
    truths = [[{label} for label in labels] for labels in y]
    if "sets" in way:
        # every other node
        truths = [
            [{k, "b" if k == "a" else "a"} if v % 2 else {k} for v, k in enumerate(labels)]
            for labels in y
        ]
        y = truths
    elif "no label" in way:
        y = [np.where(np.arange(len(labels)) % 2, "?", labels) for labels in y]
        truths = [[None if k == "?" else {k} for k in labels] for labels in y]
    weight = np.linspace(1.0, 2.0, len(trees))
    model = TreeTagger(**FAST, **WAYS[way]).fit(trees, y, sample_weight=weight)
    table = COSTS if "costs" in way else 1.0 - np.eye(3)
    blocks = model.coef_, model.transitions_, model.root_, model.leaf_
    total = model.lam_ / 2 * sum((block**2).sum() for block in blocks)
    for tree, truth, c in zip(trees, truths, weight / weight.sum(), strict=True):
        losses = np.zeros((len(truth), 3))
        for v, names in enumerate(truth):
            if names is not None:
                losses[v] = table[np.searchsorted(NAMES, sorted(names))].min(axis=0)
        if way == "share":
            losses /= len(truth)
        nodes = np.arange(len(truth))
        hinge = max(
            losses[nodes, list(k)].sum() + value for k, value in by_label(model, tree).items()
        )
        total += c * (hinge - max(by_label(model, tree, truth).values()))
    assert model.certified_
    assert model.round_objectives_[-1] == pytest.approx(total, rel=1e-6)
    assert (np.diff(model.round_objectives_) <= 0).all()


def test_fitted_attributes():
    assert FITTED.classes_.tolist() == ["a", "b", "c"]
    assert FITTED.n_states_.tolist() == [2, 1, 2]
    assert FITTED.state_labels_.tolist() == ["a", "a", "b", "c", "c"]
    assert FITTED.coef_.shape == (5, 3)
    assert FITTED.transitions_.shape == (5, 5)
    assert FITTED.root_.shape == FITTED.leaf_.shape == (5,)
    assert FITTED.n_rounds_ == len(FITTED.round_objectives_)


@pytest.mark.parametrize("kinds", [False, True], ids=["one table", "kinds"])
@pytest.mark.parametrize("given", [False, True], ids=["nothing", "known"])
def test_prediction_is_that_of_the_best_states(kinds, given):
    trees, y = data(kinds=kinds)
    model = TreeTagger(**FAST).fit(trees, y) if kinds else FITTED
    known = [None] * len(trees)
    if given:
        known = [
            [{labels[0]}, *[None if v % 2 else {"a", "b"} for v in range(1, len(labels))]]
            for labels in y
        ]
    further = {"known": known} if given else {}
    labels, states = model.predict(trees, **further), model.predict_states(trees, **further)
    margins = model.decision_function(trees, **further)
    with pytest.raises(ValueError, match="hidden states have no k best labellings"):
        model.predict_topk(trees, 6, **further)
    for i, tree in enumerate(trees):
        table = by_label(model, tree, known[i])
        best = max(table, key=table.get)
        assert labels[i].tolist() == NAMES[list(best)].tolist()
        assert score_states(model, tree, states[i][None])[0] == pytest.approx(table[best])
        assert (model.state_labels_[states[i]] == labels[i]).all()
        expected = np.full((len(best), 3), -np.inf)
        for labelling, value in table.items():
            cells = np.arange(len(best)), list(labelling)
            expected[cells] = np.maximum(expected[cells], value)
        np.testing.assert_allclose(margins[i], expected)


def test_what_is_known_is_known_of_labels():
    with pytest.raises(ValueError, match=r"shape \(1, 3\)"):
        FITTED.predict(X[:1], known=[np.ones((1, 5), dtype=bool)])


@pytest.mark.parametrize("given", [1, {}, {"a": 1, "b": 1}], ids=["one", "none", "ones"])
def test_one_state_is_the_label(given):
    plain = TreeTagger(random_state=0).fit(X, Y)
    model = TreeTagger(n_states_per_label=given, n_init=3, random_state=0).fit(X, Y)
    assert set(vars(model)) == set(vars(plain))
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.transitions_, plain.transitions_)
    assert model.state_labels_.tolist() == ["a", "b", "c"]
    for found, labels in zip(model.predict_states(X), model.predict(X), strict=True):
        assert (NAMES[found] == labels).all()


SOLVERS = {
    "bcfw": {"solver": "bcfw"},
    "pairwise": {"steps": "pairwise", "cache": True},
    "away": {"steps": "away", "sampling": "gap"},
    "threads": {"n_jobs": 2},
    "multi-plane": {"solver": "multi_plane"},
    "Frank-Wolfe": {"solver": "frank_wolfe"},
    "cutting plane": {"solver": "cutting_plane"},
    "subgradient": {"solver": "subgradient", "max_iter": 30},
    "averaged": {"solver": BCFW(averaging=True)},
}


@pytest.mark.parametrize("way", SOLVERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_solvers(way):
    """Rounds of any solver fall, and end near those of the others."""
    model = TreeTagger(**FAST).set_params(**SOLVERS[way]).fit(X, Y)
    assert (np.diff(model.round_objectives_) <= 0).all()
    if way != "subgradient":  # which has no certificate
        assert model.certified_
        assert model.round_objectives_[-1] <= 1.15 * FITTED.round_objectives_[-1]


def test_sparse_rows_give_the_same():
    sparse = [(sp.csr_array(x), *others) for x, *others in X]
    dense, other = (TreeTagger(**FAST | {"tol": 1e-4}).fit(g, Y) for g in (X, sparse))
    np.testing.assert_allclose(other.round_objectives_, dense.round_objectives_, rtol=1e-3)


def test_two_styles_of_a_label_are_found():
    """A label whose rows lie on both sides of another's is beyond a linear model of labels."""
    rng = np.random.default_rng(0)
    y = [np.array(["side", "middle"])[rng.integers(2, size=5)] for _ in range(40)]
    trees = []
    for labels in y:
        x = np.where(labels == "side", rng.choice([-3.0, 3.0], size=5), 0.0)
        x += 0.3 * rng.normal(size=5)
        trees.append((np.stack([x, np.ones(5)], axis=1), [-1, 0, 0, 1, 1]))
    given = {"random_state": 0, "lam": 1e-3}
    plain = TreeTagger(**given).fit(trees[:20], y[:20]).score(trees[20:], y[20:])
    model = TreeTagger(n_states_per_label={"side": 2}, **given).fit(trees[:20], y[:20])
    assert plain < 0.9
    assert model.score(trees[20:], y[20:]) == 1.0


def test_more_starts_are_no_worse():
    last = [TreeTagger(**FAST, n_init=n).fit(X, Y).round_objectives_[-1] for n in (1, 2, 4)]
    assert (np.diff(last) <= 0).all()


def test_no_node_with_one_label():
    y = [[{k, "b" if k == "a" else "a"} for k in labels.tolist()] for labels in Y]
    model = TreeTagger(**FAST).fit(X, y)
    assert model.certified_
    assert (np.diff(model.round_objectives_) <= 0).all()


@pytest.mark.parametrize("kinds", [False, True], ids=["one table", "kinds"])
def test_probabilities_are_sums_over_states(kinds):
    trees, y = data(kinds=kinds)
    tagger = TreeTagger(**FAST).fit(trees, y)
    model = CalibratedTagger(tagger, method="temperature", cv="prefit").fit(trees, y)
    given, scaled = model.calibration_, pickle.loads(pickle.dumps(model.estimator_))
    factor = np.broadcast_to(given["coef"], 3)[OWNER]
    # biases are weights of a constant feature
    scaled.coef_ = np.column_stack([factor[:, None] * scaled.coef_, given["bias"][OWNER]])
    scaled.root_, scaled.leaf_ = factor * scaled.root_, factor * scaled.leaf_
    scaled.transitions_ = given["pairs"] * scaled.transitions_
    for (x, *others), table in zip(trees, model.predict_proba(trees), strict=True):
        tree = np.column_stack([x, np.ones(len(x))]), *others
        sums = by_label(scaled, tree, over=logsumexp)
        total = logsumexp(list(sums.values()))
        expected = np.zeros(table.shape)
        for labelling, value in sums.items():
            expected[np.arange(len(table)), list(labelling)] += np.exp(value - total)
        np.testing.assert_allclose(table, expected, atol=1e-8)
    with pytest.raises(ValueError, match="risk='labelling' cannot"):
        CalibratedTagger(TreeTagger(**FAST), risk="labelling").fit(trees, y)


def test_reasons_are_of_states():
    frame = FITTED.weights_frame(top=None)
    assert set(np.asarray(frame["label"])) == {"a/0", "a/1", "b/0", "c/0", "c/1"}
    for i, t in [(1, 0), (4, 3)]:
        explanation = FITTED.explain(X, i, t)
        assert explanation.attrs["label"] == FITTED.predict(X)[i][t]
        margins = np.sort(FITTED.decision_function(X)[i][t])
        assert explanation.attrs["margin"] == pytest.approx(margins[-1] - margins[-2])
        assert explanation["contribution"].sum() == pytest.approx(margins[-1] - margins[-2])
    assert FITTED.explain(X, 1, 0)["feature"].str.contains(r"/\d -> ").any()


def test_tools_around():
    again = pickle.loads(pickle.dumps(FITTED))
    assert all((a == b).all() for a, b in zip(again.predict(X), FITTED.predict(X), strict=True))
    copied = clone(FITTED)
    assert copied.n_states_per_label == STATES
    assert not hasattr(copied, "n_states_")
    grid = {"n_states_per_label": [1, STATES], "n_init": [2]}
    search = GridSearchCV(TreeTagger(**FAST), grid, cv=2).fit(X, Y)
    assert search.best_score_ > 0
    stopped = EarlyStopping(TreeTagger(**FAST), random_state=0).fit(X, Y)
    assert stopped.estimator_.n_states_.sum() == 5
    box = {"coef": (np.full((5, 3), -0.1), 0.1)}
    assert np.abs(TreeTagger(**FAST, bounds=box).fit(X, Y).coef_).max() <= 0.1


def test_a_fit_goes_on():
    model = TreeTagger(**FAST | {"tol": 0.2}, warm_start=True).fit(X, Y)
    first = model.round_objectives_[-1]
    model.set_params(tol=0.01).fit(X, Y)
    assert model.round_objectives_[0] <= first + 1e-9
    more, labels = data(16)
    model.fit(X + more[14:], Y + labels[14:])
    assert model.certified_


REFUSED = {
    "slack": ({"rescaling": "slack"}, "cannot be combined with rescaling='slack'"),
    "prior": ({"prior": {"coef_": np.zeros((5, 3))}}, "cannot be combined with a prior"),
    "gdmm": ({"solver": "gdmm"}, "cannot be combined with solver='gdmm'"),
    "soft": ({"solver": "soft_bcfw"}, "cannot be combined with solver='soft_bcfw'"),
    "number": ({"n_states_per_label": {"a": 0}}, r"\['a'\] is 0, expected a positive integer"),
    "many": ({"n_states_per_label": 10**6}, "is 1000000, but y has [0-9]* nodes only"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    options, message = REFUSED[case]
    with pytest.raises(ValueError, match=f"n_states_per_label.*{message}"):
        TreeTagger(**FAST | options).fit(X, Y)


def test_refused_of_data():
    with pytest.raises(
        ValueError, match="data in parts cannot be combined with n_states_per_label"
    ):
        Distributed(TreeTagger(**FAST), client=False).fit([X[:7], X[7:]], [Y[:7], Y[7:]])
    with pytest.raises(ValueError, match="a path cannot be combined"):
        RegularizationPath(TreeTagger(**FAST)).fit(X, Y)
    with pytest.raises(NotFittedError):
        TreeTagger().predict_states(X)


@pytest.mark.parametrize(
    "value",
    [np.array([2, 1]), np.array([2, 0, 3]), np.array([2, 1, 1]), np.array([2.0, 1.0, 2.0]), "many"],
    ids=["short", "none", "fewer", "floats", "text"],
)
def test_damaged_numbers_of_states_are_named(value):
    model = pickle.loads(pickle.dumps(FITTED))
    model.n_states_ = value
    with pytest.raises(ValueError, match="n_states_|coef_"):
        model.predict(X)
