"""Max-sum on trees against enumeration and against Viterbi, and what it refuses."""

import numpy as np
import pytest
from helpers.graphs import exhaustive, labelling_score
from helpers.label_sets import random_forest
from hypothesis import given
from hypothesis import strategies as st

from sskit.oracles import chain_max_marginals, tree_max_marginals, tree_max_sum, viterbi


def random_problem(rng, max_nodes=7, max_states=4, forbidden=0.0):
    """Nodes, edges of a forest and a table for each edge, some of it -inf."""
    n_nodes, n_states = int(rng.integers(1, max_nodes + 1)), int(rng.integers(1, max_states + 1))
    edges = random_forest(rng, n_nodes, int(rng.integers(n_nodes)))
    nodes = rng.normal(size=(n_nodes, n_states))
    tables = rng.normal(size=(len(edges), n_states, n_states)) * 2
    nodes[rng.random(nodes.shape) < forbidden / 2] = -np.inf
    tables[rng.random(tables.shape) < forbidden] = -np.inf
    return nodes, edges, tables


def expected_marginals(nodes, edges, tables):
    expected = np.full(nodes.shape, -np.inf)
    for v, k in np.ndindex(nodes.shape):
        fixed = nodes.copy()
        fixed[v, np.arange(nodes.shape[1]) != k] = -np.inf
        try:
            expected[v, k] = exhaustive(fixed, edges, tables)[1]
        except ValueError as error:
            assert "no labelling" in str(error)
    return expected


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]))
def test_best_of_all_labellings(seed, forbidden):
    rng = np.random.default_rng(seed)
    nodes, edges, tables = random_problem(rng, forbidden=forbidden)
    try:
        expected = exhaustive(nodes, edges, tables)[1]
    except ValueError:
        with pytest.raises(ValueError, match="no labelling of . nodes is allowed"):
            tree_max_sum(nodes, edges, tables)
        return
    labels, score = tree_max_sum(nodes, edges, tables)
    assert score == pytest.approx(expected, abs=1e-10)
    assert labelling_score(labels, nodes, edges, tables) == pytest.approx(score, abs=1e-10)


@pytest.mark.slow
def test_best_of_all_labellings_of_ten_thousand_trees():
    rng = np.random.default_rng(0)
    for _ in range(10_000):
        nodes, edges, tables = random_problem(rng, 6, 4)
        if rng.random() < 0.3:  # ties, and one table for all edges
            nodes, tables = np.round(nodes), np.round(tables)
            tables = tables[0] if len(tables) else np.zeros((nodes.shape[1],) * 2)
        labels, score = tree_max_sum(nodes, edges, tables)
        assert score == pytest.approx(exhaustive(nodes, edges, tables)[1], abs=1e-10)
        each = np.broadcast_to(tables, (len(edges), *tables.shape[-2:]))
        assert labelling_score(labels, nodes, edges, each) == pytest.approx(score, abs=1e-10)
        assert tree_max_marginals(nodes, edges, tables).max() == pytest.approx(score, abs=1e-10)


def test_a_shared_table_is_a_table_for_each_edge():
    rng = np.random.default_rng(6)
    for n_states in (1, 2, 5, 9):
        for _ in range(20):
            nodes, edges, _ = random_problem(rng, 12, 1)
            nodes = rng.normal(size=(len(nodes), n_states))
            table = rng.normal(size=(n_states, n_states))
            table[rng.random(table.shape) < 0.1] = -np.inf
            np.fill_diagonal(table, 0.0)
            repeated = np.repeat(table[None], len(edges), axis=0)
            edges = rng.permuted(edges, axis=1)
            labels, score = tree_max_sum(nodes, edges, table)
            expected = tree_max_sum(nodes, edges, repeated)
            np.testing.assert_array_equal(labels, expected[0])
            assert score == expected[1]
            np.testing.assert_array_equal(
                tree_max_marginals(nodes, edges, table),
                tree_max_marginals(nodes, edges, repeated),
            )
    with pytest.raises(ValueError, match=r"pairwise\[0, 1\] is nan"):
        tree_max_sum(np.zeros((3, 2)), [[0, 1], [1, 2]], [[0, np.nan], [0, 0]])


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]))
def test_max_marginals(seed, forbidden):
    rng = np.random.default_rng(seed)
    nodes, edges, tables = random_problem(rng, 5, 3, forbidden)
    np.testing.assert_allclose(
        tree_max_marginals(nodes, edges, tables),
        expected_marginals(nodes, edges, tables),
        rtol=0,
        atol=1e-10,
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_potts_is_a_table_with_a_diagonal(sign):
    rng = np.random.default_rng(0)
    for _ in range(100):
        nodes, edges, tables = random_problem(rng, 12, 5)
        pairs = sign * rng.exponential(size=len(edges))
        tables = pairs[:, None, None] * np.eye(nodes.shape[1])
        score = tree_max_sum(nodes, edges, pairs)[1]
        assert score == pytest.approx(tree_max_sum(nodes, edges, tables)[1], abs=1e-10)
        np.testing.assert_allclose(
            tree_max_marginals(nodes, edges, pairs),
            tree_max_marginals(nodes, edges, tables),
            rtol=0,
            atol=1e-10,
        )


@pytest.mark.parametrize("n_states", [1, 2, 7, 8, 9, 26, 45])
def test_chains_are_those_of_viterbi(n_states):
    rng = np.random.default_rng(n_states)
    nodes = rng.normal(size=(30, n_states))
    transitions = rng.normal(size=(n_states, n_states))
    transitions[rng.random(transitions.shape) < 0.2] = -np.inf
    np.fill_diagonal(transitions, 0.0)
    edges = np.stack([np.arange(29), np.arange(1, 30)], axis=1)
    truth, cost = rng.integers(n_states, size=30), rng.random(30)
    labels, score = tree_max_sum(nodes, edges, transitions, truth=truth, cost=cost)
    expected = viterbi(nodes, transitions, truth=truth, cost=cost)
    np.testing.assert_array_equal(labels, expected[0])
    assert score == pytest.approx(expected[1], abs=1e-10)
    np.testing.assert_allclose(
        tree_max_marginals(nodes, edges, transitions),
        chain_max_marginals(nodes, transitions),
        rtol=0,
        atol=1e-10,
    )


def test_order_and_direction_of_edges_change_nothing():
    rng = np.random.default_rng(1)
    for _ in range(50):
        nodes, edges, tables = random_problem(rng, 12, 5)
        order = rng.permutation(len(edges))
        labels, score = tree_max_sum(nodes, edges, tables)
        other = tree_max_sum(nodes, edges[order, ::-1], tables[order].transpose(0, 2, 1))
        np.testing.assert_array_equal(other[0], labels)
        assert other[1] == pytest.approx(score, abs=1e-10)


def test_ties_give_the_smallest_states_from_the_roots_on():
    edges = [[2, 1], [1, 0], [3, 4]]
    labels, score = tree_max_sum(np.zeros((5, 3)), edges, [-1.0, -1.0, -1.0])
    assert labels.tolist() == [0, 1, 0, 0, 1]
    assert score == 0.0
    labels, score = tree_max_sum(np.zeros((3, 2)))
    assert labels.tolist() == [0, 0, 0]


def test_an_impossible_tree_leaves_no_labelling_to_any_other():
    nodes = np.array([[1.0, 2.0], [-np.inf, -np.inf], [3.0, 4.0]])
    assert (tree_max_marginals(nodes, [[0, 2]], [0.5]) == -np.inf).all()
    with pytest.raises(ValueError, match="no labelling of 3 nodes"):
        tree_max_sum(nodes, [[0, 2]], [0.5])


def test_a_tree_deeper_than_any_stack():
    n = 20_000
    edges = np.stack([np.arange(1, n), np.arange(n - 1)], axis=1)
    nodes = np.zeros((n, 2))
    nodes[-1, 1] = 1.0
    labels, score = tree_max_sum(nodes, edges, np.ones(n - 1))
    assert labels.all()
    assert score == n


def test_input_is_not_modified():
    rng = np.random.default_rng(2)
    nodes, edges, tables = random_problem(rng)
    copies = nodes.copy(), edges.copy(), tables.copy()
    tree_max_sum(nodes, edges, tables, truth=np.zeros(len(nodes), dtype=int))
    tree_max_marginals(nodes, edges, tables)
    for given_, copy in zip((nodes, edges, tables), copies, strict=True):
        np.testing.assert_array_equal(given_, copy)


@pytest.mark.parametrize(
    "edges, pairwise, message",
    [
        ([[0, 1], [1, 2], [2, 0]], [1, 1, 1], "edge 2 between the nodes 2 and 0 closes a cycle"),
        ([[0, 1], [1, 0]], [1, 1], "edge 1 between the nodes 1 and 0 closes a cycle"),
        ([[0, 0]], [1], r"edges\[0\] joins node 0 to itself"),
        ([[0, 3]], [1], r"edges\[0, 1\] is 3"),
        ([[0, 1]], [np.nan], r"pairwise\[0\] is nan, expected a number or -inf"),
        ([[0, 1]], [np.inf], r"pairwise\[0\] is inf, expected a number or -inf"),
        ([[0, 1]], [[1, 2, 3]], "pairwise must have shape"),
        ([[0, 1]], None, "edges and pairwise go together"),
    ],
)
def test_bad_edges(edges, pairwise, message):
    for function in (tree_max_sum, tree_max_marginals):
        with pytest.raises(ValueError, match=message):
            function(np.zeros((3, 2)), edges, pairwise)


@pytest.mark.parametrize(
    "nodes, options, message",
    [
        ([[0, np.nan]], {}, r"nodes\[0, 1\] is nan, expected a number or -inf"),
        ([[0, np.inf]], {}, r"nodes\[0, 1\] is inf"),
        (np.zeros(3), {}, r"nodes must have shape \(n_nodes, n_states\)"),
        ([[0, 1]], {"truth": [2]}, r"truth\[0\] is 2"),
        ([[0, 1]], {"truth": [1], "cost": -1}, r"cost\[0\] is -1"),
    ],
)
def test_bad_nodes(nodes, options, message):
    with pytest.raises(ValueError, match=message):
        tree_max_sum(nodes, **options)
