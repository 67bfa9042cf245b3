"""Chains in which three labels in a row have a potential, against all labellings."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sskit.oracles import (
    chain_max_marginals,
    second_order_max_marginals,
    second_order_top_k,
    second_order_viterbi,
    viterbi,
    viterbi_top_k,
)

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
        labels, score = second_order_viterbi(*tables, truth=truth, cost=cost)
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
        labels, score = second_order_viterbi(*tables, truth=truth, cost=2)
        all_labels, scores = enumerate_chain(*tables, truth, 2.0)
        assert score == scores.max()
        np.testing.assert_array_equal(labels, all_labels[in_order(all_labels, scores)[0]])


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("k", [1, 2, 7, 1000])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_top_k(T, K, k, integers):
    rng = np.random.default_rng(T * 100 + K)
    tables = draw(rng, T, K, forbid=0.3, integers=integers)
    labels, scores = second_order_top_k(*tables, k)
    all_labels, all_scores = enumerate_chain(*tables)
    order = in_order(all_labels, all_scores)[:k]
    order = order[all_scores[order] > -np.inf]
    np.testing.assert_array_equal(labels, all_labels[order])
    np.testing.assert_allclose(scores, all_scores[order], rtol=1e-12, atol=1e-12)
    assert (np.diff(scores) <= 0).all()
    np.testing.assert_array_equal(labels[0], second_order_viterbi(*tables)[0])


@pytest.mark.parametrize("forbid", [0.0, 0.8])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_max_marginals(T, K, forbid):
    tables = draw(np.random.default_rng(T * 100 + K), T, K, forbid=forbid)
    labels, scores = enumerate_chain(*tables)
    expected = np.full((T, K), -np.inf)
    for t, k in itertools.product(range(T), range(K)):
        expected[t, k] = scores[labels[:, t] == k].max()
    np.testing.assert_allclose(
        second_order_max_marginals(*tables), expected, rtol=1e-12, atol=1e-12
    )


@given(st.integers(1, 30), st.integers(1, 20), st.integers(0, 10**6))
def test_without_triples_it_is_the_first_order(T, K, seed):
    nodes, transitions, _ = draw(np.random.default_rng(seed), T, K, forbid=0.2, integers=True)
    none = np.zeros((K, K, K))
    labels, score = second_order_viterbi(nodes, transitions, none)
    expected, best = viterbi(nodes, transitions)
    assert score == best
    np.testing.assert_array_equal(labels, expected)
    labels, scores = second_order_top_k(nodes, transitions, none, 5)
    expected, best = viterbi_top_k(nodes, transitions, 5)
    np.testing.assert_array_equal(scores, best)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(
        second_order_max_marginals(nodes, transitions, none),
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
    labels, score = second_order_viterbi(nodes, transitions, triples)
    assert score == pytest.approx(best, rel=1e-12, abs=1e-12)
    np.testing.assert_array_equal(labels, [*states[expected, 0], states[expected[-1], 1]])


def test_all_equal_gives_zeros():
    tables = np.zeros((40, 11)), np.zeros((11, 11)), np.zeros((11, 11, 11))
    labels, score = second_order_viterbi(*tables)
    np.testing.assert_array_equal(labels, np.zeros(40))
    assert score == 0.0
    labels, scores = second_order_top_k(*tables, 12)
    assert (labels[:11, 1:] == 0).all()
    assert labels[:11, 0].tolist() == list(range(11))
    assert labels[11, :2].tolist() == [0, 1]
    assert not scores.any()


def test_what_cannot_be():
    nodes, pairs, triples = np.zeros((3, 2)), np.zeros((2, 2)), np.full((2, 2, 2), -np.inf)
    for function, more in ((second_order_viterbi, ()), (second_order_top_k, (2,))):
        with pytest.raises(ValueError, match="no labelling of 3 nodes is allowed"):
            function(nodes, pairs, triples, *more)
    assert (second_order_max_marginals(nodes, pairs, triples) == -np.inf).all()


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
        (second_order_viterbi, ()),
        (second_order_top_k, (2,)),
        (second_order_max_marginals, ()),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            function(np.zeros((3, 2)), np.zeros((2, 2)), triples, *more)
