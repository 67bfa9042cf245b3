"""Expansion and swap moves against enumeration and their guarantees."""

import numpy as np
import pytest
from helpers.graphs import exhaustive, labelling_score, random_graph
from hypothesis import given
from hypothesis import strategies as st

from sskit.oracles import expansion, graphcut


def random_potts(rng, max_nodes=7, n_states=None, strength=1.0):
    n_nodes, edges = random_graph(rng, max_nodes)
    n_states = int(rng.integers(2, 5)) if n_states is None else n_states
    return rng.normal(size=(n_nodes, n_states)), edges, rng.exponential(strength, size=len(edges))


def as_tables(gains, n_states):
    return gains[:, None, None] * np.eye(n_states)


def costs(value, nodes, gains):
    """What a score falls short of the sum of the maxima of all potentials."""
    return nodes.max(axis=1).sum() + gains.sum() - value


@pytest.mark.parametrize("persistency", [False, True])
def test_within_twice_the_least_costs_and_mostly_best(persistency):
    rng = np.random.default_rng(0)
    n_best = 0
    for _ in range(1000):
        nodes, edges, gains = random_potts(rng)
        tables = as_tables(gains, nodes.shape[1])
        labels, value = expansion(nodes, edges, gains, persistency=persistency)
        best = exhaustive(nodes, edges, tables)[1]
        assert value == pytest.approx(labelling_score(labels, nodes, edges, tables))
        assert value <= best + 1e-9
        assert costs(value, nodes, gains) <= 2 * costs(best, nodes, gains) + 1e-9
        n_best += value >= best - 1e-9
    assert n_best >= 980


@pytest.mark.parametrize("moves", ["expansion", "swap"])
@pytest.mark.parametrize("seed", range(30))
def test_no_move_improves(moves, seed):
    rng = np.random.default_rng(seed)
    nodes, edges, gains = random_potts(rng, 6, 3)
    labels, value = expansion(nodes, edges, gains, moves=moves, persistency=False)
    tables = as_tables(gains, 3)
    for a in range(3):
        for b in range(a):
            allowed = np.full(nodes.shape, -np.inf)
            if moves == "expansion":  # each node keeps its state or takes a
                allowed[np.arange(len(nodes)), labels] = 0
                allowed[:, a] = 0
            else:
                swapped = np.isin(labels, (a, b))
                allowed[np.arange(len(nodes)), labels] = 0
                allowed[np.ix_(swapped, [a, b])] = 0
            assert exhaustive(nodes + allowed, edges, tables)[1] <= value + 1e-9


@given(st.integers(0, 2**32 - 1))
def test_certain_nodes_are_right(seed):
    rng = np.random.default_rng(seed)
    nodes, edges, gains = random_potts(rng, strength=0.5)
    tables = as_tables(gains, nodes.shape[1])
    best = exhaustive(nodes, edges, tables)[1]
    # what is certain does not depend on where the moves start
    start = rng.integers(nodes.shape[1], size=len(nodes))
    labels, value = expansion(nodes, edges, gains, start=start)
    assert labelling_score(start, nodes, edges, tables) - 1e-9 <= value <= best + 1e-9
    # where every node alone is better off by more than its edges could change, all are certain
    order = np.sort(nodes, axis=1)
    at_stake = np.bincount(edges.ravel(), np.repeat(gains, 2), len(nodes))
    if (order[:, -1] - order[:, -2] > at_stake).all():
        assert value == pytest.approx(best)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("moves", ["expansion", "swap"])
def test_two_states_are_exact(seed, moves):
    rng = np.random.default_rng(seed)
    nodes, edges, gains = random_potts(rng, 10, 2)
    for persistency in (True, False):
        _, value = expansion(nodes, edges, gains, moves=moves, persistency=persistency)
        # an expansion of two states lets only those of the other one change
        exact = persistency or moves == "swap"
        best = graphcut(nodes, edges, gains)[1]
        assert value == pytest.approx(best) if exact else value <= best + 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_metric_tables(seed):
    rng = np.random.default_rng(seed)
    n_nodes, edges = random_graph(rng, 6)
    places = rng.normal(size=(len(edges), 4))
    tables = -np.abs(places[:, :, None] - places[:, None, :])  # distances are metric
    nodes = rng.normal(size=(n_nodes, 4))
    best = exhaustive(nodes, edges, tables)[1]
    for moves in ("expansion", "swap"):
        labels, value = expansion(nodes, edges, tables, moves=moves)
        assert value == pytest.approx(labelling_score(labels, nodes, edges, tables))
        assert value <= best + 1e-9


def test_swaps_take_what_expansions_cannot():
    # squared distances are no metric
    states = np.arange(3)
    table = -((states[:, None] - states) ** 2.0)
    nodes = np.array([[1.0, 0, 0], [0, 0, 1], [0, 0, 1]])
    labels, value = expansion(nodes, [[0, 1], [1, 2]], table, moves="swap")
    edges, tables = np.array([[0, 1], [1, 2]]), np.array([table] * 2)
    assert value == pytest.approx(labelling_score(labels, nodes, edges, tables))
    with pytest.raises(ValueError, match="edge 0 between the nodes 0 and 1 cannot be represented"):
        expansion([[0, 0, 9], [9, 0, 0]], [[0, 1]], table)


def test_start_is_where_the_moves_start():
    # from equal states no single move reaches the better labelling 1, 2 of this table
    table = np.zeros((3, 3))
    table[1, 2] = table[2, 1] = -0.5
    nodes = np.array([[1, 0.9, 0], [1, 0, 0.9]])
    assert expansion(nodes, [[0, 1]], table, start=[0, 0])[0].tolist() == [0, 0]
    labels, value = expansion(nodes, [[0, 1]], [2.0], start=[1, 1], moves="swap")
    assert value == 4.0 and labels.tolist() == [0, 0]


def test_loss_augmented():
    rng = np.random.default_rng(1)
    for _ in range(50):
        nodes, edges, gains = random_potts(rng)
        truth = rng.integers(nodes.shape[1], size=len(nodes))
        cost = rng.random(len(nodes))
        augmented = nodes + (np.arange(nodes.shape[1]) != truth[:, None]) * cost[:, None]
        found = expansion(nodes, edges, gains, truth=truth, cost=cost)
        expected = expansion(augmented, edges, gains)
        assert found[0].tolist() == expected[0].tolist() and found[1] == pytest.approx(expected[1])


def test_extreme_weights_end():
    rng = np.random.default_rng(2)
    for _ in range(300):
        nodes, edges, gains = random_potts(rng, 9, 5)
        nodes *= 10.0 ** rng.uniform(-8, 8, size=nodes.shape)
        gains *= 10.0 ** rng.uniform(-8, 8, size=gains.shape)
        for moves in ("expansion", "swap"):
            labels, value = expansion(nodes, edges, gains, moves=moves)
            assert np.isfinite(value) and labels.min() >= 0 and labels.max() < 5


@pytest.mark.parametrize("moves", ["expansion", "swap"])
def test_a_single_state_with_tables_ends(moves):
    labels, value = expansion([[1.0], [2.0], [0.5]], [[0, 1], [1, 2]], [[3.0]], moves=moves)
    assert labels.tolist() == [0, 0, 0]
    assert value == 9.5


def test_ties_and_single_states():
    assert expansion(np.zeros((3, 4)))[0].tolist() == [0, 0, 0]
    for moves in ("expansion", "swap"):
        labels, value = expansion([[1.0], [2.0]], [[0, 1]], [3.0], moves=moves)
        assert labels.tolist() == [0, 0] and value == 6.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"pairwise": [1.0, -1.0]},
            "edge 1 between the nodes 1 and 2 .* potential is -1, ",
        ),
        ({"moves": "fusion"}, "moves must be 'expansion' or 'swap', got 'fusion'"),
        ({"start": [0, 1]}, r"start must be integers of shape \(3,\)"),
        ({"start": [0, 1, 3]}, r"start\[2\] is 3, expected integers >= 0 and <= 2"),
        ({"truth": [0, 1, -1]}, r"truth\[2\] is -1"),
        ({"pairwise": np.ones((2, 2))}, r"pairwise must have shape \(2,\) or \(3, 3\)"),
    ],
)
def test_bad_input(options, message):
    arguments = {"pairwise": [1.0, 1.0], **options}
    with pytest.raises(ValueError, match=message):
        expansion(np.zeros((3, 3)), [[0, 1], [1, 2]], **arguments)
