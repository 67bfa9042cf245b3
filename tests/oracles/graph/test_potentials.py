"""What all oracles of graphs promise: no worse labellings, bounds, forks."""

from functools import partial

import numpy as np
import pytest
from helpers.graphs import exhaustive, labelling_score, random_potentials, tables_of
from sskit_probes.graph_probe import improve_labelling, topologies_of

from sskit.oracles.graph.cut import QPBO, Cut, Expansion
from sskit.oracles.graph.elimination import Elimination
from sskit.oracles.graph.potentials import NAMES, Topologies, choose
from sskit.oracles.graph.trws import TRWS
from sskit.oracles.tree.choice import ORACLES as TABLE
from sskit.oracles.tree.max_sum import TreeOracle

ANY = ["tables", "shared", "symmetric", "attractive", "repulsive", "signed"]
# the kinds of potentials that an oracle takes, and the number of states if it matters
ORACLES = {
    "cut": (Cut, ["attractive"], 2),
    "elimination": (Elimination, [*ANY, "forbidden"], None),
    "expansion": (Expansion, ["attractive"], None),
    "swap": (partial(Expansion, False, True), ["attractive"], None),
    "qpbo": (QPBO, ANY, 2),
    "trws": (partial(TRWS, 5), [*ANY, "forbidden"], None),
    "trws without moves": (partial(TRWS, 2, 0.1, 0), [*ANY, "forbidden"], None),
}


@pytest.mark.parametrize("name", ORACLES)
def test_what_oracles_promise(name):
    make, kinds, n_states = ORACLES[name]
    oracle = make()
    rng = np.random.default_rng(0)
    n_bounded = 0
    for k in range(120):
        kind = kinds[k % len(kinds)]
        nodes, edges, pairwise = random_potentials(rng, kind, 6, n_states)
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
        # another thread's oracle has the same answer, and memory of other graphs is no part of it,
        # whether what follows from the edges has been made before or not
        topologies = topologies_of(len(nodes), edges)
        topologies.arrange([oracle], [0], nodes.shape[1])
        for known in (None, topologies):
            found = improve_labelling(make(), *given, forbids=kind == "forbidden", topologies=known)
            assert np.array_equal(found[0], labels) and found[1:] == (score, bound)
    assert n_bounded >= 60 * oracle.bounds


@pytest.mark.parametrize("name", ORACLES)
def test_no_oracle_is_free_of_the_lock_and_takes_turns(name):
    oracle = ORACLES[name][0]()
    assert not (oracle.lock_free and oracle.takes_turns)


def test_equal_graphs_share_what_follows_from_their_edges():
    ends = np.array([[0, 1], [1, 2], [0, 1], [1, 2], [2, 0], [0, 1]], dtype=np.int32)
    graphs = Topologies([3, 3, 3, 2], ends, [0, 2, 4, 5, 6])
    assert len(graphs) == 4
    cycle = Topologies([3], ends[[0, 1, 4]], [0, 3])
    assert [graphs.is_forest(i) for i in range(4)] == [True] * 4 and not cycle.is_forest(0)
    with pytest.raises(ValueError, match="edge 2 between the nodes 2 and 0 closes a cycle"):
        cycle.arrange([TreeOracle()], [0], 2)
    with pytest.raises(ValueError, match="the induced width of 3 nodes with 3 edges is"):
        cycle.arrange([Elimination(2)], [0], 2)


PATH, SQUARE = [[0, 1], [1, 2]], [[0, 1], [1, 2], [2, 3], [3, 0]]


@pytest.mark.parametrize(
    ("edges", "n_states", "options", "name"),
    [
        (PATH, 2, {"attractive": True}, "tree"),
        (SQUARE, 3, {}, "elimination"),
        (SQUARE, 2, {"attractive": True}, "graphcut"),
        (SQUARE, 2, {"attractive": True, "forbids": True}, "elimination"),
        (SQUARE, 2, {"max_entries": 21}, "qpbo"),
        (SQUARE, 2, {"max_entries": 21, "forbids": True}, "trws"),
        (SQUARE, 2, {"max_entries": 0, "max_labellings": 16}, "elimination"),
        (SQUARE, 2, {"max_entries": 0, "max_labellings": 15}, "qpbo"),
        (SQUARE, 3, {"max_entries": 9}, "trws"),
        (SQUARE, 3, {"max_entries": 9, "attractive": True, "potts": True}, "expansion"),
        (SQUARE, 3, {"max_entries": 9, "attractive": True}, "trws"),
        (None, 2, {"attractive": True}, "graphcut"),
        (None, 3, {"attractive": True, "potts": True}, "expansion"),
        (None, 3, {"attractive": True}, "trws"),
        (None, 2, {}, "qpbo"),
    ],
)
def test_rule_of_choice(edges, n_states, options, name):
    graph = None if edges is None else topologies_of(len(edges) + (edges is PATH), edges)
    assert choose(n_states, graph, **options) == name
    assert list(TABLE) == list(NAMES)
