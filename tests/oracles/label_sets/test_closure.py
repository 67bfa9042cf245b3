"""Closures against enumeration, and what they refuse."""

import numpy as np
import pytest
from helpers.label_sets import all_sets

from sskit.oracles import closure
from sskit.oracles.label_sets.sets import DagClosure, TreeSets, find_label_set

NONE = np.zeros((0, 2), dtype=np.int32), np.zeros(0)


def random_dag(rng, n_labels):
    """Edges from child to parent, in random order; parents are earlier in a hidden order."""
    names = rng.permutation(n_labels)
    edges = [(v, rng.integers(v)) for v in range(1, n_labels) for _ in range(rng.integers(3))]
    return names[rng.permutation(np.array(edges, dtype=np.int64).reshape(-1, 2))]


def best_closed_score(gains, edges):
    """The score of the best closed set."""
    sets = all_sets(len(gains))
    closed = sets[(sets[:, edges[:, 0]] <= sets[:, edges[:, 1]]).all(axis=1)]
    return (closed @ gains).max()


def test_best_of_all_closed_sets_on_trees():
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(1, 10))
        names = rng.permutation(n)
        parents = np.empty(n, dtype=np.int64)
        for place, label in enumerate(names):
            above = int(rng.integers(-1, place)) if place else -1
            parents[label] = names[above] if above >= 0 else -1
        gains = rng.normal(size=n)
        child = np.flatnonzero(parents >= 0)
        edges = np.stack([child, parents[child]], axis=1)
        labels, value = closure(gains, parents)
        assert value == pytest.approx(best_closed_score(gains, edges), abs=1e-12)
        assert (labels[edges[:, 0]] <= labels[edges[:, 1]]).all()
        # the same hierarchy as a graph
        np.testing.assert_array_equal(labels, closure(gains, edges)[0])


def test_best_of_all_closed_sets_on_graphs():
    rng = np.random.default_rng(1)
    for _ in range(300):
        n = int(rng.integers(1, 10))
        edges, gains = random_dag(rng, n), rng.normal(size=n)
        labels, value = closure(gains, edges)
        assert value == pytest.approx(best_closed_score(gains, edges), abs=1e-12)
        assert value == pytest.approx(gains @ labels, abs=1e-12)
        assert (labels[edges[:, 0]] <= labels[edges[:, 1]]).all()


@pytest.mark.parametrize("hierarchy", [[-1, 0, 0], [[1, 0], [2, 0]]])
def test_ties_give_the_smallest_set(hierarchy):
    for gains in ([0, 0, 0], [-1, 1, 0], [-2, 1, 1]):
        labels, value = closure(gains, hierarchy)
        assert labels.tolist() == [0, 0, 0]
        assert value == 0.0


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_gains_of_any_scale(scale):
    rng = np.random.default_rng(2)
    edges, gains = random_dag(rng, 12), rng.normal(size=12)
    expected = closure(gains, edges)[0]
    np.testing.assert_array_equal(closure(gains * scale, edges)[0], expected)


def test_sums_that_overflow():
    labels, value = closure([1e308, 1e308, 1e308, -1.0, 2.0, -3.0], [3, 3, 3, -1, 5, -1])
    assert labels.tolist() == [1, 1, 1, 1, 0, 0]
    assert value == np.inf


def test_a_hierarchy_deeper_than_any_stack():
    n = 20_000
    gains = np.full(n, -1.0)
    gains[-1] = n
    labels, value = closure(gains, np.arange(-1, n - 1))
    assert labels.all()
    assert value == 1.0


def test_one_oracle_serves_many_models_and_forks():
    rng = np.random.default_rng(5)
    edges = np.array([[1, 0], [2, 0], [3, 1], [3, 2]], dtype=np.int32)
    for oracle in (TreeSets(np.array([-1, 0, 0, 1], dtype=np.int32)), DagClosure(edges)):
        assert oracle.exact
        for _ in range(10):
            gains = rng.normal(size=4)
            fresh = find_label_set(oracle.fork(), gains, *NONE)[0]
            np.testing.assert_array_equal(find_label_set(oracle, gains, *NONE)[0], fresh)


def test_no_labels():
    labels, value = closure([], [])
    assert labels.shape == (0,)
    assert value == 0.0


@pytest.mark.parametrize(
    "gains, hierarchy, message",
    [
        ([1, 1, 1], [-1, 2, 1], "parents has a cycle: label 1 is its own ancestor"),
        ([1, 1, 1, 1], [1, 2, 3, 2], "label 2 is its own ancestor"),
        ([1, 1], [0, -1], "label 0 is its own ancestor"),
        ([1, 1], [-1, 2], r"parents\[1\] is 2, expected integers >= -1 and <= 1"),
        ([1, 1], [-2, 0], r"parents\[0\] is -2"),
        ([1, 1], [-1, 0, 0], "hierarchy has the parents of 3 labels, but gains has 2 labels"),
        ([1, 1], [-1.0, 0.0], "parents must be integers of shape"),
        ([1, 1], [[0, 1], [1, 0]], "label 0 is its own ancestor"),
        ([1, 1], [[1, 1]], "label 1 is its own ancestor"),
        ([1, 1], [[0, 2]], r"edges\[0, 1\] is 2"),
        ([1, 1], [[0, 1, 2]], "edges must be integers of shape"),
        ([1, np.nan], [-1, 0], r"gains\[1\] is nan"),
        ([[1, 1]], [-1, 0], r"gains must have shape \(n_labels,\)"),
    ],
)
def test_bad_input(gains, hierarchy, message):
    with pytest.raises(ValueError, match=message):
        closure(gains, hierarchy)
