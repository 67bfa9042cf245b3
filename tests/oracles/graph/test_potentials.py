"""What all oracles of graphs promise: no worse labellings, bounds, forks."""

import numpy as np
import pytest
from helpers.graphs import exhaustive, labelling_score, random_potentials, tables_of

from sskit.oracles.graph.cut import Cut
from sskit.oracles.graph.elimination import Elimination
from sskit.oracles.graph.expansion import Expansion
from sskit.oracles.graph.potentials import improve_labelling
from sskit.oracles.graph.roof_dual import QPBO
from sskit.oracles.graph.trws import TRWS, NodeMoves

ANY = ["tables", "shared", "symmetric", "attractive", "repulsive", "signed"]
# the kinds of potentials that an oracle takes, and the number of states if it matters
ORACLES = {
    "cut": (Cut(), ["attractive"], 2),
    "elimination": (Elimination(), [*ANY, "forbidden"], None),
    "expansion": (Expansion(), ["attractive"], None),
    "swap": (Expansion(False, True), ["attractive"], None),
    "node moves": (NodeMoves(), [*ANY, "forbidden"], None),
    "qpbo": (QPBO(), ANY, 2),
    "trws": (TRWS(5), [*ANY, "forbidden"], None),
    "trws without moves": (TRWS(2, 0.1, 0), [*ANY, "forbidden"], None),
}


@pytest.mark.parametrize("name", ORACLES)
def test_what_oracles_promise(name):
    oracle, kinds, n_states = ORACLES[name]
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
        # another thread's oracle has the same answer, and memory of other graphs is no part of it
        found = improve_labelling(oracle.fork(), *given, forbids=kind == "forbidden")
        assert np.array_equal(found[0], labels) and found[1:] == (score, bound)
    assert n_bounded >= 60 * oracle.bounds


@pytest.mark.parametrize("name", ORACLES)
def test_forks_have_the_same_promises(name):
    oracle = ORACLES[name][0]
    fork = oracle.fork()
    assert type(fork) is type(oracle)
    for promise in ("exact", "bounds", "lock_free", "takes_turns"):
        assert getattr(fork, promise) == getattr(oracle, promise)
    assert not (oracle.lock_free and oracle.takes_turns)


def test_options_are_forked():
    assert [getattr(TRWS(3, 0.5, 7).fork(), k) for k in ("max_sweeps", "tol", "n_moves")] == [
        3, 0.5, 7
    ]  # fmt: skip
    assert Elimination(9).fork().max_entries == 9
    fork = Expansion(False, True).fork()
    assert fork.swaps and not fork.persistency


def test_labels_are_checked():
    with pytest.raises(ValueError, match=r"labels\[1\] is 2, expected a state from 0 to 1"):
        improve_labelling(NodeMoves(), np.eye(2), [[0, 1]], [1.0], [0, 2])
