"""Closures are the best of all closed sets."""

import numpy as np
import pytest
from helpers.multilabel import all_sets
from helpers.trees import random_parents

from sskit.oracles import closure
from sskit.oracles.label_sets.sets import DagClosure, TreeSets, find_label_set

NONE = np.zeros((0, 2), dtype=np.int32), np.zeros(0)


def random_dag(rng, n_labels):
    """Edges from child to parent, in random order; parents are earlier in a hidden order."""
    names = rng.permutation(n_labels)
    edges = [(v, rng.integers(v)) for v in range(1, n_labels) for _ in range(rng.integers(3))]
    return names[rng.permutation(np.array(edges, dtype=np.int64).reshape(-1, 2))]


def test_best_of_all_closed_sets():
    rng = np.random.default_rng(0)
    for k in range(400):
        n = int(rng.integers(1, 10))
        gains = rng.normal(size=n) if k % 4 < 2 else rng.integers(-1, 2, size=n).astype(float)
        if k % 2:
            hierarchy = edges = random_dag(rng, n)
        else:
            hierarchy = random_parents(rng, n, int(rng.integers(1, n + 1)))
            child = np.flatnonzero(hierarchy >= 0)
            edges = np.stack([child, hierarchy[child]], axis=1)
        labels, value = closure(gains, hierarchy)
        sets = all_sets(n)
        closed = sets[(sets[:, edges[:, 0]] <= sets[:, edges[:, 1]]).all(axis=1)]
        assert value == pytest.approx((closed @ gains).max(), abs=1e-12)
        assert value == pytest.approx(gains @ labels, abs=1e-12)
        # of ties the smallest set
        best = closed[closed @ gains >= value - 1e-12]
        assert labels.tolist() == best.min(axis=0).tolist()
        # the same hierarchy as a graph
        np.testing.assert_array_equal(labels, closure(gains, edges)[0])
    labels, value = closure([], [])
    assert labels.shape == (0,) and value == 0.0
    # deeper than any stack
    n = 20_000
    labels, value = closure(np.append(np.full(n - 1, -1.0), n), np.arange(-1, n - 1))
    assert labels.all() and value == 1.0


def test_gains_of_any_scale():
    rng = np.random.default_rng(2)
    edges, gains = random_dag(rng, 12), rng.normal(size=12)
    expected = closure(gains, edges)[0]
    for scale in (1e-9, 1e9):
        np.testing.assert_array_equal(closure(gains * scale, edges)[0], expected)
    labels, value = closure([1e308, 1e308, 1e308, -1.0, 2.0, -3.0], [3, 3, 3, -1, 5, -1])
    assert labels.tolist() == [1, 1, 1, 1, 0, 0]
    assert value == np.inf


def test_one_oracle_serves_many_models_and_forks():
    rng = np.random.default_rng(5)
    edges = np.array([[1, 0], [2, 0], [3, 1], [3, 2]], dtype=np.int32)
    for oracle in (TreeSets(np.array([-1, 0, 0, 1], dtype=np.int32)), DagClosure(edges)):
        assert oracle.exact
        for _ in range(10):
            gains = rng.normal(size=4)
            fresh = find_label_set(oracle.fork(), gains, *NONE)[0]
            np.testing.assert_array_equal(find_label_set(oracle, gains, *NONE)[0], fresh)
