"""Chains factor by factor: the same problem as the chains as a whole."""

import numpy as np
import pytest
from helpers.toys import TOYS, chain_toy
from sskit_probes.factor_probe import FactorProbe

from sskit.testing.probe import ProblemProbe

ALLOWED = np.array([[True, True, False], [False, True, True], [True, False, True]])


def make(form="dense", allowed=None):
    toy = chain_toy(1, form=form, allowed=allowed)
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


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_factors_add_up_to_the_whole(form):
    toy, probe, w = make(form)
    assert probe.factors.forest
    np.testing.assert_array_equal(probe.factors.block_weight, toy.pairs.c)
    for i in range(toy.pairs.n):
        truth = [probe.truth(j)[0] for j in probe.nodes(i)]
        true_parts = parts(probe, i, truth, w)
        for labels, psi, loss in zip(
            toy.pairs.labels[i], toy.pairs.psi[i], toy.pairs.loss[i], strict=True
        ):
            found = parts(probe, i, labels, w)
            moved = sum(p[2] for p in true_parts) - sum(p[2] for p in found)
            np.testing.assert_allclose(toy.flat(moved), psi, atol=1e-12)
            for score, sqnorm, phi in found:
                assert score == pytest.approx(phi @ w, abs=1e-12)
                assert sqnorm == pytest.approx(phi @ phi, abs=1e-12)
            wrong = [
                probe.truth(j)[1]
                for j, y in zip(probe.nodes(i), labels, strict=True)
                if y != probe.truth(j)[0]
            ]
            assert sum(wrong) == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_scores_of_all_states_and_of_some(form):
    _, probe, w = make(form)
    for i in range(probe.factors.n_blocks):
        for j in probe.nodes(i):
            one_by_one = [probe.node(i, j, y, w)[0] for y in range(3)]
            np.testing.assert_allclose(probe.node_scores(i, j, w), one_by_one, atol=1e-12)
            for start, stop in [(0, 1), (1, 3), (2, 3), (1, 1)]:
                np.testing.assert_allclose(
                    probe.node_scores(i, j, w, start, stop), one_by_one[start:stop], atol=1e-12
                )
        for e, _, _ in probe.edges(i):
            one_by_one = [probe.edge(i, e, pair, w)[0] for pair in range(9)]
            np.testing.assert_array_equal(probe.edge_table(i, e, w).ravel(), one_by_one)


def test_edges_connect_neighbours():
    toy, probe, _ = make()
    assert probe.factors.n_nodes == sum(len(x) for x in toy.X)
    for i, x in enumerate(toy.X):
        nodes = list(probe.nodes(i))
        assert len(nodes) == len(x)
        ends = [(first, second) for _, first, second in probe.edges(i)]
        assert ends == list(zip(nodes, nodes[1:], strict=False))
    numbers = [e for i in range(toy.pairs.n) for e, _, _ in probe.edges(i)]
    assert numbers == list(range(probe.factors.n_edges))


def test_forbidden_pairs_have_no_table_of_their_own():
    toy, probe, w = make(allowed=ALLOWED)
    assert probe.factors.pair_weights == -1
    for i in range(toy.pairs.n):
        for e, _, _ in probe.edges(i):
            table = probe.edge_table(i, e, w)
            np.testing.assert_array_equal(np.isfinite(table), ALLOWED)
            assert [probe.edge(i, e, pair, w)[0] for pair in range(9)] == list(table.ravel())


def test_where_the_table_of_pairs_stands():
    toy, probe, w = make()
    place = probe.factors.pair_weights
    np.testing.assert_array_equal(w[place : place + 9], toy.layout.split(w)["transitions"].ravel())
    np.testing.assert_array_equal(
        probe.edge_table(2, probe.edges(2)[0][0], w).ravel(), w[place : place + 9]
    )


@pytest.mark.parametrize("name", ["multiclass", "graph"])
def test_other_models_have_no_factors(name):
    assert TOYS[name](1).problem.decomposition() is None


def test_truth_is_that_of_the_problem():
    toy, probe, _ = make()
    whole = ProblemProbe(toy.problem)
    for i in range(toy.pairs.n):
        truth = [probe.truth(j)[0] for j in probe.nodes(i)]
        np.testing.assert_array_equal(whole.truth(i)[: len(truth)], truth)
