"""All oracles of graphs against enumeration and linear programming, and what they promise."""

from functools import partial

import numpy as np
import pytest
from helpers.graphs import (
    KINDS,
    exhaustive,
    grid_edges,
    labelling_score,
    random_graph,
    random_potentials,
    relaxed_optimum,
    tables_of,
)
from helpers.label_sets import random_forest
from sskit_probes.graph_probe import improve_labelling, induced_width, topologies_of

from sskit.oracles import (
    elimination,
    expansion,
    graph_max_marginals,
    graphcut,
    qpbo,
    tree_max_sum,
    trws,
)
from sskit.oracles.graph.cut import QPBO, Cut, Expansion
from sskit.oracles.graph.elimination import Elimination
from sskit.oracles.graph.potentials import NAMES, Topologies, choose
from sskit.oracles.graph.trws import TRWS
from sskit.oracles.tree.choice import ORACLES as TABLE
from sskit.oracles.tree.max_sum import TreeOracle

ANY = [kind for kind in KINDS if kind != "forbidden"]


def random_energy(rng, max_nodes=12):
    """Potentials that a cut can represent, over eight orders of magnitude."""
    n_nodes, edges = random_graph(rng, max_nodes)
    nodes, tables = (
        rng.normal(size=shape) * 10.0 ** rng.uniform(-4, 4, size=shape)
        for shape in ((n_nodes, 2), (len(edges), 2, 2))
    )
    equal = tables[:, 0, 0] + tables[:, 1, 1] >= tables[:, 0, 1] + tables[:, 1, 0]
    tables[~equal] = tables[~equal][:, ::-1]
    return nodes, edges, tables


# ------------------------------------------------------------------- against all labellings


@pytest.mark.parametrize(
    ("n_graphs", "seed"), [(1200, 0), pytest.param(20_000, 1, marks=pytest.mark.slow)]
)
def test_cuts(n_graphs, seed):
    rng = np.random.default_rng(seed)
    for k in range(n_graphs):
        nodes, edges, tables = random_energy(rng, 12 if k % 20 else 7)
        labels, value = graphcut(nodes, edges, tables)
        size = np.abs(nodes).sum() + np.abs(tables).sum()
        assert abs(value - labelling_score(labels, nodes, edges, tables)) <= 1e-12 * size
        assert value >= exhaustive(nodes, edges, tables)[1] - 1e-12 * size
        if k % 100 == 0:
            expected = np.empty_like(nodes)
            for v, state in np.ndindex(nodes.shape):
                fixed = nodes.copy()
                fixed[v, 1 - state] = -np.inf
                expected[v, state] = exhaustive(fixed, edges, tables)[1]
            marginals = graph_max_marginals(nodes, edges, tables)
            assert np.allclose(marginals, expected, rtol=0, atol=1e-12 * size)


def check_qpbo(rng, potentials, tables, best):
    nodes, edges, _ = potentials
    labels, bound = qpbo(*potentials)
    assert bound >= best - 1e-9
    decided, fixed = np.flatnonzero(labels >= 0), nodes.copy()
    fixed[decided, 1 - labels[decided]] = -np.inf
    assert exhaustive(fixed, edges, tables)[1] == pytest.approx(best, abs=1e-9)
    # to give any labelling the decided states makes it no worse
    other = rng.integers(2, size=len(nodes))
    before, after = (
        labelling_score(y, nodes, edges, tables)
        for y in (other, np.where(labels < 0, other, labels))
    )
    assert after >= before - 1e-9
    whole = len(decided) == len(nodes)
    assert not whole or after == pytest.approx(bound, abs=1e-9)
    return whole


def compare_with_enumeration(kind, n_states, n_graphs, seed):
    rng = np.random.default_rng(seed)
    n = n_best = n_missed = n_whole = 0
    for _ in range(n_graphs):
        largest = 7 if rng.random() < 0.9 else 9
        potentials = nodes, edges, pairwise = random_potentials(rng, kind, largest, n_states)
        if nodes.shape[1] ** len(nodes) > 100_000:
            continue
        tables = tables_of(pairwise, len(edges), nodes.shape[1])
        try:
            best = exhaustive(nodes, edges, tables)[1]
        except ValueError:
            for oracle in (elimination, trws):
                with pytest.raises(ValueError, match="no labelling of . nodes"):
                    oracle(*potentials)
            continue
        n += 1
        labels, score = elimination(*potentials)
        assert score == pytest.approx(best, abs=1e-9)
        assert labelling_score(labels, nodes, edges, tables) == pytest.approx(score, abs=1e-9)
        try:
            labels, score, bound = trws(*potentials)
        except ValueError as error:
            # what it says of all labellings is proved
            assert kind == "forbidden" and "found no labelling" in str(error)
            n_missed += 1
        else:
            assert score == pytest.approx(labelling_score(labels, nodes, edges, tables), abs=1e-9)
            assert score <= best + 1e-9 and best <= bound + 1e-9
            n_best += score >= best - 1e-9
        if n_states == 2 and kind != "forbidden":
            n_whole += check_qpbo(rng, potentials, tables, best)
        if kind == "attractive":
            # expansions lose at most as much again as the least that all labellings lose
            most = nodes.max(axis=1).sum() + pairwise.sum()
            # where every node alone gains more than its edges could change, all are certain
            order = np.sort(nodes, axis=1)
            at_stake = np.bincount(edges.ravel(), np.repeat(pairwise, 2), len(nodes))
            certain = nodes.shape[1] > 1 and (order[:, -1] - order[:, -2] > at_stake).all()
            if n_states == 2:
                assert graphcut(*potentials)[1] == pytest.approx(best, abs=1e-9)
            for options in ({}, {"persistency": False}, {"moves": "swap"}):
                labels, score = expansion(*potentials, **options)
                assert score == pytest.approx(labelling_score(labels, nodes, edges, tables))
                assert score <= best + 1e-9 and most - score <= 2 * (most - best) + 1e-9
                n_best += score >= best - 1e-9
                assert not certain or options or score >= best - 1e-9
    n_tried = n * (4 if kind == "attractive" else 1)
    assert n_missed <= 0.01 * n_graphs and n_best >= 0.95 * n_tried - n_missed
    if n_states == 2 and kind != "forbidden":
        assert n_whole >= (n if kind == "attractive" else n / 4)


@pytest.mark.parametrize("n_states", [2, None])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("n_graphs", "seed"), [(150, 0), pytest.param(1500, 1, marks=pytest.mark.slow)]
)
def test_all_oracles(kind, n_states, n_graphs, seed):
    compare_with_enumeration(kind, n_states, n_graphs, seed)


@pytest.mark.parametrize(
    ("n_graphs", "least"), [(120, 0.9), pytest.param(4000, 0.95, marks=pytest.mark.slow)]
)
def test_bounds_are_those_of_the_relaxation(n_graphs, least):
    """Tight graphs are those whose bound is the optimum of the relaxation."""
    rng, n_tight = np.random.default_rng(0), 0
    for k in range(n_graphs):
        n_states = 2 if k % 2 else None
        kind, largest = ANY[k // 2 % len(ANY)], 9 if n_states else 5
        nodes, edges, pairwise = random_potentials(rng, kind, largest, n_states)
        optimum = relaxed_optimum(nodes, edges, tables_of(pairwise, len(edges), nodes.shape[1]))
        bound = trws(nodes, edges, pairwise, max_sweeps=1000, tol=0)[2]
        assert bound >= optimum - 1e-6
        n_tight += bound <= optimum + 1e-6
        if nodes.shape[1] == 2:
            assert bound == pytest.approx(optimum, abs=1e-5)
            assert qpbo(nodes, edges, pairwise)[1] == pytest.approx(optimum, abs=1e-7)
    assert n_tight >= least * n_graphs


# -------------------------------------------------------------------- against other oracles


@pytest.mark.parametrize("n_states", [1, 2, 4, 5, 8, 9, 13, 16, 17, 21, 25, 28, 29, 33])
@pytest.mark.parametrize("form", ["potts", "one", "each"])
def test_forests(n_states, form):
    """Rows of all widths."""
    rng = np.random.default_rng(n_states)
    for n_nodes in (int(rng.integers(1, 60)), 4):
        edges = random_forest(rng, n_nodes, int(rng.integers(n_nodes)))
        nodes = rng.normal(size=(n_nodes, n_states))
        shapes = {"potts": (), "one": (n_states,) * 2, "each": (len(edges), n_states, n_states)}
        pairwise = rng.normal(size=shapes[form] or len(edges))
        best = tree_max_sum(nodes, edges, pairwise)
        labels, score = elimination(nodes, edges, pairwise)
        assert score == pytest.approx(best[1]) and labels.tolist() == best[0].tolist()
        assert not len(edges) or induced_width(n_nodes, edges) == 1
        found = trws(nodes, edges, pairwise, max_sweeps=10_000, tol=0)
        assert found[1:] == pytest.approx([best[1]] * 2, abs=1e-6)


def test_attractive_grids_of_two_states():
    rng = np.random.default_rng(0)
    for shape in [(2, 40), (3, 20), (6, 9), *[(5, 6)] * 6]:
        edges = grid_edges(*shape)
        nodes, gains = 2 * rng.normal(size=(np.prod(shape), 2)), rng.exponential(size=len(edges))
        given = nodes, edges, gains
        best = graphcut(*given)[1]
        assert elimination(*given)[1] == pytest.approx(best)
        assert trws(*given, max_sweeps=3000, tol=0)[2] == pytest.approx(best, abs=1e-6)
        assert graph_max_marginals(*given).max(axis=1) == pytest.approx(np.full(len(nodes), best))
        for moves in ("expansion", "swap"):
            for persistency in (True, False):
                score = expansion(*given, moves=moves, persistency=persistency)[1]
                # an expansion of two states lets only those of the other one change
                exact = persistency or moves == "swap"
                assert score == pytest.approx(best) if exact else score <= best + 1e-9


@pytest.mark.parametrize("oracle", [graphcut, expansion, elimination, qpbo, trws])
def test_ties_no_edges_and_one_state(oracle):
    edges = [[0, 1], [1, 2]]
    labels, *values = oracle([[1, 2], [4, 3]])
    assert labels.tolist() == [1, 0] and labels.dtype == np.int32 and set(values) == {6}
    assert oracle([[1, 2]], np.zeros((0, 2), int), np.zeros(0))[1] == 2
    if oracle is not qpbo:  # which leaves open what is as good either way
        labels, *values = oracle(np.zeros((4, 2)), edges, [1, 1])
        assert labels.tolist() == [0, 0, 0, 0] and values[0] == 2
    if oracle not in (graphcut, qpbo):
        labels, *values = oracle([[1.0], [2.0], [0.5]], edges, [[3.0]])
        assert labels.tolist() == [0, 0, 0] and set(values) == {9.5}


# ---------------------------------------------------------------------- what oracles promise

# the kinds of potentials that an oracle takes, and the number of states if it matters
ORACLES = {
    "cut": (Cut, ["attractive"], 2),
    "elimination": (Elimination, [*ANY, "forbidden"], None),
    "expansion": (Expansion, ["attractive"], None),
    "swap": (partial(Expansion, False, True), ["attractive"], None),
    "qpbo": (QPBO, ANY, 2),
    "trws": (partial(TRWS, 5), [*ANY, "forbidden"], None),
    "trws without forests": (partial(TRWS, 2, 0.1, 0), [*ANY, "forbidden"], None),
}


@pytest.mark.parametrize("name", ORACLES)
def test_labellings_are_improved(name):
    make, kinds, n_states = ORACLES[name]
    oracle = make()
    assert not (oracle.lock_free and oracle.takes_turns)
    rng = np.random.default_rng(0)
    n_bounded = 0
    for k in range(120):
        kind = kinds[k % len(kinds)]
        nodes, edges, pairwise = random_potentials(rng, kind, 10 if name == "qpbo" else 6, n_states)
        tables = tables_of(pairwise, len(edges), nodes.shape[1])
        start = rng.integers(nodes.shape[1], size=len(nodes))
        before = labelling_score(start, nodes, edges, tables)
        given = nodes, edges, pairwise, start
        try:
            best = exhaustive(nodes, edges, tables)[1]
        except ValueError:
            continue
        labels, score, bound = improve_labelling(oracle, *given, forbids=kind == "forbidden")
        assert score == pytest.approx(labelling_score(labels, nodes, edges, tables), abs=1e-9)
        assert score >= before - 1e-9 and score <= best + 1e-9 and best <= bound + 1e-9
        assert oracle.bounds == (bound < np.inf)
        n_bounded += score >= bound - 1e-9
        if oracle.exact:
            assert score >= best - 1e-9
        if name == "qpbo" and (qpbo(nodes, edges, pairwise)[0] >= 0).all():
            assert score == pytest.approx(bound, abs=1e-9)
        # another thread's oracle has the same answer, and memory of other graphs is no part of it,
        # whether what follows from the edges has been made before or not
        topologies = topologies_of(len(nodes), edges)
        topologies.arrange([oracle], [0], nodes.shape[1])
        for known in (None, topologies):
            found = improve_labelling(make(), *given, forbids=kind == "forbidden", topologies=known)
            assert np.array_equal(found[0], labels) and found[1:] == (score, bound)
    assert n_bounded >= 60 * oracle.bounds


def test_extreme_weights_end():
    rng = np.random.default_rng(2)
    for k in range(150):
        nodes, edges, gains = random_potentials(rng, "attractive", 9, 5)
        nodes *= 10.0 ** rng.uniform(-8, 8, size=nodes.shape)
        gains *= 10.0 ** rng.uniform(-8, 8, size=gains.shape)
        for moves in ("expansion", "swap"):
            labels, value = expansion(nodes, edges, gains, moves=moves)
            assert np.isfinite(value) and labels.min() >= 0 and labels.max() < 5
        if k % 10 == 0:
            nodes, edges, tables = random_potentials(rng, "tables", 4, 3)
            nodes, tables = 1e290 * nodes, 1e290 * tables
            best = exhaustive(nodes, edges, tables)[1]
            assert elimination(nodes, edges, tables)[1] == pytest.approx(best, rel=1e-12)
            _, score, bound = trws(nodes, edges, tables)
            assert score <= best + 1e-9 * abs(best) and best <= bound + 1e-9 * abs(bound)


PATH, SQUARE = [[0, 1], [1, 2]], [[0, 1], [1, 2], [2, 3], [3, 0]]


def test_rule_of_choice():
    assert list(TABLE) == list(NAMES)
    attractive, potts = {"attractive": True}, {"attractive": True, "potts": True}
    for edges, n_states, options, name in [
        (PATH, 2, attractive, "tree"),
        (SQUARE, 3, {}, "elimination"),
        (SQUARE, 2, attractive, "graphcut"),
        (SQUARE, 2, attractive | {"forbids": True}, "elimination"),
        (SQUARE, 2, {"max_entries": 21}, "qpbo"),
        (SQUARE, 2, {"max_entries": 21, "forbids": True}, "trws"),
        (SQUARE, 2, {"max_entries": 0, "max_labellings": 16}, "elimination"),
        (SQUARE, 2, {"max_entries": 0, "max_labellings": 15}, "qpbo"),
        (SQUARE, 3, {"max_entries": 9}, "trws"),
        (SQUARE, 3, {"max_entries": 9} | potts, "expansion"),
        (SQUARE, 3, {"max_entries": 9} | attractive, "trws"),
        (None, 2, attractive, "graphcut"),
        (None, 3, potts, "expansion"),
        (None, 3, attractive, "trws"),
        (None, 2, {}, "qpbo"),
    ]:
        graph = None if edges is None else topologies_of(len(edges) + (edges is PATH), edges)
        assert choose(n_states, graph, **options) == name, (edges, n_states, options)
    # equal graphs have in common what follows from their edges
    ends = np.array([[0, 1], [1, 2], [0, 1], [1, 2], [2, 0], [0, 1]], dtype=np.int32)
    graphs = Topologies([3, 3, 3, 2], ends, [0, 2, 4, 5, 6])
    cycle = Topologies([3], ends[[0, 1, 4]], [0, 3])
    assert [graphs.is_forest(i) for i in range(len(graphs))] == [True] * 4
    assert not cycle.is_forest(0)
    with pytest.raises(ValueError, match="edge 2 between the nodes 2 and 0 closes a cycle"):
        cycle.arrange([TreeOracle()], [0], 2)
    with pytest.raises(ValueError, match="the induced width of 3 nodes with 3 edges is"):
        cycle.arrange([Elimination(2)], [0], 2)
