"""Oracles of chains by loss, with beams, and where labellings are too many for test_enumeration.

A chain is the list of its potentials: nodes, transitions and, of the second order, triples.
"""

import itertools

import numpy as np
import pytest
from helpers.potentials import enumerate_chain, random_chain
from helpers.programmes import sum_product

from sskit.oracles import (
    beam_search,
    chain_marginals,
    chain_max_marginals,
    viterbi,
    viterbi_by_loss,
    viterbi_top_k,
)

INF = np.inf


def top_k(nodes, transitions, triples=None, *, k):
    return viterbi_top_k(nodes, transitions, k, triples=triples)


def test_what_seems_lost_comes_back():
    # the way to state 1 is worth nothing until the last node, whose state 1 only it can reach
    for low, turn in itertools.product((300.0, 1e4), (1, -1)):  # and backwards
        nodes = np.array([[0.0, -low], [0.0, -low], [0.0, 2 * low]])
        for lost in (-INF, -3 * low):
            table = np.array([[0.0, lost], [0.0, 0.0]])
            chain = nodes[::turn], table[::turn, ::turn]
            found, expected = chain_marginals(*chain, return_pairs=True), sum_product(*chain)
            for some, others in zip(found, expected, strict=True):
                np.testing.assert_allclose(some, others, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(
    ("order", "K", "T"),
    [(1, 2, 10_000), (1, 9, 1000), (1, 45, 300), (2, 2, 300), (2, 9, 300), (2, 22, 100)],
)
def test_probabilities_of_long_chains(order, K, T):
    for scale, forbid in itertools.product((1.0, 1e4), (0.0, 0.2)):
        chain = random_chain(np.random.default_rng(K), T, K, order, forbid=forbid)
        nodes, pairs, *triples = (scale * table for table in chain)
        options = {"return_pairs": True} | ({"return_triples": True} if triples else {})
        log_partition, marginals, both, *three = chain_marginals(nodes, pairs, *triples, **options)
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_allclose(both.sum(axis=2), marginals[:-1], atol=1e-9)
        for table in three:
            np.testing.assert_allclose(table.sum(axis=3), both[:-1], atol=1e-7)
            np.testing.assert_allclose(table.sum(axis=1), both[1:], atol=1e-7)
        best = chain_max_marginals(nodes, pairs, *triples).max()
        assert best - 1e-12 * abs(best) <= log_partition <= best + T * np.log(K)
        turned = [table.transpose(2, 1, 0) for table in triples]
        reverse = chain_marginals(nodes[::-1], pairs.T, *turned)
        assert reverse[0] == pytest.approx(log_partition, rel=1e-12)
        np.testing.assert_allclose(reverse[1][::-1], marginals, rtol=1e-6, atol=1e-7)
        if triples:
            found, expected = (
                chain_marginals(nodes, pairs, *zeros, return_pairs=True)
                for zeros in ([np.zeros((K, K, K))], [])
            )
            for some, others in zip(found, expected, strict=True):
                np.testing.assert_allclose(some, others, rtol=1e-12, atol=1e-7)


@pytest.mark.parametrize("forbid", [0.0, 0.3])
@pytest.mark.parametrize("counts", ["one", "some", "zeros"])
def test_best_by_loss(counts, forbid):
    rng = np.random.default_rng(0)
    for _ in range(60):
        T, K = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        chain = random_chain(
            rng, T, K, forbid=forbid, feasible=False, spread=10.0 ** rng.integers(-3, 4)
        )
        truth = rng.integers(K, size=T)
        levels = np.full(T, 0 if counts == "zeros" else 1)
        if counts != "one":
            levels = levels + rng.integers(0, 3, size=T)
        labels, scores = enumerate_chain(*chain)
        losses = ((labels != truth) * levels).sum(axis=1)
        expected = np.full(levels.sum() + 1, -INF)
        np.maximum.at(expected, losses, scores)
        found, values = viterbi_by_loss(*chain, truth, cost=levels)
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)
        for e, y in enumerate(found):
            if values[e] == -INF:
                assert (y == -1).all()
                continue
            place = np.ravel_multi_index(y, (K,) * T)
            assert losses[place] == e
            assert scores[place] == pytest.approx(values[e], rel=1e-9, abs=1e-9)
    # the best of all losses is that of viterbi
    chain, truth = random_chain(rng, 30, 26), rng.integers(26, size=30)
    _, scores = viterbi_by_loss(*chain, truth)
    assert scores.max() == pytest.approx(viterbi(*chain)[1])
    assert (scores + np.arange(31)).max() == pytest.approx(viterbi(*chain, truth=truth)[1])


# ------------------------------------------------------------------------------ special cases


@pytest.mark.parametrize("order", [1, 2])
def test_any_scale_gives_the_same(order):
    chain = random_chain(np.random.default_rng(1), 5, 9, order)
    labels, score = viterbi(*chain)
    for scale in (1e-300, 1e-8, 1e8, 1e300):
        found = viterbi(*(scale * table for table in chain))
        np.testing.assert_array_equal(found[0], labels)
        assert found[1] == pytest.approx(scale * score, rel=1e-12)
    for seed in range(75):  # nor do many orders of magnitude in one chain, but for rounding
        rng = np.random.default_rng(seed)
        chain = [
            x * 10.0 ** rng.integers(-150, 150, x.shape) for x in random_chain(rng, 4, 3, order)
        ]
        labels, scores = enumerate_chain(*chain)
        size = 1e-14 * max(np.abs(table).max() for table in chain)
        found, score = viterbi(*chain)
        assert abs(score - scores.max()) <= size
        assert scores[np.ravel_multi_index(found, (3,) * 4)] >= scores.max() - size
        found, values = top_k(*chain, k=81)
        np.testing.assert_allclose(values, np.sort(scores)[::-1], rtol=0, atol=size)
        # rounding makes ties, in an order of its own; distinct all the same
        assert len(np.unique(found, axis=0)) == 81
        assert np.abs(chain_max_marginals(*chain).max(axis=1) - scores.max()).max() <= size


# --------------------------------------------------------------------- too many to enumerate


# ------------------------------------------------------------------------------- beam search


def score_of(nodes, transitions, labels):
    return nodes[np.arange(len(labels)), labels].sum() + transitions[labels[:-1], labels[1:]].sum()


def beam_by_definition(nodes, transitions, size):
    """Prefixes as tuples (labelling, score): the best for each last state, the best of those.

    Of equal scores that with the smaller last state. The best of all where the beam loses the way.
    """

    def rank(prefix):
        return -prefix[1], prefix[0][-1]

    beam = [((a,), score) for a, score in enumerate(nodes[0])]
    for node in nodes[1:]:
        following = []
        for b, score in enumerate(node):
            kept = sorted(beam, key=rank)[:size]
            longer = [(labels, s + transitions[labels[-1], b]) for labels, s in kept]
            labels, s = min(longer, key=rank)
            if s > -INF:
                following.append(((*labels, b), s + score))
        beam = following
        if not beam:
            return viterbi(nodes, transitions)
    return min(beam, key=rank)


@pytest.mark.parametrize("kind", ["reals", "ties", "scales", "forbidden"])
def test_beam_search_is_what_its_definition_says(kind):
    for (T, K), seed in itertools.product([(1, 3), (2, 2), (4, 5), (6, 9), (5, 33)], range(8)):
        rng = np.random.default_rng([T, K, seed])
        chain = random_chain(rng, T, K, integers=kind == "ties")
        if kind == "forbidden":  # a narrow beam often loses its way
            chain[1][(rng.random((K, K)) > 0.2) & (np.arange(K * K).reshape(K, K) > 0)] = -INF
        elif kind == "scales":
            chain = [x * 10.0 ** rng.integers(-150, 150, x.shape) for x in chain]
        size = max(np.abs(table[table > -INF]).max() for table in chain)
        best, maximum = viterbi(*chain)
        for beam_size in {1, 2, K // 2, K - 1, K, K + 7} - {0}:
            labels, score = beam_search(*chain, beam_size)
            expected, value = beam_by_definition(*chain, beam_size)
            assert score == pytest.approx(value, abs=1e-14 * size)
            assert score == pytest.approx(score_of(*chain, labels), abs=1e-14 * size)
            assert beam_size < K or score == pytest.approx(maximum, abs=1e-14 * size)
            if kind != "scales":
                np.testing.assert_array_equal(labels, expected)
                assert beam_size < K or labels.tolist() == best.tolist()
            assert labels.dtype == np.int32 and isinstance(score, float)


def test_the_first_node_is_summed_with_care_where_transitions_are_forbidden():
    """Its only state that may be followed has a weight below the least number."""
    nodes = np.array([[-300.0, 400.0], [100.0, -np.inf]])
    transitions = np.array([[200.0, 250.0], [-np.inf, -np.inf]])
    log_z, marginals, *_ = chain_marginals(nodes, transitions)
    assert log_z == 0.0
    np.testing.assert_array_equal(marginals, [[1.0, 0.0], [1.0, 0.0]])
