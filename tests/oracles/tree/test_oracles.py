"""All oracles of trees against all labellings, and against chains where these are too many."""

import numpy as np
import pytest
from helpers.graphs import tables_of
from helpers.label_sets import random_forest
from helpers.potentials import every_labelling
from scipy.special import logsumexp

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


def random_problem(rng, form, max_nodes=6, n_states=None, *, forbid=0.0, ties=False, scale=1.0):
    """Nodes, edges of a forest in any order and direction, and pairwise potentials of a form."""
    n_nodes = int(rng.integers(1, max_nodes + 1))
    n_states = n_states or int(rng.integers(1, 5))
    edges = random_forest(rng, n_nodes, int(rng.integers(n_nodes)))
    shape = {"potts": (), "one": (n_states,) * 2, "each": (len(edges), n_states, n_states)}[form]
    nodes = scale * rng.normal(size=(n_nodes, n_states))
    pairwise = 2 * scale * rng.normal(size=shape if shape else len(edges))
    if ties:
        nodes, pairwise = np.round(nodes), np.round(pairwise)
    nodes[rng.random(nodes.shape) < forbid / 3] = -np.inf
    pairwise[rng.random(pairwise.shape) < forbid] = -np.inf
    return nodes, edges, pairwise


def check_best(problem, labels, scores):
    """Compare the best labellings and max-marginals with those of all scores."""
    nodes, n_allowed = problem[0], (scores > -np.inf).sum()
    place_of = lambda rows: np.ravel_multi_index(rows.T, (nodes.shape[1],) * len(nodes))  # noqa: E731
    expected = np.full(nodes.shape, -np.inf)
    for v in range(len(nodes)):
        np.maximum.at(expected[v], labels[:, v], scores)
    found = tree_max_marginals(*problem)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    if not n_allowed:
        for oracle, options in ((tree_max_sum, {}), (tree_top_k, {"k": 3})):
            with pytest.raises(ValueError, match=f"no labelling of {len(nodes)} nodes is allowed"):
                oracle(*problem, **options)
        return
    best, score = tree_max_sum(*problem)
    assert score == pytest.approx(scores.max(), abs=1e-10)
    assert scores[place_of(best)] == pytest.approx(score, abs=1e-10)
    most = tree_top_k(*problem, k=1000)
    for k in (1, 2, 5, 40, 1000):
        rows, values = tree_top_k(*problem, k=k)
        assert len(rows) == len(values) == min(k, n_allowed)
        np.testing.assert_allclose(values, np.sort(scores)[::-1][: len(values)], atol=1e-12)
        np.testing.assert_allclose(scores[place_of(rows)], values, atol=1e-12)
        assert (np.diff(values) <= 0).all() and len(np.unique(rows, axis=0)) == len(rows)
        # fewer are the first of more
        np.testing.assert_array_equal(rows, most[0][:k])
        np.testing.assert_array_equal(values, most[1][:k])
    assert scores[place_of(most[0][0])] == pytest.approx(score, abs=1e-12)


def check_sums(problem, labels, scores):
    """Compare log Z and probabilities with those of all scores."""
    nodes, edges, _ = problem
    log_partition, n_states = logsumexp(scores), nodes.shape[1]
    if log_partition == -np.inf:
        with pytest.raises(ValueError, match=f"no labelling of {len(nodes)} nodes"):
            tree_marginals(*problem)
        return
    fractions = np.exp(scores - log_partition)
    marginals, pairs = np.zeros(nodes.shape), np.zeros((len(edges), n_states, n_states))
    for v in range(len(nodes)):
        np.add.at(marginals[v], labels[:, v], fractions)
    for e, (u, v) in enumerate(edges):
        np.add.at(pairs[e], (labels[:, u], labels[:, v]), fractions)
    found = tree_marginals(*problem, return_pairs=True)
    assert abs(found[0] - log_partition) <= 1e-12 * max(1.0, abs(log_partition))
    np.testing.assert_allclose(found[1], marginals, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[2], pairs, rtol=1e-9, atol=1e-12)
    assert len(tree_marginals(*problem)) == 2


@pytest.mark.parametrize("form", ["potts", "one", "each"])
@pytest.mark.parametrize("kind", ["reals", "ties", "large"])
@pytest.mark.parametrize(("n", "seed"), [(32, 0), pytest.param(1500, 1, marks=pytest.mark.slow)])
def test_all_oracles(form, kind, n, seed):
    rng, options = np.random.default_rng(seed), {"ties": kind == "ties"}
    options["scale"] = 1e4 if kind == "large" else 1.0
    for k in range(n):
        problem = nodes, edges, pairwise = random_problem(
            rng, form, forbid=(0.0, 0.0, 0.3, 0.6)[k % 4], **options
        )
        tables = tables_of(pairwise, len(edges), nodes.shape[1])
        labels, scores = every_labelling(nodes, tables, edges)
        check_sums(problem, labels, scores)
        if kind != "large":
            check_best(problem, labels, scores)


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
