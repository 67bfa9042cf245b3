"""Variable elimination: induced widths, and tables that are too large."""

import itertools

import numpy as np
import pytest
from helpers.graphs import exhaustive, grid_edges, tables_of
from sskit_probes.graph_probe import induced_width, takes_elimination, topologies_of

from sskit.oracles import elimination


def clique_chain(n_cliques, size):
    """Cliques of which each has all but one of its nodes in common with the next one."""
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


def test_cliques():
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
