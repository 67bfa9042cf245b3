"""TreeTagger has a table of pairs for each kind of edge, and of a chain the lam of a sequence.

Objectives and predictions are those of enumeration in tests/estimators/test_enumeration.py; bounds
of a table are in base/test_objective.py, kinds that are wrong in tests/inputs/test_trees.py.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from sskit import SequenceTagger, TreeTagger
from sskit.datasets import make_chains

NAMES = np.array(["a", "b", "c"])


def families(n, seed=0, kinds=("next",), noise=1.0):
    """Trees in which a child is what follows its parent, or the same, by the kind of its edge."""
    rng, X, y = np.random.default_rng(seed), [], []
    for _ in range(n):
        parents = np.array([-1, *(rng.integers(v) for v in range(1, rng.integers(3, 10)))])
        kind, labels = rng.choice(kinds, size=len(parents)), rng.integers(3, size=len(parents))
        for v in range(1, len(parents)):
            labels[v] = (labels[parents[v]] + (kind[v] == "next")) % 3
        x = np.eye(3)[labels] + noise * rng.normal(size=(len(parents), 3))
        X.append((x, parents, kind) if len(kinds) > 1 else (x, parents))
        y.append(NAMES[labels])
    return X, y


OPTIONS = {"tol": 0.05, "random_state": 0}


def test_learns_more_than_the_nodes_say():
    (X, y), (X_test, y_test) = families(60), families(60, seed=1)

    def apart(trees):
        return [(x, np.full(len(x), -1)) for x, _ in trees]

    model, alone = TreeTagger(**OPTIONS).fit(X, y), TreeTagger(**OPTIONS).fit(apart(X), y)
    assert model.score(X_test, y_test) > alone.score(apart(X_test), y_test) + 0.1
    solver = model.solver_
    assert (solver.steps, solver.sampling, solver.cache) == ("pairwise", "gap", True)
    np.testing.assert_array_equal(model.transitions_.argmax(axis=1), [1, 2, 0])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_default_lam_of_a_chain_is_that_of_a_sequence(form):
    X, y = make_chains(9, n_features=5, n_states=3, random_state=0)
    trees = [(form(x), np.arange(-1, len(x) - 1)) for x in X]
    expected = SequenceTagger(tol=0.5).fit(X, y).lam_
    for data in (trees, [(*tree, ["next"] * len(tree[1])) for tree in trees]):
        assert TreeTagger(tol=0.5).fit(data, y).lam_ == pytest.approx(expected, abs=1e-9)


def test_a_table_for_each_kind():
    trees, labels = families(60, kinds=("next", "same"))
    model = TreeTagger(**OPTIONS).fit(trees, labels)
    assert TreeTagger(**OPTIONS).fit([tree[:2] for tree in trees], labels).edge_kinds_ is None
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
    assert model.predict(roots)[0].shape == labels[0].shape
