"""Minimum cuts against enumeration, and what they refuse."""

import numpy as np
import pytest
from helpers.graphs import exhaustive, labelling_score, random_graph
from hypothesis import given
from hypothesis import strategies as st

from sskit.oracles import expansion, graph_max_marginals, graphcut


def wide(rng, shape):
    """Numbers over eight orders of magnitude, of either sign."""
    return rng.normal(size=shape) * 10.0 ** rng.uniform(-4, 4, size=shape)


def random_energy(rng, max_nodes=12):
    """Potentials that a cut can represent, over eight orders of magnitude."""
    n_nodes, edges = random_graph(rng, max_nodes)
    nodes, tables = wide(rng, (n_nodes, 2)), wide(rng, (len(edges), 2, 2))
    equal = tables[:, 0, 0] + tables[:, 1, 1] >= tables[:, 0, 1] + tables[:, 1, 0]
    tables[~equal] = tables[~equal][:, ::-1]
    return nodes, edges, tables


def test_optimal_on_ten_thousand_random_graphs():
    rng = np.random.default_rng(0)
    for _ in range(10_000):
        nodes, edges, tables = random_energy(rng)
        labels, value = graphcut(nodes, edges, tables)
        size = np.abs(nodes).sum() + np.abs(tables).sum()
        assert abs(value - labelling_score(labels, nodes, edges, tables)) <= 1e-12 * size
        assert value >= exhaustive(nodes, edges, tables)[1] - 1e-12 * size


@pytest.mark.parametrize("seed", range(40))
def test_max_marginals(seed):
    nodes, edges, tables = random_energy(np.random.default_rng(seed), max_nodes=7)
    expected = np.empty_like(nodes)
    for v, k in np.ndindex(nodes.shape):
        fixed = nodes.copy()
        fixed[v, 1 - k] = -np.inf
        expected[v, k] = exhaustive(fixed, edges, tables)[1]
    size = np.abs(nodes).sum() + np.abs(tables).sum()
    marginals = graph_max_marginals(nodes, edges, tables)
    assert np.allclose(marginals, expected, rtol=0, atol=1e-12 * size)
    assert np.allclose(marginals.max(axis=1), graphcut(nodes, edges, tables)[1])


@pytest.mark.parametrize("seed", range(20))
def test_loss_augmented(seed):
    rng = np.random.default_rng(seed)
    nodes, edges, tables = random_energy(rng, max_nodes=8)
    truth, cost = rng.integers(2, size=len(nodes)), rng.random(len(nodes)) * 10
    value = graphcut(nodes, edges, tables, truth=truth, cost=cost)[1]
    expected = exhaustive(nodes, edges, tables, truth=truth, cost=cost)[1]
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-8)
    with_losses = nodes + (np.arange(2) != truth[:, None]) * cost[:, None]
    assert value == pytest.approx(graphcut(with_losses, edges, tables)[1], rel=1e-9, abs=1e-8)


@given(st.integers(0, 2**32 - 1))
def test_forms_of_pairwise(seed):
    rng = np.random.default_rng(seed)
    n_nodes, edges = random_graph(rng, 8)
    nodes, gains = rng.integers(-9, 9, size=(n_nodes, 2)), rng.integers(0, 5, size=len(edges))
    reference = graphcut(nodes, edges, gains)
    tables = gains[:, None, None] * np.eye(2)
    assert graphcut(nodes, edges, tables)[1] == reference[1]
    assert graphcut(nodes, edges, tables)[0].tolist() == reference[0].tolist()
    assert reference[1] == exhaustive(nodes, edges, tables)[1]
    one = graphcut(nodes, edges, np.eye(2))
    assert one[1] == graphcut(nodes, edges, np.ones(len(edges)))[1]


def test_ties_have_the_fewest_ones():
    labels, value = graphcut(np.zeros((4, 2)), [[0, 1], [1, 2]], [1, 1])
    assert labels.tolist() == [0, 0, 0, 0] and labels.dtype == np.int32 and value == 2


def test_no_edges_and_one_node():
    assert graphcut([[1, 2], [4, 3]])[0].tolist() == [1, 0]
    assert graphcut([[1, 2]], np.zeros((0, 2), int), np.zeros(0))[1] == 2
    assert graph_max_marginals([[1.0, 2.0]]).tolist() == [[1, 2]]


def test_arguments_are_not_modified():
    rng = np.random.default_rng(3)
    nodes, edges, tables = random_energy(rng)
    truth = rng.integers(2, size=len(nodes))
    copies = nodes.copy(), edges.copy(), tables.copy(), truth.copy()
    graphcut(nodes, edges, tables, truth=truth)
    for given_array, copy in zip((nodes, edges, tables, truth), copies, strict=True):
        assert np.array_equal(given_array, copy)
    views = (np.repeat(a, 2, axis=0)[::2] for a in (nodes, edges, tables))
    expected = graphcut(nodes, edges, tables)
    assert graphcut(*views)[1] == expected[1]


def test_an_error_leaves_nothing_behind():
    """The memory of a call serves the next one of its thread."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        nodes, edges, tables = random_energy(rng)
        found = graphcut(nodes, edges, tables)
        with pytest.raises(ValueError, match="cannot be represented"):
            graphcut([[0, 0], [0, 0]], [[0, 1]], [[[0, 1], [1, 0]]])
        again = graphcut(nodes, edges, tables)
        assert again[1] == found[1]
        assert np.array_equal(again[0], found[0])


def test_edge_that_no_cut_represents_is_named():
    repel = np.array([[0, 1], [1, 0.5]])
    with pytest.raises(ValueError, match=r"edge 1 between the nodes 2 and 1 .*\(0, 0\): 0, "):
        graphcut(np.zeros((3, 2)), [[0, 1], [2, 1]], [np.eye(2), repel])
    with pytest.raises(ValueError, match="edge 0 between the nodes 0 and 1 cannot be represented"):
        graphcut(np.zeros((2, 2)), [[0, 1]], [-1.0])


def test_rounding_is_no_reason_to_refuse():
    table = np.array([[0.1 + 0.2, 0.3], [0.3, 0.3 - 2**-53]])  # 0.1 + 0.2 > 0.3
    assert graphcut([[0, 0], [0, 0]], [[0, 1]], table - 2**-54)[1] == pytest.approx(0.3)


@pytest.mark.parametrize("oracle", [graphcut, graph_max_marginals])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1, 2]],), "nodes must have 2 columns, one for each state, got 3"),
        (([0, 1],), "nodes must have shape"),
        (([[0, np.inf]],), r"nodes\[0, 1\] is inf"),
        (([[0, 1]] * 2, [[0, 1]]), "pairwise is None"),
        (([[0, 1]] * 2, None, [1.0]), "edges is None"),
        (([[0, 1]] * 2, [[0, 2]], [1.0]), r"edges\[0, 1\] is 2"),
        (([[0, 1]] * 2, [[0, 2**32 + 1]], [1.0]), r"edges\[0, 1\] is 4294967297"),
        (([[0, 1]] * 2, [[0, 1], [-1, 0]], [1, 1]), r"edges\[1, 0\] is -1"),
        (([[0, 1]] * 2, [[1, 1]], [1.0]), r"edges\[0\] joins node 1 to itself"),
        (([[0, 1]] * 2, [[0.0, 1.0]], [1.0]), "edges must be integers"),
        (([[0, 1]] * 2, [[0, 1]], [1.0, 2.0]), r"pairwise must have shape \(1,\) or \(2, 2\)"),
        (([[0, 1]] * 2, [[0, 1]], [np.nan]), r"pairwise\[0\] is nan"),
        (([[0, 1]] * 2, [[0, 1]], np.full((2, 2), -np.inf)), r"pairwise\[0, 0\] is -inf"),
    ],
)
def test_bad_input(oracle, arguments, message):
    with pytest.raises(ValueError, match=message):
        oracle(*arguments)


@pytest.mark.parametrize("oracle", [graphcut, graph_max_marginals, expansion])
def test_numbers_whose_sums_overflow(oracle):
    edges = [[0, 1], [1, 2], [2, 3]]
    for nodes, pairwise in ((0.0, 1e308 * np.eye(2)), (1e308, np.ones(3))):
        with pytest.raises(ValueError, match="^nodes and pairwise are too large: sums of them"):
            oracle(np.full((4, 2), nodes), edges, pairwise)


def test_bad_truth():
    with pytest.raises(ValueError, match=r"truth\[1\] is 2, expected integers >= 0 and <= 1"):
        graphcut([[0, 1], [0, 1]], truth=[0, 2])
    with pytest.raises(ValueError, match=r"cost\[0\] is -1"):
        graphcut([[0, 1], [0, 1]], truth=[0, 1], cost=[-1, 0])
