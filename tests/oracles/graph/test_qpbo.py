"""Roof duality against linear programming and enumeration, and what it refuses."""

import numpy as np
import pytest
from helpers.graphs import (
    exhaustive,
    grid_edges,
    labelling_score,
    random_potentials,
    relaxed_optimum,
    tables_of,
)
from hypothesis import given
from hypothesis import strategies as st
from sskit_probes.graph_probe import improve_labelling

from sskit.oracles import elimination, graphcut, qpbo
from sskit.oracles.graph.cut import QPBO

KINDS = ["tables", "shared", "symmetric", "attractive", "repulsive", "signed"]
SEEDS = st.integers(0, 2**32 - 1)


def compare_with_enumeration(kind, n_graphs, seed):
    rng = np.random.default_rng(seed)
    n_whole = 0
    for _ in range(n_graphs):
        nodes, edges, pairwise = random_potentials(rng, kind, 8, n_states=2)
        tables = tables_of(pairwise, len(edges), 2)
        best = exhaustive(nodes, edges, tables)[1]
        labels, bound = qpbo(nodes, edges, pairwise)
        assert bound >= best - 1e-9
        decided = np.flatnonzero(labels >= 0)
        fixed = nodes.copy()
        fixed[decided, 1 - labels[decided]] = -np.inf
        assert exhaustive(fixed, edges, tables)[1] == pytest.approx(best, abs=1e-9)
        # to give any labelling the decided states makes it no worse
        other = rng.integers(2, size=len(nodes))
        autark = np.where(labels >= 0, labels, other)
        scores = [labelling_score(y, nodes, edges, tables) for y in (other, autark)]
        assert scores[1] >= scores[0] - 1e-9
        if len(decided) == len(nodes):
            n_whole += 1
            assert labelling_score(labels, nodes, edges, tables) == pytest.approx(bound, abs=1e-9)
        elif kind == "attractive":
            raise AssertionError("a cut decides everything")
    assert n_whole >= n_graphs / 4


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_decided_is_right(kind):
    compare_with_enumeration(kind, 100, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_decided_is_right_on_twelve_thousand_graphs(kind):
    compare_with_enumeration(kind, 2000, 1)


def compare_with_relaxation(n_graphs, seed):
    rng = np.random.default_rng(seed)
    for k in range(n_graphs):
        nodes, edges, pairwise = random_potentials(rng, KINDS[k % len(KINDS)], 9, n_states=2)
        optimum = relaxed_optimum(nodes, edges, tables_of(pairwise, len(edges), 2))
        assert qpbo(nodes, edges, pairwise)[1] == pytest.approx(optimum, abs=1e-7)


def test_bound_is_that_of_the_relaxation():
    compare_with_relaxation(100, 0)


@pytest.mark.slow
def test_bound_is_that_of_the_relaxation_of_three_thousand_graphs():
    compare_with_relaxation(3000, 1)


@pytest.mark.parametrize("seed", range(10))
def test_states_that_are_exchanged_at_some_nodes_change_nothing(seed):
    """A graph that a cut represents, behind other names of the states."""
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


def test_rounding_sets_no_labels_against_each_other():
    rng = np.random.default_rng(0)
    edges = grid_edges(4, 4)
    ends = rng.normal(size=(2, len(edges), 2))
    tables = ends[0][:, :, None] + ends[1][:, None]  # linear in each end, but for rounding
    nodes = rng.normal(size=(16, 2))
    labels, bound = qpbo(nodes, edges, tables)
    assert (labels >= 0).all()
    assert bound == pytest.approx(elimination(nodes, edges, tables)[1])


@given(SEEDS, st.sampled_from(KINDS))
def test_improved_labellings(seed, kind):
    rng = np.random.default_rng(seed)
    nodes, edges, pairwise = random_potentials(rng, kind, 10, n_states=2)
    tables = tables_of(pairwise, len(edges), 2)
    start = rng.integers(2, size=len(nodes))
    labels, score, bound = improve_labelling(QPBO(), nodes, edges, pairwise, start)
    assert score == pytest.approx(labelling_score(labels, nodes, edges, tables))
    assert score >= labelling_score(start, nodes, edges, tables) - 1e-12
    assert exhaustive(nodes, edges, tables)[1] <= bound + 1e-9
    if (qpbo(nodes, edges, pairwise)[0] >= 0).all():
        assert score == pytest.approx(bound, abs=1e-9)


def test_improved_labellings_are_mostly_best():
    rng = np.random.default_rng(1)
    n_best = 0
    for _ in range(300):
        nodes, edges, pairwise = random_potentials(rng, "tables", 10, n_states=2)
        score = improve_labelling(QPBO(), nodes, edges, pairwise, [0] * len(nodes))[1]
        n_best += score >= exhaustive(nodes, edges, pairwise)[1] - 1e-9
    assert n_best >= 290


def test_loss_augmented():
    rng = np.random.default_rng(2)
    nodes, edges, pairwise = random_potentials(rng, "tables", 8, n_states=2)
    truth, cost = rng.integers(2, size=len(nodes)), rng.random(len(nodes))
    with_losses = nodes + (np.arange(2) != truth[:, None]) * cost[:, None]
    labels, bound = qpbo(nodes, edges, pairwise, truth=truth, cost=cost)
    expected = qpbo(with_losses, edges, pairwise)
    assert labels.tolist() == expected[0].tolist() and bound == pytest.approx(expected[1])


def test_no_edges_and_one_state():
    labels, bound = qpbo([[1, 2], [4, 3]])
    assert labels.tolist() == [1, 0] and labels.dtype == np.int32 and bound == 6
    found = improve_labelling(QPBO(), [[1], [2]], [[0, 1]], [-3], [0, 0])
    assert found[0].tolist() == [0, 0] and found[1:] == (0, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": np.zeros((2, 3))}, "nodes must have 2 columns, one for each state, got 3"),
        ({"nodes": [[0, -np.inf], [0, 0]]}, r"nodes\[0, 1\] is -inf, expected a finite number"),
        ({"pairwise": [np.nan]}, r"pairwise\[0\] is nan"),
        ({"edges": [[1, 1]]}, r"edges\[0\] joins node 1 to itself"),
        ({"truth": [0, 2]}, r"truth\[1\] is 2"),
        ({"nodes": np.full((2, 2), 1e308)}, "nodes and pairwise are too large: sums of them"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        qpbo(**{"nodes": [[0, 1], [0, 1]], "edges": [[0, 1]], "pairwise": [1.0]} | options)


def test_three_states_are_refused():
    with pytest.raises(ValueError, match="roof duality is for two states, got 3"):
        improve_labelling(QPBO(), np.zeros((2, 3)), [[0, 1]], [1.0], [0, 0])
