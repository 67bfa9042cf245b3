"""Changes of single nodes: never worse, and none is left that improves."""

import numpy as np
from helpers.graphs import KINDS, labelling_score, random_potentials, tables_of
from hypothesis import given
from hypothesis import strategies as st
from sskit_probes.graph_probe import improve_labelling

from sskit.oracles.graph.trws import NodeMoves

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
