"""TreeTagger: what it learns, chains, input and output, bad input, scikit-learn's tools."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.trees import random_parents

from sskit import SequenceTagger, TreeTagger
from sskit.datasets import make_chains

NAMES = np.array(["a", "b", "c"])


def families(n, seed=0, noise=1.0, kinds=("next",)):
    """Trees in which a child mostly follows its parent, or is the same, by the kind of its edge."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        parents = random_parents(rng, int(rng.integers(3, 10)))
        size, done = len(parents), parents < 0
        kind, labels = rng.choice(kinds, size=size), rng.integers(3, size=size)
        while not done.all():
            for v in np.flatnonzero(~done & done[parents]):
                step = kind[v] == "next" and rng.random() < 0.9
                labels[v] = (labels[parents[v]] + step) % 3
                done[v] = True
        x = np.eye(3)[labels] + noise * rng.normal(size=(size, 3))
        X.append((x, parents, kind) if len(kinds) > 1 else (x, parents))
        y.append(NAMES[labels])
    return X, y


X, Y = families(60)
X_TEST, Y_TEST = families(60, seed=1)
OPTIONS = {"tol": 0.05, "random_state": 0}


@pytest.fixture(scope="module")
def fitted():
    return TreeTagger(**OPTIONS).fit(X, Y)


def test_learns_more_than_the_nodes_say(fitted):
    nodes = [(x, np.full(len(x), -1)) for x, _ in X_TEST]
    alone = TreeTagger(**OPTIONS).fit([(x, np.full(len(x), -1)) for x, _ in X], Y)
    assert fitted.score(X_TEST, Y_TEST) > alone.score(nodes, Y_TEST) + 0.1
    solver = fitted.solver_
    assert (solver.steps, solver.sampling, solver.cache) == ("pairwise", "gap", True)
    # a child is mostly what follows its parent
    np.testing.assert_array_equal(fitted.transitions_.argmax(axis=1), [1, 2, 0])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_default_lam_of_a_chain_is_that_of_a_sequence(form):
    """That objectives are those of enumeration is in tests/estimators/test_enumeration.py."""
    X, y = make_chains(9, n_features=5, n_states=3, random_state=0)
    trees = [(form(x), np.arange(-1, len(x) - 1)) for x in X]
    expected = SequenceTagger(tol=0.5).fit(X, y).lam_
    for data in (trees, [(*tree, ["next"] * len(tree[1])) for tree in trees]):
        assert TreeTagger(tol=0.5).fit(data, y).lam_ == pytest.approx(expected, abs=1e-9)


def two_kinds(n, seed=0):
    return families(n, seed, noise=2.0, kinds=("next", "same"))


def test_a_table_for_each_kind_learns_more_than_one_for_all():
    (trees, labels), (X_test, y_test) = two_kinds(80), two_kinds(80, seed=1)
    model = TreeTagger(**OPTIONS).fit(trees, labels)
    tied = TreeTagger(**OPTIONS).fit([tree[:2] for tree in trees], labels)
    assert tied.edge_kinds_ is None
    assert model.score(X_test, y_test) > tied.score([tree[:2] for tree in X_test], y_test) + 0.05
    assert model.edge_kinds_.tolist() == ["next", "same"]
    np.testing.assert_array_equal(model.transitions_[0].argmax(axis=1), [1, 2, 0])
    np.testing.assert_array_equal(model.transitions_[1].argmax(axis=1), [0, 1, 2])
    # a number for each edge of the tree that all samples have
    chains = [(x[:3], [-1, 0, 1], np.arange(3)) for x, *_ in trees]
    own = TreeTagger(**OPTIONS).fit(chains, [y[:3] for y in labels])
    assert own.edge_kinds_.tolist() == [1, 2] and own.transitions_.shape == (2, 3, 3)
    # trees of roots alone have no tables
    roots = [(x, np.full(len(x), -1), kinds) for x, _, kinds in trees[:20]]
    model = TreeTagger(**OPTIONS).fit(roots, labels[:20])
    assert model.transitions_.shape == (0, 3, 3) and model.edge_kinds_.size == 0
    alone = [tree[:2] for tree in roots]
    expected = TreeTagger(**OPTIONS).fit(alone, labels[:20]).predict(alone)
    assert all(map(np.array_equal, model.predict(roots), expected))


def test_bounds_and_kinds_that_are_wrong():
    trees, labels = two_kinds(30)
    bounds = {"transitions": (None, np.stack([np.full((3, 3), np.inf), np.zeros((3, 3))])),
              "leaf": (0, 0)}  # fmt: skip
    model = TreeTagger(bounds=bounds, **OPTIONS).fit(trees, labels)
    assert (model.transitions_[1] <= 0).all() and (model.transitions_[0] > 0).any()
    assert not model.leaf_.any()
    x, parents, _ = trees[4]
    other = (x, parents, np.full(len(x), "other"))
    node = int(np.flatnonzero(np.asarray(parents) >= 0)[0])
    with pytest.raises(
        ValueError, match=rf"^X\[1\] has an edge of the kind 'other' at node {node}, which no tree"
    ):
        model.predict([trees[0], other])
    with pytest.raises(ValueError, match="X has no kinds of edges, but the model was fitted"):
        model.predict([tree[:2] for tree in trees])
