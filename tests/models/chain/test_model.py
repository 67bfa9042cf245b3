"""The chain model that is bound to data keeps its sums, lengths and factors."""

import itertools

import numpy as np
import pytest
from helpers.models import MODELS, rules
from sskit_probes.factor_probe import FactorProbe

from sskit.models.chain.model import ChainModel, check_lengths
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


@pytest.mark.parametrize("name", NAMES)
def test_factors_add_up_to_the_whole(name):
    toy, rng = MODELS[name](), np.random.default_rng(0)
    w, probe = rng.normal(size=toy.pairs.d), FactorProbe(toy.problem.decomposition())
    n_states, n_edges, place = probe.factors.n_states, 0, probe.factors.pair_weights
    assert probe.factors.forest
    np.testing.assert_array_equal(probe.factors.block_weight, toy.pairs.c)
    shared = "edges" not in name and "rules" not in name  # one table is that of all edges
    assert (place >= 0) == shared
    for i in range(toy.pairs.n):
        # edges connect neighbours
        nodes, edges = list(probe.nodes(i)), list(probe.edges(i))
        assert [ends for _, *ends in edges] == [*map(list, itertools.pairwise(nodes))]
        assert [e for e, *_ in edges] == [*range(n_edges, n_edges := n_edges + len(edges))]
        states = [[probe.node(i, j, y, w) for y in range(n_states)] for j in nodes]
        pairs = [[probe.edge(i, e, pair, w) for pair in range(n_states**2)] for e, *_ in edges]
        for score, sqnorm, phi in itertools.chain(*states, *pairs):
            # the last labels may be forbidden where chains end
            assert score == pytest.approx(phi @ w, abs=1e-12) or score == -np.inf
            assert sqnorm == pytest.approx(phi @ phi, abs=1e-12)
        truth, costs = zip(*map(probe.truth, nodes), strict=True)
        features = []
        for labels in (np.array(truth), *toy.pairs.labels[i]):
            of_nodes = [found[y][2] for found, y in zip(states, labels, strict=True)]
            ends = np.ravel_multi_index((labels[:-1], labels[1:]), (n_states,) * 2)
            features.append(sum(of_nodes) + sum(pairs[e][y][2] for e, y in enumerate(ends)))
        for phi, psi in zip(features[1:], toy.pairs.psi[i], strict=True):
            np.testing.assert_allclose(toy.flat(features[0] - phi), psi, atol=1e-12)
        lost = (np.array(toy.pairs.labels[i]) != truth) @ costs
        np.testing.assert_allclose(lost, toy.pairs.loss[i], atol=1e-12)
        # scores of all states and of some, of all pairs and of those that are allowed
        for found, j in zip(states, nodes, strict=True):
            scores = [score for score, *_ in found]
            for start, stop in [(0, None), (0, 1), (1, 3), (2, 3), (1, 1)]:
                some = probe.node_scores(i, j, w, start, stop)
                np.testing.assert_allclose(some, scores[start:stop], atol=1e-12)
        for found, (e, *_) in zip(pairs, edges, strict=True):
            table = probe.edge_table(i, e, w)
            scores = [score for score, *_ in found]
            np.testing.assert_allclose(table.ravel(), scores, rtol=0 if shared else 1e-12)
            allowed = rules(3)[0] if "rules" in name else True
            np.testing.assert_array_equal(np.isfinite(table), allowed)
            if shared:
                np.testing.assert_array_equal(table.ravel(), w[place : place + 9])
    assert probe.factors.n_edges == n_edges
    if shared:
        transitions = toy.layout.split(w)["transitions"]
        np.testing.assert_array_equal(w[place : place + 9], transitions.ravel())


def test_other_models_have_no_factors():
    for name in ("multiclass, csr", "graph, dense", "second chain, csr", "chain of costs"):
        problem = MODELS[name]().problem
        assert problem.decomposition() is None
        assert problem.n_candidates() == 0 or "chain" not in name
