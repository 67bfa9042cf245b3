"""Oracles of trees that are too large for test_enumeration, and their ties."""

import numpy as np
import pytest

from sskit.oracles import (
    chain_marginals,
    chain_max_marginals,
    tree_marginals,
    tree_max_marginals,
    tree_max_sum,
    tree_top_k,
    viterbi,
    viterbi_top_k,
)


@pytest.mark.parametrize("n_states", [1, 2, 7, 8, 9, 26, 45])
def test_chains_are_trees(n_states):
    rng = np.random.default_rng(n_states)
    nodes, table = rng.normal(size=(30, n_states)), rng.normal(size=(n_states, n_states))
    table[rng.random(table.shape) < 0.2] = -np.inf
    np.fill_diagonal(table, 0.0)
    tree = nodes, np.stack([np.arange(29), np.arange(1, 30)], axis=1), table
    truth = {"truth": rng.integers(n_states, size=30), "cost": rng.random(30)}
    for found, expected in (
        (tree_max_sum(*tree, **truth), viterbi(nodes, table, **truth)),
        (tree_top_k(*tree, k=200), viterbi_top_k(nodes, table, 200)),
    ):
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_allclose(found[1], expected[1], atol=1e-10)
    most = chain_max_marginals(nodes, table)
    np.testing.assert_allclose(tree_max_marginals(*tree), most, rtol=0, atol=1e-10)
    found = tree_marginals(*tree, return_pairs=True)
    for some, others in zip(found, chain_marginals(nodes, table, return_pairs=True), strict=True):
        np.testing.assert_allclose(some, others, rtol=1e-9, atol=1e-12)


def test_ties_give_the_smallest_states_from_the_roots_on():
    edges = [[2, 1], [1, 0], [3, 4]]
    labels, score = tree_max_sum(np.zeros((5, 3)), edges, [-1.0, -1.0, -1.0])
    assert labels.tolist() == [0, 1, 0, 0, 1] and score == 0.0
    assert tree_max_sum(np.zeros((3, 2)))[0].tolist() == [0, 0, 0]
    labels, scores = tree_top_k([[0, 1], [3, 0]], k=3)
    assert labels.tolist() == [[1, 0], [0, 0], [1, 1]] and scores.tolist() == [4, 3, 1]


def test_large_trees():
    n, rng = 20_000, np.random.default_rng(5)  # deeper than any stack
    edges = np.stack([np.arange(1, n), np.arange(n - 1)], axis=1)
    nodes = np.zeros((n, 2))
    nodes[-1, 1], nodes[7, 0] = 3.0, 0.25
    labels, score = tree_max_sum(nodes, edges, np.full(n - 1, 2.0))
    assert labels.all() and score == 2.0 * (n - 1) + 3.0
    labels, scores = tree_top_k(nodes, edges, np.full(n - 1, 2.0), k=3)
    np.testing.assert_allclose(scores, 2.0 * (n - 1) + np.array([3.0, 1.25, 1.25]))
    assert labels[0].all() and not labels[1:, 7].any() and labels[:, -1].all()
    # a star; what is lost: sums of different leaves, and 5 at the root
    leaves = rng.permutation(2000) + 1.0
    nodes = np.vstack([[5.0, 0.0], np.column_stack([leaves, np.zeros(2000)])])
    edges = np.stack([np.zeros(2000, dtype=int), np.arange(1, 2001)], axis=1)
    labels, scores = tree_top_k(nodes, edges, np.zeros(2000), k=6)
    np.testing.assert_allclose(scores[0] - scores, [0, 1, 2, 3, 3, 4])
    edges = [(v, rng.integers(max(v - 3, 0), v)) for v in range(1, 10_000)]
    for scale in (1.0, 1e4):
        nodes, table = scale * rng.normal(size=(10_000, 3)), scale * rng.normal(size=(3, 3))
        log_partition, marginals = tree_marginals(nodes, edges, table)
        assert np.isfinite(log_partition)
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-12)
