"""Variable elimination against enumeration and other exact oracles, and what it refuses."""

import itertools

import numpy as np
import pytest
from helpers.graphs import (
    KINDS,
    exhaustive,
    grid_edges,
    labelling_score,
    random_potentials,
    tables_of,
)
from helpers.label_sets import random_forest
from hypothesis import given
from hypothesis import strategies as st
from sskit_probes.graph_probe import (
    improve_labelling,
    induced_width,
    takes_elimination,
    topologies_of,
)

from sskit.oracles import elimination, graphcut, tree_max_sum
from sskit.oracles.graph.elimination import Elimination


def compare_with_enumeration(kind, n_graphs, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n_graphs):
        nodes, edges, pairwise = random_potentials(rng, kind, 7 if rng.random() < 0.9 else 9, None)
        if nodes.shape[1] ** len(nodes) > 100_000:
            continue
        tables = tables_of(pairwise, len(edges), nodes.shape[1])
        try:
            best = exhaustive(nodes, edges, tables)[1]
        except ValueError:
            with pytest.raises(ValueError, match="no labelling of . nodes is allowed"):
                elimination(nodes, edges, pairwise)
            continue
        labels, score = elimination(nodes, edges, pairwise)
        assert score == pytest.approx(best, abs=1e-9)
        assert labelling_score(labels, nodes, edges, tables) == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_best_of_all_labellings(kind):
    compare_with_enumeration(kind, 80, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_best_of_all_labellings_of_ten_thousand_graphs(kind):
    compare_with_enumeration(kind, 10_000 // len(KINDS) + 1, 1)


@pytest.mark.parametrize("seed", range(20))
def test_forests(seed):
    rng = np.random.default_rng(seed)
    n_nodes, n_states = int(rng.integers(1, 60)), int(rng.integers(1, 8))
    edges = random_forest(rng, n_nodes, int(rng.integers(n_nodes)))
    nodes = rng.normal(size=(n_nodes, n_states))
    tables = rng.normal(size=(len(edges), n_states, n_states))
    expected = tree_max_sum(nodes, edges, tables)
    labels, score = elimination(nodes, edges, tables)
    assert score == pytest.approx(expected[1]) and labels.tolist() == expected[0].tolist()
    if len(edges):
        assert induced_width(n_nodes, edges) == 1


@pytest.mark.parametrize("shape", [(2, 40), (3, 20), (6, 9)])
def test_grids_of_two_states(shape):
    rng = np.random.default_rng(0)
    edges = grid_edges(*shape)
    nodes, gains = rng.normal(size=(np.prod(shape), 2)), rng.exponential(size=len(edges))
    assert elimination(nodes, edges, gains)[1] == pytest.approx(graphcut(nodes, edges, gains)[1])


def clique_chain(n_cliques, size):
    """Cliques of which each shares all but one of its nodes with the next one."""
    pairs = itertools.combinations(range(n_cliques + size - 1), 2)
    return np.array([(u, v) for u, v in pairs if v - u < size])


def test_widths():
    cycle = np.array([(v, (v + 1) % 9) for v in range(9)])
    assert induced_width(9, cycle) == 2
    assert induced_width(5, np.zeros((0, 2), dtype=int)) == 0
    assert [induced_width(2 * n, grid_edges(2, n)) for n in (1, 2, 30)] == [1, 2, 2]
    assert [induced_width(n * 12, grid_edges(n, 12)) for n in (3, 4, 5)] == [3, 4, 5]
    for size in (2, 3, 6):
        edges = clique_chain(30, size)
        rng = np.random.default_rng(size)
        names = rng.permutation(edges.max() + 1)
        turned = rng.permuted(names[edges], axis=1)
        assert induced_width(len(names), np.concatenate([turned, turned[::-1]])) == size - 1
    clique = np.array(list(itertools.combinations(range(12), 2)))
    assert induced_width(12, clique) == 11


@given(st.integers(0, 2**32 - 1))
def test_k_trees_have_width_k(seed):
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 6))
    cliques = [list(range(width))]
    edges = list(itertools.combinations(range(width), 2))
    n_nodes = width + int(rng.integers(1, 20))
    for v in range(width, n_nodes):
        clique = cliques[rng.integers(len(cliques))]
        edges += [(v, u) for u in clique]
        cliques += [[*(w for w in clique if w != u), v] for u in clique]
    names = rng.permutation(n_nodes)
    assert induced_width(n_nodes, rng.permuted(names[np.array(edges)], axis=1)) == width


def test_cliques_in_a_chain():
    rng = np.random.default_rng(0)
    edges = clique_chain(4, 4)
    nodes, tables = rng.normal(size=(7, 4)), rng.normal(size=(len(edges), 4, 4))
    assert elimination(nodes, edges, tables)[1] == pytest.approx(
        exhaustive(nodes, edges, tables)[1]
    )


def test_one_oracle_for_different_graphs():
    rng = np.random.default_rng(1)
    oracle = Elimination()
    for _ in range(100):
        nodes, edges, pairwise = random_potentials(rng, rng.choice(KINDS[:-1]), 7)
        start = np.zeros(len(nodes), dtype=int)
        _, score, bound = improve_labelling(oracle, nodes, edges, pairwise, start)
        tables = tables_of(pairwise, len(edges), nodes.shape[1])
        assert score == bound == pytest.approx(exhaustive(nodes, edges, tables)[1], abs=1e-9)


def test_loss_augmented():
    rng = np.random.default_rng(2)
    nodes, edges, tables = random_potentials(rng, "tables", 6, 3)
    truth, cost = rng.integers(3, size=len(nodes)), rng.random(len(nodes))
    score = elimination(nodes, edges, tables, truth=truth, cost=cost)[1]
    assert score == pytest.approx(exhaustive(nodes, edges, tables, truth=truth, cost=cost)[1])


def test_ties_no_edges_and_one_state():
    assert elimination(np.zeros((3, 2)), [[0, 1], [1, 2]], [0.0, 0.0])[0].tolist() == [0, 0, 0]
    labels, score = elimination([[1, 2], [4, 3]])
    assert labels.tolist() == [1, 0] and labels.dtype == np.int32 and score == 6
    clique = list(itertools.combinations(range(80), 2))
    assert elimination(np.ones((80, 1)), clique, np.zeros(len(clique)))[1] == 80
    assert takes_elimination(topologies_of(80, clique), 1)


def test_tables_that_are_too_large():
    rng = np.random.default_rng(3)
    clique = np.array(list(itertools.combinations(range(6), 2)))
    n_entries = sum(3**k for k in range(1, 7))
    nodes, gains = rng.normal(size=(6, 3)), rng.normal(size=len(clique))
    best = exhaustive(nodes, clique, tables_of(gains, len(clique), 3))[1]
    assert elimination(nodes, clique, gains, max_entries=n_entries)[1] == pytest.approx(best)
    graph = topologies_of(6, clique)
    assert takes_elimination(graph, 3, n_entries)
    for limit in (1, 3**6 - 1, n_entries - 1):
        assert not takes_elimination(graph, 3, limit)
        with pytest.raises(ValueError, match=f"more than max_entries={limit}"):
            elimination(nodes, clique, gains, max_entries=limit)
    with pytest.raises(ValueError, match="900 nodes with 1740 edges is larger than 23"):
        elimination(np.zeros((900, 2)), grid_edges(30, 30), np.zeros(1740))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_entries": 0}, "max_entries must be a positive integer, got 0"),
        ({"nodes": [[0, np.inf], [0, 0]]}, r"nodes\[0, 1\] is inf, expected a number or -inf"),
        ({"pairwise": [np.nan]}, r"pairwise\[0\] is nan"),
        ({"edges": [[0, 2]]}, r"edges\[0, 1\] is 2, expected integers"),
        ({"truth": [0, 2]}, r"truth\[1\] is 2"),
        ({"nodes": np.full((2, 2), 1e308)}, "nodes and pairwise are too large: sums of them"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        elimination(**{"nodes": [[0, 1], [0, 1]], "edges": [[0, 1]], "pairwise": [1.0]} | options)
