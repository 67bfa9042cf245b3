"""Cuts: what they represent, expansion and swaps, roof duality."""

import numpy as np
import pytest
from helpers.graphs import exhaustive, grid_edges, labelling_score, random_potentials, tables_of
from sskit_probes.graph_probe import improve_labelling

from sskit.oracles import elimination, expansion, graph_max_marginals, graphcut, qpbo
from sskit.oracles.graph.cut import QPBO


def test_an_error_leaves_nothing_behind_and_rounding_is_none():
    """The memory of a call serves the next one of its thread."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        given = random_potentials(rng, "attractive", 12, 2)
        found = graphcut(*given)
        with pytest.raises(ValueError, match="edge 0 between the nodes 0 and 1 cannot be repres"):
            graphcut([[0, 0], [0, 0]], [[0, 1]], [-1.0])
        again = graphcut(*given)
        assert again[1] == found[1]
        assert np.array_equal(again[0], found[0])
    table = np.array([[0.1 + 0.2, 0.3], [0.3, 0.3 - 2**-53]])  # 0.1 + 0.2 > 0.3
    assert graphcut([[0, 0], [0, 0]], [[0, 1]], table - 2**-54)[1] == pytest.approx(0.3)
    assert graph_max_marginals([[1.0, 2.0]]).tolist() == [[1, 2]]


# ---------------------------------------------------------------- expansion and swaps


@pytest.mark.parametrize("moves", ["expansion", "swap"])
def test_no_cut_improves(moves):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        nodes, edges, gains = random_potentials(rng, "attractive", 6, 3)
        places = rng.normal(size=(len(edges), 3))
        distances = np.abs(places[:, :, None] - places[:, None, :])  # which are metric
        squares = [-(distances**2)] if moves == "swap" else []  # are not, for which swaps do
        for pairs in (gains, -distances, *squares):
            labels, value = expansion(nodes, edges, pairs, moves=moves, persistency=False)
            tables = tables_of(pairs, len(edges), 3)
            assert value == pytest.approx(labelling_score(labels, nodes, edges, tables))
            for a, b in [(1, 0), (2, 0), (2, 1)]:
                allowed = np.full(nodes.shape, -np.inf)
                allowed[np.arange(len(nodes)), labels] = 0
                if moves == "expansion":  # each node keeps its state or takes a
                    allowed[:, a] = 0
                else:
                    allowed[np.ix_(np.isin(labels, (a, b)), [a, b])] = 0
                assert exhaustive(nodes + allowed, edges, tables)[1] <= value + 1e-9
    table = -((np.arange(3)[:, None] - np.arange(3)) ** 2.0)
    if moves == "expansion":
        with pytest.raises(ValueError, match="edge 0 between the nodes 0 and 1 cannot be"):
            expansion([[0, 0, 9], [9, 0, 0]], [[0, 1]], table)
        # from equal states no single expansion reaches the better labelling 1, 2 of this table
        table = np.array([[0.0, 0, 0], [0, 0, -0.5], [0, -0.5, 0]])
        nodes = np.array([[1, 0.9, 0], [1, 0, 0.9]])
        assert expansion(nodes, [[0, 1]], table, start=[0, 0])[0].tolist() == [0, 0]
        labels, value = expansion(nodes, [[0, 1]], [2.0], start=[1, 1], moves="swap")
        assert value == 4.0 and labels.tolist() == [0, 0]


# --------------------------------------------------------------------------- roof duality


def test_states_that_are_exchanged_at_some_nodes_change_nothing():
    """A graph that a cut represents, behind other names of the states."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        edges = grid_edges(7, 9)
        # ties too, which a doubled network would leave open
        nodes = rng.integers(-3, 4, size=(63, 2)).astype(float)
        gains = rng.integers(0, 3, size=len(edges)).astype(float)
        best = graphcut(nodes, edges, gains)[1]
        exchanged = rng.random(63) < 0.5
        others = np.where(exchanged[:, None], nodes[:, ::-1], nodes)
        tables = tables_of(gains, len(edges), 2)
        tables = np.where(exchanged[edges[:, 0]][:, None, None], tables[:, ::-1], tables)
        tables = np.where(exchanged[edges[:, 1]][:, None, None], tables[:, :, ::-1], tables)
        labels, bound = qpbo(others, edges, tables)
        assert (labels >= 0).all() and bound == pytest.approx(best)
        assert labelling_score(labels, others, edges, tables) == pytest.approx(best)


def test_rounding_sets_no_labels_against_each_other_and_most_are_best():
    rng, edges, n_best = np.random.default_rng(0), grid_edges(4, 4), 0
    ends = rng.normal(size=(2, len(edges), 2))
    tables = ends[0][:, :, None] + ends[1][:, None]  # linear in each end, but for rounding
    nodes = rng.normal(size=(16, 2))
    labels, bound = qpbo(nodes, edges, tables)
    assert (labels >= 0).all()
    assert bound == pytest.approx(elimination(nodes, edges, tables)[1])
    for _ in range(300):
        nodes, edges, pairwise = random_potentials(rng, "tables", 10, n_states=2)
        score = improve_labelling(QPBO(), nodes, edges, pairwise, [0] * len(nodes))[1]
        n_best += score >= exhaustive(nodes, edges, pairwise)[1] - 1e-9
    assert n_best >= 290
    found = improve_labelling(QPBO(), [[1], [2]], [[0, 1]], [-3], [0, 0])
    assert found[0].tolist() == [0, 0] and found[1:] == (0, 0)
    with pytest.raises(ValueError, match="roof duality is for two states, got 3"):
        improve_labelling(QPBO(), np.zeros((2, 3)), [[0, 1]], [1.0], [0, 0])
