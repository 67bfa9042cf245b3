"""The chain model that is bound to data keeps its sums, lengths and factors."""

import itertools

import numpy as np
import pytest
from helpers.models import MODELS, rules
from sskit_probes.factor_probe import FactorProbe

from sskit.models.chain.model import ChainModel, check_lengths
from sskit.testing.probe import ProblemProbe
from sskit.utils import RaggedArray


def test_lengths_without_labelling():
    rng = np.random.default_rng(0)
    for _ in range(100):
        allowed, start, end = rng.random((3, 3)) < 0.4, rng.random(3) < 0.5, rng.random(3) < 0.5
        for length in range(1, 8):
            found = start
            for _ in range(length - 1):
                found = allowed[found].any(axis=0)
            if (found & end).any():
                check_lengths(np.array([length]), allowed, start, end)
            else:
                with pytest.raises(ValueError, match=f"of length {length}$"):
                    check_lengths(np.array([length]), allowed, start, end)
    check_lengths(np.array([10**9]), None, None, None)
    # every second length ends where it may
    cycle, first = np.array([[False, True], [True, False]]), np.array([True, False])
    check_lengths(np.array([1, 3, 10**4 + 1]), cycle, first, first)
    with pytest.raises(ValueError, match="no labelling of a sequence of length 10000"):
        check_lengths(np.array([3, 10**4 + 2, 10**4]), cycle, first, first)


# ---- edges with features, and triples ----------------------------------------------------------


def test_a_beam_is_exact_if_wide_and_allowed_if_narrow():
    toy = MODELS["chain of edges and rules"]()
    w, offsets = np.random.default_rng(1).normal(size=toy.problem.n_weights), [0, 1, 3, 7, 10]
    best = toy.decode(w).best()
    np.testing.assert_array_equal(toy.decode(w, beam_size=7).best(), best)
    for size in (1, 2):
        for y in np.split(toy.decode(w, beam_size=size).best(), offsets[1:-1]):
            assert rules(3)[0][y[:-1], y[1:]].all()


def test_too_many_tables_are_refused():
    values, given = np.zeros((2_000, 1)), (np.zeros(2_000), np.ones(2_000), np.ones(1))
    for model, edges, message in [
        (ChainModel(1, 1_100, n_edge_features=1), {"edges": values[1:]}, "1100 labels are too"),
        (ChainModel(1, 1300, order=2), {}, "1300 labels are too"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.bind(RaggedArray(values, [0, 2_000]), *given, **edges)


# ---- factor by factor: the same problem as the chains as a whole --------------------------------


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
    whole, n_edges = ProblemProbe(toy.problem), 0
    assert probe.factors.forest
    np.testing.assert_array_equal(probe.factors.block_weight, toy.pairs.c)
    for i in range(toy.pairs.n):
        # edges connect neighbours
        nodes, edges = list(probe.nodes(i)), list(probe.edges(i))
        assert [ends for _, *ends in edges] == [*map(list, itertools.pairwise(nodes))]
        assert [e for e, *_ in edges] == [*range(n_edges, n_edges := n_edges + len(edges))]
        truth, costs = zip(*map(probe.truth, nodes), strict=True)
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
    assert probe.factors.n_edges == n_edges


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
                some = probe.node_scores(i, j, w, start, stop)
                np.testing.assert_allclose(some, one_by_one[start:stop], atol=1e-12)
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


def test_other_models_have_no_factors():
    for name in ("multiclass, csr", "graph, dense", "second chain, csr", "chain of costs"):
        problem = MODELS[name]().problem
        assert problem.decomposition() is None
        assert problem.n_candidates() == 0 or "chain" not in name
