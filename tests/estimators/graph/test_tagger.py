"""GraphTagger says by how much it may have missed the best labelling, and keeps to what is known.

Objectives and predictions are those of enumeration in tests/estimators/test_enumeration.py.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.graphs import grid_edges
from helpers.labellings import score_labellings
from helpers.refusals import refused
from sklearn.base import clone

from sskit import GraphTagger


def board(n, seed=0, shape=(7, 8)):
    """Checker boards: neighbours never agree."""
    rng = np.random.default_rng(seed)
    y = np.add.outer(*map(np.arange, shape)).ravel() % 2
    noise = 1.5 * rng.normal(size=(n, len(y), 2))
    return [(np.eye(2)[y] + noisy, grid_edges(*shape)) for noisy in noise], [y] * n


def small(n=12, n_labels=3):
    """Rings and chords with labels that depend on neighbours, and edge features of any sign."""
    rng = np.random.default_rng(0)
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [1, 3]])
    y = list(rng.integers(n_labels, size=(n, 5)))
    y[0][:n_labels] = np.arange(n_labels)
    X = [(np.eye(n_labels)[labels] + rng.normal(size=(5, n_labels)), edges, rng.normal(size=(6, 2)))
         for labels in y]  # fmt: skip
    return X, y


@pytest.mark.parametrize("form", ["directed", "symmetric", "potts"])
def test_says_what_message_passing_may_have_missed(form):
    """The others are exact: see test_enumeration.py."""
    X, y = small()
    model = GraphTagger(pairwise_form=form, inference="trws", random_state=0).fit(X, y)
    masks = np.ones((len(X), 5, 3), dtype=bool)
    masks[1, [0, 4]] = np.eye(3, dtype=bool)[[2, 1]]
    masks[1, 2, 2] = masks[2, 3, 0] = masks[2, 3, 2] = False
    known = [None, [2, None, {0, 1}, None, frozenset([1])], masks[2], *[None] * (len(X) - 3)]
    for given in ({}, {"known": known}):
        gaps, found = model.optimality_gap(X, **given), model.predict(X, **given)
        scores = model.decision_function(X, **given)
        for i, graph in enumerate(X):
            labels, values = score_labellings(model, graph)
            possible = masks[i] if given else np.ones((5, 3), dtype=bool)
            best = values[possible[np.arange(5), labels].all(axis=1)].max()
            own = values[(labels == found[i]).all(axis=1)][0]
            assert own <= best + 1e-9 <= own + gaps[i] + 2e-9
            assert (np.isneginf(scores[i]) == ~possible).all()
            assert given or scores[i].max(axis=1) == pytest.approx(np.full(5, own))
    np.testing.assert_allclose(model.node_scores(X)[0], X[0][0] @ model.coef_.T, atol=1e-10)
    assert form != "symmetric" or (model.pairwise_ == model.pairwise_.transpose(0, 2, 1)).all()
    assert (model.set_params(inference="elimination").optimality_gap(X) == 0.0).all()


def test_two_labels_that_are_known_are_cut_around():
    X, y = board(10)
    model = GraphTagger(inference="qpbo", random_state=0).fit(X, y)
    known = [[1 - y[0][0], *[None] * 55], *[None] * 9]
    found = model.predict(X, known=known)[0]
    assert np.isneginf(model.decision_function(X, known=known)[0][0, y[0][0]])
    with pytest.raises(ValueError, match=r"known\[1\]\[0\] leaves no label"):
        model.predict(X[:2], known=[None, np.zeros((56, 2), bool)])
    wide, path = board(1, shape=(12, 13))[0][0], (X[0][0], X[0][1][:1])
    names = model.set_params(inference="auto").choose_inference([wide, path])
    assert names.tolist() == ["qpbo", "tree"]
    exact = model.set_params(inference="elimination").predict(X[:1], known=known[:1])
    assert found.tolist() == exact[0].tolist() and found[0] == known[0][0]


def with_kinds(n=10):
    """Graphs of words and things: labels of either are their own."""
    rng, edges = np.random.default_rng(0), np.array([[0, 2], [1, 3], [0, 1], [2, 3]])
    y = [np.array(["N", "V", "cat", "dog"])[[1, 0, 3, 2] if i % 2 else [0, 1, 2, 3]]
         for i in range(n)]  # fmt: skip
    kinds = ["word", "word", "thing", "thing"]
    return [(rng.normal(size=(4, 3)), edges, None, kinds) for _ in y], y


def test_kinds_of_nodes_have_labels_of_their_own():
    X, y = with_kinds()
    model = GraphTagger(random_state=0).fit(X, y)
    assert model.node_kinds_.tolist() == ["thing", "word"]
    assert model.kind_classes_.tolist() == [[False, False, True, True], [True, True, False, False]]
    names = ("features", "edges", "edge_features", "node_kinds")
    objects = [SimpleNamespace(**dict(zip(names, graph, strict=True))) for graph in X]
    np.testing.assert_array_equal(model.coef_, clone(model).fit(objects, y).coef_)
    for kinds, message in (
        ((None,), "X has no kinds of nodes, but the model was fitted"),
        ((), "X has no kinds of nodes, but the model was fitted"),
        ((["word", "word", "thing", "verb"],), "kind 'verb' at node 3, which no"),
        ((["word"],), r"X\[0\] has 4 rows but node_kinds\[0\] has 1 labels"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict([(*X[0][:3], *kinds)])
    without = [graph[:3] for graph in X]
    with pytest.raises(ValueError, match="X has kinds of nodes, but the model .* without kinds"):
        clone(model).fit(without, y).predict(X)
    with pytest.raises(ValueError, match=r"known\[0\]\[0\] is no label that nodes of the kind 'wo"):
        model.predict(X[:1], known=[["cat", None, None, None]])
    with pytest.raises(ValueError, match=r"X\[1\] has no kinds of nodes, but others have"):
        GraphTagger().fit([X[0], X[1][:3]], y[:2])


def test_pairs_that_are_not_allowed_never_stand_together():
    X, _ = small()
    a, b = X[0][1].T
    # colour the ring: neighbours differ
    y = np.array(list(itertools.product(range(3), repeat=5)))
    y = list(y[(y[:, a] != y[:, b]).all(axis=1)][:12])
    known = [None, [0, 0, None, None, None], *[None] * (len(X) - 2)]
    for inference in ("auto", "elimination", "trws"):
        model = GraphTagger(allowed_pairs=~np.eye(3, dtype=bool), inference=inference)
        for labels in model.fit(X, y).predict(X):
            assert (labels[a] != labels[b]).all()
        if inference != "trws":
            with pytest.raises(ValueError, match=r"X\[1\]: no labelling of 5 nodes is allowed"):
                model.predict(X, known=known)
    with pytest.raises(ValueError, match=r"y\[1\] has the labels .* at edge \d, which allowed_"):
        model.fit(X[:2], [y[0], np.zeros(5, dtype=int)])


def test_options_that_do_not_fit_are_refused():
    X, y = small(6)
    for options, message in (
        ({"inference": "qpbo"}, "inference='qpbo' is for two labels of one state, but here are 3"),
        ({"inference": "tree"}, r"X\[0\]: edge .* closes a cycle.*use inference='trws'"),
        ({"allowed_pairs": np.ones((2, 2), bool)}, "allowed_pairs must be a boolean array of sha"),
        ({"allowed_pairs": np.ones((3, 3))}, "allowed_pairs must be a boolean array of shape"),
        ({"allowed_pairs": np.eye(3) == 1, "pairwise_form": "potts"}, "needs tables of all pairs"),
        ({"node_weights": "areas"}, "node_weights='areas' needs graphs with areas"),
        ({"solver": "gdmm"}, "scores of their own, which GraphStructure"),
        ({"loss": [1.0]}, "loss must have shape"),
        ({"loss": lambda y, k: np.ones(3)}, r"loss of y\[0\] must be .* got shape \(3,\)"),
        ({"loss": lambda y, k: np.ones((5, 3))}, r"loss returned .* for node 0 of y\[0\]"),
        ({"loss": int}, r"^loss=<class .int.> failed on the labels of y\[0\]: "),
        ({"loss": lambda y, k: k[9]}, r"failed on the labels of y\[0\]: index 9 is out of bounds"),
    ):
        model = GraphTagger(**options)
        with refused(model, (ValueError, TypeError), message):
            model.fit(X, y)
    model = GraphTagger(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="inference"):
        model.set_params(inference="").predict(X)


def test_neighbours_that_repel_each_other_are_learnt():
    (X, y), test = board(20, shape=(12, 13)), board(20, seed=1, shape=(12, 13))
    model, alone = (
        GraphTagger(bounds=bounds, random_state=0).fit(X, y)
        for bounds in (None, {"pairwise": (0, 0)})
    )
    assert model.score(*test) > 0.99 > 0.85 > alone.score(*test)
    assert model.pairwise_[0, 0, 1] > 0 > model.pairwise_[0, 0, 0] and model.certified_
    path = X[0][0], X[0][1][:1]
    assert model.choose_inference([X[0], path]).tolist() == ["qpbo", "tree"]
