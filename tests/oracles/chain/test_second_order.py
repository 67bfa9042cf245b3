"""Chains in which three labels in a row have a potential, against all labellings."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from sskit_probes.chain_probe import draw_labels

from sskit.oracles import chain_marginals, chain_max_marginals, viterbi, viterbi_top_k

SIZES = [*itertools.product(range(1, 6), range(1, 5)), (1, 9), (2, 33), (3, 9), (3, 17), (4, 8)]


def enumerate_chain(nodes, transitions, triples, truth=None, cost=0.0):
    """Return all labellings in lexicographic order and their scores."""
    T, K = nodes.shape
    labels = np.array(list(itertools.product(range(K), repeat=T)))
    scores = nodes[np.arange(T), labels].sum(axis=1)
    scores += transitions[labels[:, :-1], labels[:, 1:]].sum(axis=1)
    scores += triples[labels[:, :-2], labels[:, 1:-1], labels[:, 2:]].sum(axis=1)
    if truth is not None:
        scores += np.where(labels != truth, cost, 0.0).sum(axis=1)
    return labels, scores


def top_k(nodes, transitions, triples, k):
    return viterbi_top_k(nodes, transitions, k, triples=triples)


def in_order(labels, scores):
    """Return the places of labellings, best first; of several that with the smallest last label."""
    return np.lexsort((*labels.T, -scores))


def draw(rng, T, K, *, forbid=0.0, integers=False, spread=1.0):
    """Return potentials; integers give many ties and exact sums."""
    shapes = (T, K), (K, K), (K, K, K)
    if integers:
        tables = [rng.integers(-2, 3, shape) for shape in shapes]
    else:
        tables = [rng.standard_normal(shape) * (spread, 1, 1)[k] for k, shape in enumerate(shapes)]
    # labels only ever rise here, so that some labelling is allowed whatever is forbidden
    rising = np.arange(K) == np.sort(rng.integers(0, K, T))[:, None]
    pairs = np.triu(np.ones((K, K), dtype=bool))
    keep = rising, pairs, pairs[:, :, None] & pairs[None]
    return [
        np.where(must | (rng.random(shape) >= forbid), table, -np.inf)
        for must, shape, table in zip(keep, shapes, tables, strict=True)
    ]


@pytest.mark.parametrize("forbid", [0.0, 0.8])
@pytest.mark.parametrize("loss", [False, True])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_finds_the_maximum(T, K, loss, forbid):
    rng = np.random.default_rng(T * 100 + K)
    for spread in (0.1, 5.0):  # few rows of triples are left out, most are
        tables = draw(rng, T, K, forbid=forbid, spread=spread)
        truth = rng.integers(0, K, T) if loss else None
        cost = rng.uniform(0, 3, T)
        labels, score = viterbi(*tables, truth=truth, cost=cost)
        all_labels, scores = enumerate_chain(*tables, truth, cost)
        assert labels.dtype == np.int32
        assert isinstance(score, float)
        assert score == pytest.approx(scores.max(), rel=1e-12, abs=1e-12)
        np.testing.assert_array_equal(labels, all_labels[scores.argmax()])


@pytest.mark.parametrize("loss", [False, True])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_ties(T, K, loss):
    rng = np.random.default_rng(T * 100 + K)
    for _ in range(5):
        tables = draw(rng, T, K, forbid=0.4, integers=True)
        truth = rng.integers(0, K, T) if loss else None
        labels, score = viterbi(*tables, truth=truth, cost=2)
        all_labels, scores = enumerate_chain(*tables, truth, 2.0)
        assert score == scores.max()
        np.testing.assert_array_equal(labels, all_labels[in_order(all_labels, scores)[0]])


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("k", [1, 2, 7, 1000])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_top_k(T, K, k, integers):
    rng = np.random.default_rng(T * 100 + K)
    tables = draw(rng, T, K, forbid=0.3, integers=integers)
    labels, scores = top_k(*tables, k)
    all_labels, all_scores = enumerate_chain(*tables)
    order = in_order(all_labels, all_scores)[:k]
    order = order[all_scores[order] > -np.inf]
    np.testing.assert_array_equal(labels, all_labels[order])
    np.testing.assert_allclose(scores, all_scores[order], rtol=1e-12, atol=1e-12)
    assert (np.diff(scores) <= 0).all()
    np.testing.assert_array_equal(labels[0], viterbi(*tables)[0])


@pytest.mark.parametrize("forbid", [0.0, 0.8])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_max_marginals(T, K, forbid):
    tables = draw(np.random.default_rng(T * 100 + K), T, K, forbid=forbid)
    labels, scores = enumerate_chain(*tables)
    expected = np.full((T, K), -np.inf)
    for t, k in itertools.product(range(T), range(K)):
        expected[t, k] = scores[labels[:, t] == k].max()
    np.testing.assert_allclose(chain_max_marginals(*tables), expected, rtol=1e-12, atol=1e-12)


def shares_of(labels, shares, K):
    """Return the probabilities of states, pairs and triples from those of all labellings."""
    T = labels.shape[1]
    sums = [np.zeros((max(T - n, 0), *(K,) * (n + 1))) for n in range(3)]
    for n, total in enumerate(sums):
        for t in range(T - n):
            np.add.at(total[t], tuple(labels[:, t + i] for i in range(n + 1)), shares)
    return sums


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("forbid", [0.0, 0.6])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_marginals(T, K, forbid, scale):
    tables = [scale * table for table in draw(np.random.default_rng(T * 100 + K), T, K,
                                              forbid=forbid)]  # fmt: skip
    labels, scores = enumerate_chain(*tables)
    log_partition = logsumexp(scores)
    found = chain_marginals(*tables, return_pairs=True, return_triples=True)
    assert isinstance(found[0], float)
    assert abs(found[0] - log_partition) <= 1e-12 * max(1.0, abs(log_partition))
    expected = shares_of(labels, np.exp(scores - log_partition), K)
    for some, others in zip(found[1:], expected, strict=True):
        assert some.flags.c_contiguous
        np.testing.assert_allclose(some, others, rtol=1e-9, atol=1e-12)
    for only, place in (({}, []), ({"return_pairs": True}, [2]), ({"return_triples": True}, [3])):
        again = chain_marginals(*tables, **only)
        assert len(again) == 2 + len(place)
        for some, others in zip(again, [found[k] for k in (0, 1, *place)], strict=True):
            np.testing.assert_array_equal(some, others)


@pytest.mark.parametrize("K", [2, 9, 22])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_marginals_of_long_chains(K, scale):
    rng = np.random.default_rng(K)
    nodes, pairs, triples = (scale * table for table in draw(rng, 300, K, forbid=0.1))
    log_partition, marginals, both, three = chain_marginals(
        nodes, pairs, triples, return_pairs=True, return_triples=True
    )
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(both.sum(axis=2), marginals[:-1], atol=1e-9)
    np.testing.assert_allclose(three.sum(axis=3), both[:-1], atol=1e-7)
    np.testing.assert_allclose(three.sum(axis=1), both[1:], atol=1e-7)
    backwards = chain_marginals(nodes[::-1], pairs.T, triples.transpose(2, 1, 0))
    assert backwards[0] == pytest.approx(log_partition, rel=1e-12)
    np.testing.assert_allclose(backwards[1][::-1], marginals, atol=1e-7)
    found = chain_marginals(nodes, pairs, np.zeros((K, K, K)), return_pairs=True)
    expected = chain_marginals(nodes, pairs, return_pairs=True)
    assert found[0] == pytest.approx(expected[0], rel=1e-12)
    for some, others in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(some, others, atol=1e-7)


@pytest.mark.parametrize(("T", "K"), [(1, 3), (2, 3), (3, 2), (5, 3)])
def test_draws_have_the_probabilities(T, K):
    rng = np.random.default_rng(T)
    tables = draw(rng, T, K, forbid=0.3)
    n = 20_000
    labels = draw_labels(*tables, rng.random((n, T)))
    all_labels, scores = enumerate_chain(*tables)
    expected = shares_of(all_labels, np.exp(scores - logsumexp(scores)), K)
    for some, others in zip(shares_of(labels, np.full(n, 1 / n), K), expected, strict=True):
        assert (some[others == 0.0] == 0.0).all()
        np.testing.assert_allclose(some, others, atol=5 * np.sqrt(0.25 / n))


def test_marginals_where_nothing_is_allowed():
    for T in (1, 2, 3, 5):
        with pytest.raises(ValueError, match=f"no labelling of {T} nodes is allowed"):
            chain_marginals(np.full((T, 2), -np.inf), np.zeros((2, 2)), np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="no labelling of 3 nodes is allowed"):
        chain_marginals(np.zeros((3, 2)), np.zeros((2, 2)), np.full((2, 2, 2), -np.inf))


@given(st.integers(1, 30), st.integers(1, 20), st.integers(0, 10**6))
def test_without_triples_it_is_the_first_order(T, K, seed):
    nodes, transitions, _ = draw(np.random.default_rng(seed), T, K, forbid=0.2, integers=True)
    none = np.zeros((K, K, K))
    labels, score = viterbi(nodes, transitions, none)
    expected, best = viterbi(nodes, transitions)
    assert score == best
    np.testing.assert_array_equal(labels, expected)
    labels, scores = top_k(nodes, transitions, none, 5)
    expected, best = viterbi_top_k(nodes, transitions, 5)
    np.testing.assert_array_equal(scores, best)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(
        chain_max_marginals(nodes, transitions, none),
        chain_max_marginals(nodes, transitions),
    )


@given(st.integers(2, 25), st.integers(2, 12), st.integers(0, 10**6))
def test_it_is_the_first_order_of_pairs(T, K, seed):
    """Pairs of labels are the states of a chain of the first order."""
    rng = np.random.default_rng(seed)
    nodes, transitions, triples = draw(rng, T, K, forbid=0.1)
    states = np.array(list(itertools.product(range(K), repeat=2)))
    pair_nodes = nodes[1:, states[:, 1]] + transitions[states[:, 0], states[:, 1]]
    pair_nodes[0] += nodes[0, states[:, 0]]
    follows = states[:, None, 1] == states[None, :, 0]
    table = triples[states[:, None, 0], states[:, None, 1], states[None, :, 1]]
    expected, best = viterbi(pair_nodes, np.where(follows, table, -np.inf))
    labels, score = viterbi(nodes, transitions, triples)
    assert score == pytest.approx(best, rel=1e-12, abs=1e-12)
    np.testing.assert_array_equal(labels, [*states[expected, 0], states[expected[-1], 1]])


def test_all_equal_gives_zeros():
    tables = np.zeros((40, 11)), np.zeros((11, 11)), np.zeros((11, 11, 11))
    labels, score = viterbi(*tables)
    np.testing.assert_array_equal(labels, np.zeros(40))
    assert score == 0.0
    labels, scores = top_k(*tables, 12)
    assert (labels[:11, 1:] == 0).all()
    assert labels[:11, 0].tolist() == list(range(11))
    assert labels[11, :2].tolist() == [0, 1]
    assert not scores.any()


def test_what_cannot_be():
    nodes, pairs, triples = np.zeros((3, 2)), np.zeros((2, 2)), np.full((2, 2, 2), -np.inf)
    for function, more in ((viterbi, ()), (top_k, (2,))):
        with pytest.raises(ValueError, match="no labelling of 3 nodes is allowed"):
            function(nodes, pairs, triples, *more)
    assert (chain_max_marginals(nodes, pairs, triples) == -np.inf).all()


@pytest.mark.parametrize(
    ("triples", "message"),
    [
        (np.zeros((2, 2)), r"triples must have shape \(2, 2, 2\)"),
        (np.full((2, 2, 2), np.nan), r"triples\[0, 0, 0\] is nan"),
        (np.full((2, 2, 2), np.inf), r"triples\[0, 0, 0\] is inf"),
        ("many", "triples"),
    ],
)
def test_bad_triples(triples, message):
    for function, more in (
        (viterbi, ()),
        (top_k, (2,)),
        (chain_max_marginals, ()),
        (chain_marginals, ()),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            function(np.zeros((3, 2)), np.zeros((2, 2)), triples, *more)
