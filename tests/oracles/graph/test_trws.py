"""Messages that are kept; starts and rows of any width are in test_oracles."""

import numpy as np
import pytest
from helpers.graphs import KINDS, exhaustive, grid_edges, random_potentials, tables_of
from hypothesis import given
from hypothesis import strategies as st
from sskit_probes.graph_probe import improve_labelling

from sskit.oracles import trws
from sskit.oracles.graph.trws import TRWS


@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS[:-1]))
def test_messages_of_other_potentials_leave_a_bound(seed, kind):
    rng = np.random.default_rng(seed)
    nodes, edges, pairwise = random_potentials(rng, kind)
    n_states = nodes.shape[1]
    best = exhaustive(nodes, edges, tables_of(pairwise, len(edges), n_states))[1]
    messages = np.zeros(len(edges) * n_states, dtype=np.float32)
    start, oracle = np.zeros(len(nodes), dtype=int), TRWS(max_sweeps=3)
    for _ in range(3):
        others = [10 * rng.normal(size=np.shape(a)) for a in (nodes, pairwise)]
        improve_labelling(oracle, others[0], edges, others[1], start, messages)
        _, score, bound = improve_labelling(oracle, nodes, edges, pairwise, start, messages)
        assert score <= best + 1e-9 and best <= bound + 1e-9
    for wrong in (np.nan, np.inf, -np.inf, 1e30):
        messages[:] = wrong
        bound = improve_labelling(oracle, nodes, edges, pairwise, start, messages)[2]
        assert bound >= best - (1e-9 if wrong != 1e30 else 1e18)


def test_messages_that_are_kept_save_sweeps_and_those_that_forbid_are_not_believed():
    rng, edges = np.random.default_rng(0), grid_edges(10, 10)
    nodes, tables = rng.normal(size=(100, 4)), rng.normal(size=(len(edges), 4, 4))
    messages, start = np.zeros(len(edges) * 4, dtype=np.float32), np.zeros(100, dtype=int)
    cold = improve_labelling(TRWS(1), nodes, edges, tables, start)[2]
    full = improve_labelling(TRWS(100, 0.0), nodes, edges, tables, start, messages)[2]
    moved = nodes + 0.01 * rng.normal(size=nodes.shape)
    warm = improve_labelling(TRWS(1), moved, edges, tables, start, messages)[2]
    assert warm - full < 0.1 * (cold - full)
    forbids = np.where([[True, False], [False, False]], 0.0, -np.inf)
    messages, start = np.zeros(2, dtype=np.float32), [0, 0]
    improve_labelling(TRWS(), np.zeros((2, 2)), [[0, 1]], forbids, start, messages, forbids=True)
    nodes = [[0, 1], [0, 1]]
    found = improve_labelling(TRWS(), nodes, [[0, 1]], np.zeros((2, 2)), start, messages)
    assert found[0].tolist() == [1, 1] and found[1:] == (2, 2)
    differ = np.where(np.eye(2), -np.inf, 0.0)
    with pytest.raises(ValueError, match="no labelling of 2 nodes is allowed by the potentials"):
        trws([[0, -np.inf], [0, -np.inf]], [[0, 1]], differ)
    # no two neighbours of a triangle with two states differ, but messages do not tell
    with pytest.raises(ValueError, match="found no labelling of 3 nodes that the potentials allow"):
        trws(np.zeros((3, 2)), [[0, 1], [1, 2], [2, 0]], differ)
