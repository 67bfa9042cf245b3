"""Chains factor by factor: the same problem as the chains as a whole."""

import numpy as np
import pytest
from helpers.models import MODELS, rules
from helpers.toys import chain_toy
from sskit_probes.factor_probe import FactorProbe

from sskit.testing.probe import ProblemProbe

NAMES = [
    "chain, dense", "chain, csr", "chain of rules", "chain of edges", "chain of edges, csr",
    "chain of edges and rules", "chain of edges and rules, csr",
]  # fmt: skip


def make(name):
    toy = MODELS[name]()
    w = np.random.default_rng(0).normal(size=toy.pairs.d)
    return toy, FactorProbe(toy.problem.decomposition()), w


def parts(probe, i, labels, w):
    """(score, squared norm, joint features) of all factors of a block with these labels."""
    start, n_states = probe.nodes(i)[0], probe.factors.n_states
    found = [probe.node(i, j, labels[j - start], w) for j in probe.nodes(i)]
    for e, first, second in probe.edges(i):
        pair = labels[first - start] * n_states + labels[second - start]
        found.append(probe.edge(i, e, pair, w))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_factors_add_up_to_the_whole(name):
    toy, probe, w = make(name)
    whole = ProblemProbe(toy.problem)
    assert probe.factors.forest
    np.testing.assert_array_equal(probe.factors.block_weight, toy.pairs.c)
    for i in range(toy.pairs.n):
        truth, costs = zip(*map(probe.truth, probe.nodes(i)), strict=True)
        np.testing.assert_array_equal(whole.truth(i)[: len(truth)], truth)
        true_parts = parts(probe, i, truth, w)
        for labels, psi, loss in zip(
            toy.pairs.labels[i], toy.pairs.psi[i], toy.pairs.loss[i], strict=True
        ):
            found = parts(probe, i, labels, w)
            moved = sum(p[2] for p in true_parts) - sum(p[2] for p in found)
            np.testing.assert_allclose(toy.flat(moved), psi, atol=1e-12)
            for score, sqnorm, phi in found:
                # the last labels may be forbidden where chains end
                assert score == pytest.approx(phi @ w, abs=1e-12)
                assert sqnorm == pytest.approx(phi @ phi, abs=1e-12)
            assert np.dot(costs, np.array(labels) != truth) == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_scores_of_all_states_and_of_some(name):
    toy, probe, w = make(name)
    ruled, shared = "rules" in name, name in NAMES[:2]
    place = probe.factors.pair_weights
    assert (place >= 0) == shared
    for i in range(probe.factors.n_blocks):
        for j in probe.nodes(i):
            one_by_one = [probe.node(i, j, y, w)[0] for y in range(3)]
            np.testing.assert_allclose(probe.node_scores(i, j, w), one_by_one, atol=1e-12)
            for start, stop in [(0, 1), (1, 3), (2, 3), (1, 1)]:
                np.testing.assert_allclose(
                    probe.node_scores(i, j, w, start, stop), one_by_one[start:stop], atol=1e-12
                )
        for e, _, _ in probe.edges(i):
            table = probe.edge_table(i, e, w)
            one_by_one = [probe.edge(i, e, pair, w)[0] for pair in range(9)]
            np.testing.assert_allclose(table.ravel(), one_by_one, rtol=0 if shared else 1e-12)
            np.testing.assert_array_equal(np.isfinite(table), rules(3)[0] if ruled else True)
            if shared:
                np.testing.assert_array_equal(table.ravel(), w[place : place + 9])
    if shared:
        transitions = toy.layout.split(w)["transitions"]
        np.testing.assert_array_equal(w[place : place + 9], transitions.ravel())


def test_edges_connect_neighbours():
    toy = chain_toy(1)
    probe = FactorProbe(toy.problem.decomposition())
    assert probe.factors.n_nodes == sum(len(x) for x in toy.X)
    for i, x in enumerate(toy.X):
        nodes = list(probe.nodes(i))
        assert len(nodes) == len(x)
        ends = [(first, second) for _, first, second in probe.edges(i)]
        assert ends == list(zip(nodes, nodes[1:], strict=False))
    numbers = [e for i in range(toy.pairs.n) for e, _, _ in probe.edges(i)]
    assert numbers == list(range(probe.factors.n_edges))


def test_other_models_have_no_factors():
    for name in ("multiclass, csr", "graph, dense", "second chain, csr", "chain of costs"):
        problem = MODELS[name]().problem
        assert problem.decomposition() is None
        assert problem.n_candidates() == 0 or "chain" not in name
