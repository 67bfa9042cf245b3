"""Moves of nodes and fusion: never worse, and as good as cuts where these are exact."""

import numpy as np
import pytest
from helpers.graphs import KINDS, grid_edges, labelling_score, random_potentials, tables_of
from hypothesis import given
from hypothesis import strategies as st

from sskit.oracles import exhaustive, expansion, fusion
from sskit.oracles.graph.elimination import Elimination
from sskit.oracles.graph.forest_moves import ForestMoves
from sskit.oracles.graph.local_moves import FusionMoves, NodeMoves
from sskit.oracles.graph.potentials import improve_labelling

FINITE = [kind for kind in KINDS if kind != "forbidden"]
SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.sampled_from(KINDS))
def test_no_change_of_a_node_improves(seed, kind):
    rng = np.random.default_rng(seed)
    nodes, edges, pairwise = random_potentials(rng, kind, 10)
    tables = tables_of(pairwise, len(edges), nodes.shape[1])
    start = rng.integers(nodes.shape[1], size=len(nodes))
    before = labelling_score(start, nodes, edges, tables)
    labels, score, bound = improve_labelling(
        NodeMoves(), nodes, edges, pairwise, start, forbids=True
    )
    assert bound == np.inf
    assert score >= before - 1e-12 * abs(before) or before == -np.inf
    for v, k in np.ndindex(nodes.shape):
        changed = labels.copy()
        changed[v] = k
        assert labelling_score(changed, nodes, edges, tables) <= score + 1e-9


def compare_with_all_choices(kind, n_graphs, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n_graphs):
        nodes, edges, pairwise = random_potentials(rng, kind, 8)
        n_nodes, n_states = nodes.shape
        tables = tables_of(pairwise, len(edges), n_states)
        start, *proposals = rng.integers(n_states, size=(4, n_nodes))
        given_scores = [labelling_score(y, nodes, edges, tables) for y in (start, *proposals)]
        labels, score = fusion(nodes, edges, pairwise, start=start, proposals=proposals)
        assert score == pytest.approx(labelling_score(labels, nodes, edges, tables), abs=1e-9)
        assert score >= max(given_scores) - 1e-9
        # one fusion is the best of all choices where a cut represents them
        labels, score = fusion(nodes, edges, pairwise, start=start, proposals=proposals[:1])
        allowed = np.full(nodes.shape, -np.inf)
        for y in (start, proposals[0]):
            allowed[np.arange(n_nodes), y] = 0
        best = exhaustive(nodes + allowed, edges, tables)[1]
        assert score <= best + 1e-9
        if kind == "attractive" and n_states == 2:
            assert score >= best - 1e-9 or not represented(start, proposals[0], edges, tables)


def represented(first, second, edges, tables):
    e, (u, v) = np.arange(len(edges)), edges.T
    equal = tables[e, first[u], first[v]] + tables[e, second[u], second[v]]
    return (equal >= tables[e, first[u], second[v]] + tables[e, second[u], first[v]]).all()


@pytest.mark.parametrize("kind", FINITE)
def test_no_worse_than_start_and_proposals(kind):
    compare_with_all_choices(kind, 60, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FINITE)
def test_no_worse_than_start_and_proposals_on_six_thousand_graphs(kind):
    compare_with_all_choices(kind, 1000, 1)


@pytest.mark.parametrize("seed", range(20))
def test_constant_labellings_are_expansions(seed):
    """From the same start, in the same order."""
    rng = np.random.default_rng(seed)
    edges = grid_edges(4, 5)
    nodes, gains = 2 * rng.normal(size=(20, 3)), rng.exponential(size=len(edges))
    expected = expansion(nodes, edges, gains, persistency=False)[1]
    assert fusion(nodes, edges, gains)[1] == pytest.approx(expected)


def test_what_expansions_refuse():
    rng = np.random.default_rng(0)
    edges = grid_edges(5, 5)
    nodes, tables = rng.normal(size=(25, 4)), rng.normal(size=(len(edges), 4, 4))
    with pytest.raises(ValueError, match="cannot be represented by a cut"):
        expansion(nodes, edges, tables)
    start = nodes.argmax(axis=1)
    assert fusion(nodes, edges, tables)[1] > labelling_score(start, nodes, edges, tables)


@given(SEEDS, st.sampled_from(FINITE))
def test_forests_of_any_form_of_pairwise(seed, kind):
    rng = np.random.default_rng(seed)
    nodes, edges, pairwise = random_potentials(rng, kind, 10)
    tables = tables_of(pairwise, len(edges), nodes.shape[1])
    start = rng.integers(nodes.shape[1], size=len(nodes))
    oracle = ForestMoves(Elimination())
    score = improve_labelling(oracle, nodes, edges, pairwise, start)[1]
    # what is known of tables does not depend on how they are written
    assert score == pytest.approx(improve_labelling(oracle, nodes, edges, tables, start)[1])
    assert score >= labelling_score(start, nodes, edges, tables) - 1e-9


def test_loss_augmented_and_no_edges():
    nodes, truth = [[0.0, 0.5, 0.0]] * 2, [1, 1]
    assert fusion(nodes, truth=truth)[1] == 2
    assert fusion(nodes)[0].tolist() == [1, 1]
    assert fusion(nodes, proposals=np.zeros((0, 2), dtype=int))[0].dtype == np.int32
    assert improve_labelling(FusionMoves(), [[1.0]], None, None, [0])[1] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"proposals": [[0]]}, r"proposals must be integers of shape \(n_proposals, 2\)"),
        ({"proposals": [[0.0, 1.0]]}, "proposals must be integers"),
        ({"proposals": [[0, 0], [0, 2]]}, r"proposals\[1, 1\] is 2, expected a state from 0 to 1"),
        ({"start": [0, 2]}, r"start\[1\] is 2"),
        ({"nodes": [[0, -np.inf], [0, 0]]}, r"nodes\[0, 1\] is -inf, expected a finite number"),
        ({"pairwise": [-np.inf]}, "pairwise of edge 0 holds -inf"),
        ({"nodes": np.full((2, 2), 1e308)}, "nodes and pairwise are too large: sums of them"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        fusion(**{"nodes": [[0, 1], [0, 1]], "edges": [[0, 1]], "pairwise": [1.0]} | options)
