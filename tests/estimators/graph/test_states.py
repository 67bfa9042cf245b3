"""Hidden states of the labels of graphs, against enumeration of all states."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from sskit import EarlyStopping, GraphTagger, RegularizationPath
from sskit.dask import Distributed
from sskit.estimators.completion.convex_concave import Rounds
from sskit.solvers import BCFW

COUNTS = np.array([2, 1, 2])
OWNER = np.repeat(np.arange(3), COUNTS)
STATES = {"a": 2, "c": 2}
NAMES = np.array(["a", "b", "c"])
# none of c before a
PAIRS = ~np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0]], dtype=bool)


def data(n=14, kinds=False):
    """Small graphs, most of them with a cycle, whose nodes have blobs within labels."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for i in range(n):
        m = 3 + i % 3
        edges = np.stack([np.arange(m), np.arange(1, m + 1) % m], axis=1)[: m - (i % 4 == 0)]
        labels = rng.integers(3, size=m)
        rows = np.eye(3)[labels] + 2.0 * rng.integers(2, size=(m, 1)) + rng.normal(size=(m, 3))
        kind = (np.where(labels == 0, "left", "right"),) if kinds else ()
        X.append((rows, edges, rng.normal(size=(len(edges), 2)), *kind))
        y.append(NAMES[labels])
    return X, y


X, Y = data()
FAST = {"n_states_per_label": STATES, "random_state": 0, "tol": 0.05, "lam": 0.05}
FITTED = GraphTagger(**FAST).fit(X, Y)


def score_states(model, graph, states):
    """Scores of states of the nodes, (n, V)."""
    rows, edges, features = graph[:3]
    total = (rows @ model.coef_.T)[np.arange(len(rows)), states].sum(axis=1)
    for (u, v), x in zip(edges, features, strict=True):
        if model.pairwise_form == "potts":
            total = total + (states[:, u] == states[:, v]) * (x @ model.pairwise_)
        else:
            total = total + np.tensordot(x, model.pairwise_, 1)[states[:, u], states[:, v]]
    return total


def by_label(model, graph, keeps=lambda labels: True):
    """The best score of each labelling of a graph that is kept."""
    states = np.array(list(itertools.product(range(len(OWNER)), repeat=len(graph[0]))))
    found = {}
    values = score_states(model, graph, states)
    for labels, value in zip(map(tuple, OWNER[states].tolist()), values, strict=True):
        if keeps(labels):
            found[labels] = max(value, found.get(labels, -np.inf))
    return found


def drawn(rng, hidden):
    """States that agree with what is known of labels, drawn at random."""
    possible = hidden.partial.possible
    return np.where(possible, rng.random(possible.shape), -1.0).argmax(axis=1)


WAYS = {
    "labels": {},
    "symmetric": {"pairwise_form": "symmetric"},
    "Potts": {"pairwise_form": "potts"},
    "share": {"loss": "hamming"},
    "costs": {"loss": np.array([[0, 1, 3], [1, 0, 2], [0.5, 1, 0]])},
    "function": {"loss": lambda y, classes: (y[:, None] != classes) * np.arange(1.0, 4.0)},
    "no label": {"ignore_label": "?"},
    "pairs": {"allowed_pairs": PAIRS},
    "kinds": {},
}


@pytest.mark.parametrize("way", WAYS)
def test_objective_is_that_of_enumeration(way):
    graphs, labels = data(kinds=way == "kinds")
    if way == "no label":
        # such nodes and their edges are left out
        labels = [np.where(np.arange(len(y)) == 1, "?", y) for y in labels]
    if way == "pairs":
        labels = [np.sort(y) for y in labels]
        graphs = [(x, edges[edges[:, 0] < edges[:, 1]], f[edges[:, 0] < edges[:, 1]])
                  for x, edges, f in graphs]  # fmt: skip
    weight = np.linspace(1.0, 2.0, len(graphs))
    model = GraphTagger(**FAST, **WAYS[way]).fit(graphs, labels, sample_weight=weight)
    w = model.coef_, model.pairwise_
    total = model.lam_ / 2 * sum((block**2).sum() for block in w)
    if way == "symmetric":  # of pairs that are the same one weight counts
        lower = np.tril(np.ones((5, 5), dtype=bool), -1)
        total -= model.lam_ / 2 * (model.pairwise_[:, lower] ** 2).sum()
    for graph, y, c in zip(graphs, labels, weight / weight.sum(), strict=True):
        known = y != "?"
        if way == "no label":
            x, edges, features = graph
            place, inside = np.cumsum(known) - 1, known[edges].all(axis=1)
            graph, y = (x[known], place[edges[inside]], features[inside]), y[known]
        truth = np.searchsorted(NAMES, y)
        costs = (truth[:, None] != np.arange(3)) * 1.0
        if way == "share":
            costs = costs / len(y)
        elif way == "costs":
            costs = np.asarray(WAYS[way]["loss"])[truth]
        elif way == "function":
            costs = costs * np.arange(1.0, 4.0)

        def keeps(labels, graph=graph, truth=truth):
            labels = np.array(labels)
            if way == "kinds":
                return ((labels == 0) == (truth == 0)).all()
            return way != "pairs" or PAIRS[labels[graph[1][:, 0]], labels[graph[1][:, 1]]].all()

        found = by_label(model, graph, keeps)
        hinge = max(costs[np.arange(len(y)), k].sum() + value for k, value in found.items())
        total += c * (hinge - found[tuple(truth.tolist())])
    assert model.certified_
    assert model.round_objectives_[-1] == pytest.approx(total, rel=1e-6)
    assert (np.diff(model.round_objectives_) <= 0).all()


def test_fitted_attributes():
    assert FITTED.classes_.tolist() == ["a", "b", "c"]
    assert FITTED.n_states_.tolist() == [2, 1, 2]
    assert FITTED.state_labels_.tolist() == ["a", "a", "b", "c", "c"]
    assert FITTED.coef_.shape == (5, 3)
    assert FITTED.pairwise_.shape == (2, 5, 5)
    assert FITTED.n_rounds_ == len(FITTED.round_objectives_)


def test_prediction_is_that_of_the_best_states():
    labels, states = FITTED.predict(X), FITTED.predict_states(X)
    margins, alone = FITTED.decision_function(X), FITTED.node_scores(X)
    assert (FITTED.optimality_gap(X) == 0).all()
    for i, graph in enumerate(X):
        table = by_label(FITTED, graph)
        best = max(table, key=table.get)
        assert labels[i].tolist() == NAMES[list(best)].tolist()
        assert score_states(FITTED, graph, states[i][None])[0] == pytest.approx(table[best])
        assert (FITTED.state_labels_[states[i]] == labels[i]).all()
        assert margins[i].shape == (len(labels[i]), 3)
        assert (NAMES[margins[i].argmax(axis=1)] == labels[i]).all()
        assert margins[i].max(axis=1) == pytest.approx(table[best])
        for v, k in np.ndindex(margins[i].shape):
            reach = max(value for labelling, value in table.items() if labelling[v] == k)
            assert margins[i][v, k] <= reach + 1e-9
        scores, owner = graph[0] @ FITTED.coef_.T, OWNER
        assert alone[i] == pytest.approx(
            np.stack([scores[:, owner == k].max(axis=1) for k in range(3)], axis=1)
        )
    right = sum((found == y).sum() for found, y in zip(labels, Y, strict=True))
    assert FITTED.score(X, Y) == pytest.approx(right / sum(map(len, Y)))


def test_what_is_known_is_known_of_labels():
    known = [[y[0]] + [None] * (len(y) - 1) for y in Y]
    found = FITTED.predict(X, known=known)
    for graph, y, labels in zip(X, Y, found, strict=True):
        table = by_label(FITTED, graph, lambda k, y=y: NAMES[k[0]] == y[0])
        assert labels.tolist() == NAMES[list(max(table, key=table.get))].tolist()
    with pytest.raises(ValueError, match=r"shape \(3, 3\)"):
        FITTED.predict(X[:1], known=[np.ones((3, 5), dtype=bool)])


@pytest.mark.parametrize("given", [1, {}, {"a": 1, "b": 1}], ids=["one", "none", "ones"])
def test_one_state_is_the_label(given):
    plain = GraphTagger(random_state=0).fit(X, Y)
    model = GraphTagger(n_states_per_label=given, n_init=3, random_state=0).fit(X, Y)
    assert set(vars(model)) == set(vars(plain))
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.pairwise_, plain.pairwise_)
    assert model.state_labels_.tolist() == ["a", "b", "c"]
    for found, labels in zip(model.predict_states(X), model.predict(X), strict=True):
        assert (NAMES[found] == labels).all()


SOLVERS = {
    "bcfw": {"solver": "bcfw"},
    "pairwise": {"steps": "pairwise", "cache": True},
    "away": {"steps": "away", "sampling": "gap"},
    "uniform": {"sampling": "uniform", "cache": False},
    "max gap": {"sampling": "max_gap"},
    "threads": {"n_jobs": 2},
    "multi-plane": {"solver": "multi_plane"},
    "Frank-Wolfe": {"solver": "frank_wolfe"},
    "cutting plane": {"solver": "cutting_plane"},
    "subgradient": {"solver": "subgradient", "max_iter": 30},
    "averaged": {"solver": BCFW(averaging=True)},
}


@pytest.mark.parametrize("inference", ["auto", "elimination", "trws"])
@pytest.mark.parametrize("way", SOLVERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_solvers(way, inference):
    """Rounds of any solver fall, and end near those of the others."""
    model = GraphTagger(**FAST, inference=inference).set_params(**SOLVERS[way]).fit(X, Y)
    assert (np.diff(model.round_objectives_) <= 0).all()
    if way != "subgradient":  # which has no certificate
        assert model.certified_
        assert model.round_objectives_[-1] <= 1.15 * FITTED.round_objectives_[-1]


def test_a_completion_that_is_worse_than_the_truth_is_not_taken():
    """Of graphs for which message passing finds a worse one, P would rise."""
    task = GraphTagger(**FAST)._make_task(X, Y, None)
    hidden, rng = task.completion.hidden, np.random.default_rng(0)
    w = rng.normal(size=task.problem.n_weights)
    model = GraphTagger(**FAST)
    model.pairwise_form, fitted = "directed", hidden.model.layout.split(w)
    model.coef_ = fitted["coef"]
    model.pairwise_ = hidden.model.form.tables(fitted["pairwise"])
    best, truth = hidden.complete(w), drawn(rng, hidden)
    # better or the same for even graphs, anything for odd ones
    even = np.repeat(np.arange(len(X)) % 2 == 0, np.diff(hidden.data.offsets))
    found = np.where(even, best, drawn(rng, hidden))
    rounds = Rounds(lambda w: found, None, None, task.problem, truth, offsets=hidden.data.offsets)
    same, gain = rounds.gain(w)

    def scores(states):
        pieces = np.split(states, hidden.data.offsets[1:-1])
        pairs = zip(X, pieces, strict=True)
        return np.array([score_states(model, graph, own[None])[0] for graph, own in pairs])

    expected = np.maximum(scores(found), scores(truth))
    np.testing.assert_allclose(scores(rounds.completed), expected)
    assert (scores(found) < scores(truth)).any() and not same
    assert gain == pytest.approx((expected - scores(truth)).mean())
    rounds.find = lambda w: np.where(even, truth, found)
    rounds.truth = np.where(even, truth, rounds.completed)
    rounds.problem = task.problem.with_truth(rounds.truth)
    assert rounds.gain(w) == (True, 0.0)


def test_sparse_rows_give_the_same():
    sparse = [(sp.csr_array(x), *others) for x, *others in X]
    dense, other = (GraphTagger(**FAST | {"tol": 1e-4}).fit(g, Y) for g in (X, sparse))
    np.testing.assert_allclose(other.round_objectives_, dense.round_objectives_, rtol=1e-3)


def test_two_styles_of_a_label_are_found():
    """A label whose rows lie on both sides of another's is beyond a linear model of labels."""
    rng = np.random.default_rng(0)
    ring = np.stack([np.arange(5), np.arange(1, 6) % 5], axis=1)
    y = [np.array(["side", "middle"])[rng.integers(2, size=5)] for _ in range(40)]
    graphs = []
    for labels in y:
        x = np.where(labels == "side", rng.choice([-3.0, 3.0], size=5), 0.0)
        x += 0.3 * rng.normal(size=5)
        graphs.append((np.stack([x, np.ones(5)], axis=1), ring, None))
    given = {"random_state": 0, "lam": 1e-3}
    plain = GraphTagger(**given).fit(graphs[:20], y[:20]).score(graphs[20:], y[20:])
    model = GraphTagger(n_states_per_label={"side": 2}, **given).fit(graphs[:20], y[:20])
    assert plain < 0.9
    assert model.score(graphs[20:], y[20:]) == 1.0


def test_more_starts_are_no_worse():
    last = [GraphTagger(**FAST, n_init=n).fit(X, Y).round_objectives_[-1] for n in (1, 2, 4)]
    assert (np.diff(last) <= 0).all()


def test_pixels_get_labels():
    class Image:
        """A graph of two regions."""

        def __init__(self, rows, segments):
            self.features, self.segments = rows, segments
            self.edges, self.edge_features = np.array([[0, 1]]), None
            self.areas = np.array([2.0, 2.0])

    rng = np.random.default_rng(0)
    segments, masks, images = np.array([[0, 0], [1, 1]]), [], []
    for i in range(6):
        labels = np.array(["sky", "sea"])[[i % 2, 1 - i % 2]]
        images.append(Image(rng.normal(size=(2, 2)) + (labels == "sky")[:, None], segments))
        masks.append(labels[segments])
    model = GraphTagger(n_states_per_label=2, random_state=0).fit(images, masks)
    assert all(found.shape == (2, 2) for found in model.predict(images))
    assert set(np.unique(model.predict(images)[0])) <= {"sky", "sea"}
    assert 0.0 <= model.score(images, masks) <= 1.0


def test_tools_around():
    again = pickle.loads(pickle.dumps(FITTED))
    assert all((a == b).all() for a, b in zip(again.predict(X), FITTED.predict(X), strict=True))
    assert clone(FITTED).n_states_per_label == STATES
    frame = FITTED.weights_frame(top=None)
    assert set(np.asarray(frame["label"])) == {"a/0", "a/1", "b/0", "c/0", "c/1"}
    grid = {"n_states_per_label": [1, STATES], "n_init": [2]}
    search = GridSearchCV(GraphTagger(**FAST), grid, cv=2).fit(X, Y)
    assert search.best_score_ > 0
    stopped = EarlyStopping(GraphTagger(**FAST), random_state=0).fit(X, Y)
    assert stopped.estimator_.n_states_.sum() == 5
    box = {"coef": (np.full((5, 3), -0.1), 0.1)}
    assert np.abs(GraphTagger(**FAST, bounds=box).fit(X, Y).coef_).max() <= 0.1


def test_a_fit_goes_on():
    model = GraphTagger(**FAST | {"tol": 0.2}, warm_start=True).fit(X, Y)
    first = model.round_objectives_[-1]
    model.set_params(tol=0.01).fit(X, Y)
    assert model.round_objectives_[0] <= first + 1e-9
    model.fit(*data(16))
    assert model.certified_


REFUSED = {
    "slack": ({"rescaling": "slack"}, "cannot be combined with rescaling='slack'"),
    "prior": ({"prior": {"coef_": np.zeros((5, 3))}}, "cannot be combined with a prior"),
    "gdmm": ({"solver": "gdmm"}, "cannot be combined with solver='gdmm'"),
    "soft": ({"solver": "soft_bcfw"}, "cannot be combined with solver='soft_bcfw'"),
    "number": ({"n_states_per_label": {"a": 0}}, r"\['a'\] is 0, expected a positive integer"),
    "many": ({"n_states_per_label": 10**6}, "is 1000000, but y has 55 nodes only"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    options, message = REFUSED[case]
    with pytest.raises(ValueError, match=f"n_states_per_label.*{message}"):
        GraphTagger(**FAST | options).fit(X, Y)


def test_refused_of_data():
    with pytest.raises(
        ValueError, match="data in parts cannot be combined with n_states_per_label"
    ):
        Distributed(GraphTagger(**FAST), client=False).fit([X[:7], X[7:]], [Y[:7], Y[7:]])
    with pytest.raises(ValueError, match="labels|states"):
        RegularizationPath(GraphTagger(**FAST)).fit(X, Y)
    two = [np.where(y == "c", "b", y) for y in Y]
    with pytest.raises(ValueError, match="two labels of one state, but here are 3"):
        GraphTagger(n_states_per_label={"a": 2}, inference="qpbo").fit(X, two)
    with pytest.raises(NotFittedError):
        GraphTagger().predict_states(X)
