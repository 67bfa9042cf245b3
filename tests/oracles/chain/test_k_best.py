"""The k best labellings of a chain, against all labellings."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sskit.oracles import viterbi, viterbi_top_k

SIZES = [*itertools.product(range(1, 6), range(1, 6)), (1, 9), (3, 9), (2, 33), (3, 40)]


def rank_chain(nodes, transitions):
    """Return the allowed labellings and scores, best first, ties by the last state and so on."""
    T, K = nodes.shape
    labels = np.array(list(itertools.product(range(K), repeat=T)))
    scores = nodes[0, labels[:, 0]]
    for t in range(1, T):
        # in the order of the recursion, so that equal is equal to the last bit
        scores = (scores + transitions[labels[:, t - 1], labels[:, t]]) + nodes[t, labels[:, t]]
    order = np.lexsort((*labels.T, -scores))
    order = order[scores[order] > -np.inf]
    return labels[order], scores[order]


def draw(rng, T, K, forbid):
    """Return small integer potentials: many ties, exact sums."""
    transitions = rng.integers(-2, 3, (K, K)).astype(float)
    transitions[rng.random((K, K)) < forbid] = -np.inf
    nodes = rng.integers(-2, 3, (T, K)).astype(float)
    nodes[rng.random((T, K)) < forbid / 2] = -np.inf
    return nodes, transitions


@pytest.mark.parametrize("k", [1, 2, 3, 10, 5000])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_generic_potentials(T, K, k):
    rng = np.random.default_rng(T * 100 + K)
    nodes, transitions = rng.standard_normal((T, K)), rng.standard_normal((K, K))
    labels, scores = viterbi_top_k(nodes, transitions, k)
    all_labels, all_scores = rank_chain(nodes, transitions)
    assert labels.shape == (min(k, K**T), T)
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(scores, all_scores[:k])
    np.testing.assert_array_equal(labels, all_labels[:k])


@pytest.mark.parametrize("forbid", [0.0, 0.3, 0.7])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_ties_and_forbidden_transitions(T, K, forbid):
    rng = np.random.default_rng(T * 100 + K)
    for k in (1, 2, 7, 100, 10000):
        nodes, transitions = draw(rng, T, K, forbid)
        all_labels, all_scores = rank_chain(nodes, transitions)
        if len(all_labels) == 0:
            with pytest.raises(ValueError, match="no labelling"):
                viterbi_top_k(nodes, transitions, k)
            continue
        labels, scores = viterbi_top_k(nodes, transitions, k)
        np.testing.assert_array_equal(scores, all_scores[:k])
        np.testing.assert_array_equal(labels, all_labels[:k])


def test_many_orders_of_magnitude():
    rng = np.random.default_rng(0)
    for _ in range(100):
        nodes = rng.standard_normal((4, 3)) * 10.0 ** rng.integers(-150, 150, (4, 3))
        transitions = rng.standard_normal((3, 3)) * 10.0 ** rng.integers(-150, 150, (3, 3))
        labels, scores = viterbi_top_k(nodes, transitions, 81)
        np.testing.assert_array_equal(scores, rank_chain(nodes, transitions)[1])
        # rounding makes ties, in an order of its own; distinct all the same
        assert len(np.unique(labels, axis=0)) == 81


def test_long_chain_with_few_labellings():
    # once in state 1 a chain stays there: one labelling for each place of the change, and one
    T = 500
    transitions = np.array([[0.0, 0.0], [-np.inf, 0.0]])
    nodes = np.zeros((T, 2))
    nodes[:, 1] = np.linspace(-1.0, 1.0, T)
    labels, scores = viterbi_top_k(nodes, transitions, 1000)
    assert len(labels) == T + 1
    assert (np.diff(labels, axis=1) >= 0).all()
    np.testing.assert_array_equal(np.sort(labels.sum(axis=1)), np.arange(T + 1))
    np.testing.assert_allclose(scores, (labels * nodes[:, 1]).sum(axis=1), atol=1e-10)
    assert (np.diff(scores) <= 0).all()


def test_one_state_has_one_labelling():
    labels, scores = viterbi_top_k(np.ones((100, 1)), [[0.5]], 3)
    np.testing.assert_array_equal(labels, np.zeros((1, 100)))
    assert scores == [149.5]


@st.composite
def chains(draw, max_nodes=15, max_states=10):
    T, K = draw(st.integers(1, max_nodes)), draw(st.integers(1, max_states))
    finite = st.floats(-100, 100)
    nodes = draw(arrays(float, (T, K), elements=finite))
    table = draw(arrays(float, (K, K), elements=st.one_of(finite, st.just(-np.inf))))
    # staying is always allowed
    return nodes, np.where(np.eye(K, dtype=bool) & np.isinf(table), 0.0, table)


@given(chains(), st.integers(1, 60))
def test_laws(chain, k):
    nodes, transitions = chain
    T, K = nodes.shape
    labels, scores = viterbi_top_k(nodes, transitions, k)
    assert 1 <= len(labels) == len(scores) <= min(k, K**T)
    assert len(np.unique(labels, axis=0)) == len(labels)
    assert (np.diff(scores) <= 0).all()
    assert np.isfinite(scores).all()
    best, score = viterbi(nodes, transitions)
    np.testing.assert_array_equal(labels[0], best)
    assert scores[0] == score
    sums = nodes[np.arange(T), labels].sum(axis=1)
    sums += transitions[labels[:, :-1], labels[:, 1:]].sum(axis=1)
    np.testing.assert_allclose(scores, sums, rtol=1e-12, atol=1e-10)


@given(chains(), st.integers(1, 20), st.integers(0, 20))
def test_fewer_are_the_first_of_more(chain, k, more):
    labels, scores = viterbi_top_k(*chain, k)
    more_labels, more_scores = viterbi_top_k(*chain, k + more)
    np.testing.assert_array_equal(labels, more_labels[:k])
    np.testing.assert_array_equal(scores, more_scores[:k])


@pytest.mark.parametrize("k", [0, -3, 1.0, True, "2", None])
def test_k_is_a_positive_integer(k):
    with pytest.raises(ValueError, match=f"k must be a positive integer, got {k!r}"):
        viterbi_top_k([[0, 1]], np.zeros((2, 2)), k)


@pytest.mark.parametrize("k", [np.int64(2), np.uint8(2)])
def test_k_may_be_any_integer(k):
    assert len(viterbi_top_k([[0, 1]], np.zeros((2, 2)), k)[0]) == 2


@pytest.mark.parametrize(
    ("nodes", "transitions", "message"),
    [
        ([0, 1], [[0]], r"nodes must have shape \(n_nodes, n_states\)"),
        ([[0, np.inf]], np.zeros((2, 2)), r"nodes\[0, 1\] is inf, expected a number or -inf"),
        ([[0, 1]], np.zeros((3, 3)), r"transitions must have shape \(2, 2\)"),
        ([[0, 1]], [[0, np.nan], [0, 0]], r"transitions\[0, 1\] is nan"),
        ([[0, 1]] * 3, [[-np.inf, 0], [-np.inf, -np.inf]], r"no labelling of 3 nodes is allowed"),
    ],
)
def test_errors(nodes, transitions, message):
    with pytest.raises(ValueError, match=message):
        viterbi_top_k(nodes, transitions, 2)
