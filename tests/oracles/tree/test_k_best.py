"""The k best labellings of trees, against enumeration and chains."""

import numpy as np
import pytest
from helpers.graphs import exhaustive
from helpers.trees import random_parents

from sskit.oracles import tree_max_sum, tree_top_k, viterbi_top_k


def random_forest(rng, max_nodes=6):
    """Nodes, edges in any order and direction, tables; some entries forbidden."""
    n_nodes, n_states = int(rng.integers(1, max_nodes + 1)), int(rng.integers(1, 4))
    parents = random_parents(rng, n_nodes, int(rng.integers(1, n_nodes + 1)))
    below = rng.permutation(np.flatnonzero(parents >= 0))
    edges = rng.permuted(np.stack([parents[below], below], axis=1), axis=1)
    nodes = rng.normal(size=(n_nodes, n_states))
    tables = rng.normal(size=(len(edges), n_states, n_states))
    if rng.random() < 0.3:
        nodes, tables = np.round(nodes), np.round(tables)  # ties
    if rng.random() < 0.3:
        tables[rng.random(tables.shape) < 0.2] = -np.inf
        nodes[rng.random(nodes.shape) < 0.1] = -np.inf
    return nodes, edges, tables


def all_scores(nodes, edges, tables):
    labels = np.indices((nodes.shape[1],) * len(nodes)).reshape(len(nodes), -1).T
    scores = nodes[np.arange(len(nodes)), labels].sum(axis=1)
    for (u, v), table in zip(edges, tables, strict=True):
        scores = scores + table[labels[:, u], labels[:, v]]
    return labels, scores


@pytest.mark.parametrize(
    ("k", "n"),
    [
        *((k, 150) for k in (1, 2, 5, 40, 1000)),
        *(pytest.param(k, 2500, marks=pytest.mark.slow) for k in (2, 7, 50, 800)),
    ],
)
def test_equals_enumeration(k, n):
    rng = np.random.default_rng(k)
    for _ in range(n):
        forest = random_forest(rng)
        known, scores = all_scores(*forest)
        expected = np.sort(scores[scores > -np.inf])[::-1][:k]
        if not len(expected):
            with pytest.raises(ValueError, match="no labelling of .* is allowed"):
                tree_top_k(*forest, k=k)
            continue
        labels, found = tree_top_k(*forest, k=k)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert (np.diff(found) <= 0).all()
        assert len({row.tobytes() for row in labels}) == len(labels)
        place = [int(np.flatnonzero((known == row).all(axis=1))[0]) for row in labels]
        np.testing.assert_allclose(scores[place], found, atol=1e-12)


def test_chains_are_trees():
    rng = np.random.default_rng(0)
    nodes, transitions = rng.normal(size=(30, 4)), rng.normal(size=(4, 4))
    edges = np.stack([np.arange(29), np.arange(1, 30)], axis=1)
    labels, scores = tree_top_k(nodes, edges, transitions, k=200)
    expected = viterbi_top_k(nodes, transitions, 200)
    np.testing.assert_array_equal(labels, expected[0])
    np.testing.assert_allclose(scores, expected[1])
    best = tree_max_sum(nodes, edges, transitions)
    np.testing.assert_array_equal(labels[0], best[0])


def test_the_first_is_that_of_max_sum():
    rng = np.random.default_rng(3)
    for _ in range(100):
        nodes, edges, tables = random_forest(rng, 12)
        if not np.isfinite(tables).all() or not np.isfinite(nodes).all():
            continue
        labels, scores = tree_top_k(nodes, edges, tables, k=3)
        best = tree_max_sum(nodes, edges, tables)
        np.testing.assert_array_equal(labels[0], best[0])
        assert scores[0] == pytest.approx(best[1], abs=1e-12)


def test_more_labels_are_the_same_labels():
    rng = np.random.default_rng(4)
    for _ in range(30):
        nodes, edges, tables = random_forest(rng, 9)
        try:
            labels, scores = tree_top_k(nodes, edges, tables, k=30)
        except ValueError:
            continue
        for k in (1, 2, 7, 29):
            fewer = tree_top_k(nodes, edges, tables, k=k)
            np.testing.assert_array_equal(fewer[0], labels[:k])
            np.testing.assert_array_equal(fewer[1], scores[:k])


def test_a_tree_deeper_than_any_stack():
    n = 20_000
    edges = np.stack([np.arange(1, n), np.arange(n - 1)], axis=1)
    nodes = np.zeros((n, 2))
    nodes[-1, 1], nodes[7, 0] = 3.0, 0.25
    labels, scores = tree_top_k(nodes, edges, np.full(n - 1, 2.0), k=3)
    np.testing.assert_allclose(scores, 2.0 * (n - 1) + np.array([3.0, 1.25, 1.25]))
    assert labels[0].all() and not labels[1:, 7].any() and labels[:, -1].all()


def test_a_star_with_many_leaves():
    rng = np.random.default_rng(5)
    leaves = rng.permutation(2000) + 1.0
    nodes = np.vstack([[5.0, 0.0], np.column_stack([leaves, np.zeros(2000)])])
    edges = np.stack([np.zeros(2000, dtype=int), np.arange(1, 2001)], axis=1)
    labels, scores = tree_top_k(nodes, edges, np.zeros(2000), k=6)
    # what is lost: sums of different leaves, and 5 at the root
    np.testing.assert_allclose(scores[0] - scores, [0, 1, 2, 3, 3, 4])


def test_potts_and_no_edges():
    labels, scores = tree_top_k([[0, 1], [3, 0]], k=3)
    np.testing.assert_array_equal(labels, [[1, 0], [0, 0], [1, 1]])
    np.testing.assert_array_equal(scores, [4, 3, 1])
    star = [[0, 1], [0, 2], [3, 0]]
    nodes, agree = np.random.default_rng(1).normal(size=(4, 3)), [0.5, -0.5, 1.0]
    labels, scores = tree_top_k(nodes, star, agree, k=7)
    expected = exhaustive(nodes, star, np.array(agree)[:, None, None] * np.eye(3))
    np.testing.assert_array_equal(labels[0], expected[0])
    assert scores[0] == pytest.approx(expected[1])


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        ({"k": 0}, "k must be a positive integer"),
        ({"k": 1.5}, "k must be a positive integer"),
        ({"edges": [[0, 1], [1, 2], [2, 0]], "pairwise": [1, 1, 1]}, "closes a cycle"),
        ({"nodes": [[np.nan]]}, "nodes"),
    ],
)
def test_bad_input(arguments, pattern):
    with pytest.raises(ValueError, match=pattern):
        tree_top_k(**{"nodes": np.zeros((3, 2)), "k": 2} | arguments)
