"""What is known of labels before trees are labelled: the best labelling under it."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.trees import random_parents

from sskit import TreeTagger

NAMES = np.array(["a", "b", "c"])


def data(n, kinds):
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(n):
        parents = random_parents(rng, int(rng.integers(1, 6)))
        labels = rng.integers(3, size=len(parents))
        x = (np.eye(3)[labels] + rng.normal(size=(len(labels), 3))).astype(np.float32)
        X.append((x, parents, parents % 2) if kinds else (x, parents))
        y.append(NAMES[labels])
    return X, y


@pytest.fixture(scope="module", params=[False, True], ids=["one table", "kinds"])
def fitted(request):
    X, y = data(30, request.param)
    return TreeTagger(lam=0.1, tol=0.1, random_state=0).fit(X, y), X


def draw(X, seed):
    """What is known of trees, and what it allows."""
    rng = np.random.default_rng(seed)
    masks = [rng.random((len(tree[0]), 3)) < 0.6 for tree in X]
    for mask in masks:
        mask[np.arange(len(mask)), rng.integers(3, size=len(mask))] = True
    known = [
        mask if i % 2 else [set(NAMES[row].tolist()) for row in mask]
        for i, mask in enumerate(masks)
    ]
    known[4], masks[4] = None, np.ones_like(masks[4])
    return known, masks


def enumerated(model, tree, mask):
    """All labellings that are possible, and their scores."""
    x, parents = tree[:2]
    nodes = x.astype(float) @ model.coef_.T
    leaf = ~np.isin(np.arange(len(x)), parents)
    found = {}
    for y in itertools.product(range(3), repeat=len(x)):
        if not mask[np.arange(len(x)), y].all():
            continue
        score = nodes[np.arange(len(x)), y].sum() + model.leaf_[np.array(y)[leaf]].sum()
        for v, parent in enumerate(parents):
            if parent < 0:
                score += model.root_[y[v]]
            else:
                table = model.transitions_
                if model.edge_kinds_ is not None:
                    table = table[np.searchsorted(model.edge_kinds_, tree[2][v])]
                score += table[y[parent], y[v]]
        found[y] = score
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_best_labelling_under_it_is_that_of_enumeration(fitted, seed):
    model, X = fitted
    known, masks = draw(X, seed)
    found, marginals = model.predict(X, known=known), model.decision_function(X, known=known)
    top, top_scores = model.predict_topk(X, 3, return_scores=True, known=known)
    for i, (tree, mask) in enumerate(zip(X, masks, strict=True)):
        scores = enumerated(model, tree, mask)
        best = tuple(np.searchsorted(NAMES, found[i]).tolist())
        order = np.sort(list(scores.values()))[::-1]
        assert scores[best] == pytest.approx(order[0], abs=1e-4)
        np.testing.assert_allclose(top_scores[i], order[:3], atol=1e-4)
        assert {tuple(np.searchsorted(NAMES, y).tolist()) for y in top[i]} <= set(scores)
        expected = np.full(mask.shape, -np.inf)
        for y, score in scores.items():
            cells = np.arange(len(y)), np.array(y)
            expected[cells] = np.maximum(expected[cells], score)
        np.testing.assert_allclose(marginals[i], expected, atol=1e-4)


def test_sparse_features_threads_and_nothing_known(fitted):
    model, X = fitted
    known, masks = draw(X, 7)
    wanted = model.predict(X, known=known)
    sparse = [(sp.csr_array(tree[0]), *tree[1:]) for tree in X]
    assert all(map(np.array_equal, model.predict(sparse, known=known), wanted))
    model.set_params(n_jobs=2)
    assert all(map(np.array_equal, model.predict(X, known=known), wanted))
    model.set_params(n_jobs=None)
    free = [np.ones_like(mask) for mask in masks]
    for nothing in (None, [None] * len(X), free):
        scores = model.decision_function(X, known=nothing)
        assert all(map(np.array_equal, scores, model.decision_function(X)))


@pytest.mark.parametrize(
    ("known", "error", "message"),
    [
        ([None], ValueError, "X has 2 samples but known has 1"),
        ([None, ["a"] * 9], ValueError, r"X\[1\] has \d rows but known\[1\] has 9 labels"),
        ([None, np.ones((9, 3), bool)], ValueError, r"known\[1\] must have shape"),
        ([["d"] * 9, None], ValueError, r"X\[0\] has \d rows"),
        ([None, "abc"], TypeError, r"known\[1\] must be a sequence of labels"),
    ],
)
def test_what_cannot_be_known_is_named(fitted, known, error, message):
    model, X = fitted
    with pytest.raises(error, match=message):
        model.predict(X[:2], known=known)
    some = [["d"] + [None] * (len(X[0][0]) - 1), None]
    with pytest.raises(ValueError, match=r"known\[0\]\[0\] has 'd', which is no label"):
        model.predict_topk(X[:2], 1, known=some)
