"""Beam search, against the reference that reads like its definition, and the best labelling."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sskit.oracles import beam_search, viterbi

INF = np.inf
HALVES = st.integers(-20, 20).map(lambda i: i / 2)


def score_of(nodes, transitions, labels):
    return nodes[np.arange(len(labels)), labels].sum() + transitions[labels[:-1], labels[1:]].sum()


def reference(nodes, transitions, size):
    """Prefixes as tuples (labelling, score): the best for each last state, the best of those."""
    beam = [((a,), score) for a, score in enumerate(nodes[0])]
    for node in nodes[1:]:
        # of equal scores the smaller last state
        beam = sorted(beam, key=lambda prefix: (-prefix[1], prefix[0][-1]))[:size]
        following = []
        for b, score in enumerate(node):
            longer = [(labels, s + transitions[labels[-1], b]) for labels, s in beam]
            if not longer:
                return None, -INF
            labels, s = min(longer, key=lambda prefix: (-prefix[1], prefix[0][-1]))
            if s > -INF:
                following.append(((*labels, b), s + score))
        beam = following
    return min(beam, key=lambda prefix: (-prefix[1], prefix[0][-1]), default=(None, -INF))


@pytest.mark.parametrize("integers", [False, True], ids=["reals", "ties"])
def test_is_what_its_definition_says(integers):
    for T, K in [(1, 3), (2, 2), (4, 5), (6, 9), (5, 33)]:
        rng = np.random.default_rng(10 * T + K)
        for _ in range(5):
            nodes, transitions = rng.standard_normal((T, K)), rng.standard_normal((K, K))
            if integers:
                nodes, transitions = np.rint(nodes), np.rint(transitions)
            for size in {1, 2, K // 2, K - 1}:
                labels, score = beam_search(nodes, transitions, size)
                expected, best = reference(nodes, transitions, size)
                np.testing.assert_array_equal(labels, expected)
                assert score == pytest.approx(best, abs=1e-12)
                assert labels.dtype == np.int32
                assert isinstance(score, float)


def test_all_states_give_the_best_labelling():
    for T, K in itertools.product((1, 2, 4), (1, 2, 5, 9)):
        rng = np.random.default_rng(T + K)
        for _ in range(10):
            nodes, transitions = rng.integers(-2, 3, (T, K)), rng.integers(-2, 3, (K, K))
            best, maximum = viterbi(nodes, transitions)
            for size in (K, K + 7):
                labels, score = beam_search(nodes, transitions, size)
                np.testing.assert_array_equal(labels, best)
                assert score == maximum


@st.composite
def chains(draw, max_nodes=10, max_states=10):
    T, K = draw(st.integers(1, max_nodes)), draw(st.integers(1, max_states))
    nodes = draw(arrays(float, (T, K), elements=HALVES))
    return nodes, draw(arrays(float, (K, K), elements=HALVES)), draw(st.integers(1, K))


@given(chains(), HALVES)
def test_laws(chain, constant):
    nodes, transitions, size = chain
    labels, score = beam_search(nodes, transitions, size)
    assert score == score_of(nodes, transitions, labels)
    assert score <= viterbi(nodes, transitions)[1]
    # constants change no label
    np.testing.assert_array_equal(beam_search(nodes + constant, transitions, size)[0], labels)
    np.testing.assert_array_equal(beam_search(nodes, transitions + constant, size)[0], labels)
    # without transitions one state is enough
    alone, _ = beam_search(nodes, 0.0 * transitions, 1)
    np.testing.assert_array_equal(alone, nodes.argmax(axis=1))


def test_what_is_lost():
    # state 1 begins badly and ends well
    nodes, transitions = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 5.0]])
    assert beam_search(nodes, transitions, 1)[1] == 1.0
    assert viterbi(nodes, transitions)[1] == 5.0


def test_forbidden_transitions_are_not_taken():
    rng = np.random.default_rng(0)
    n_lost = 0
    for _ in range(60):
        nodes, transitions = rng.standard_normal((5, 6)), rng.standard_normal((6, 6))
        allowed = rng.random((6, 6)) < 0.2
        allowed[0, 0] = True  # there is a way
        transitions[~allowed] = -INF
        for size in (1, 2, 4):
            labels, score = beam_search(nodes, transitions, size)
            assert np.isfinite(score)
            assert score == pytest.approx(score_of(nodes, transitions, labels), abs=1e-12)
            expected, _ = reference(nodes, transitions, size)
            if expected is None:
                n_lost += 1
                expected = viterbi(nodes, transitions)[0]
            np.testing.assert_array_equal(labels, expected)
    assert n_lost > 10


def test_many_orders_of_magnitude():
    rng = np.random.default_rng(2)
    for _ in range(100):
        nodes = rng.standard_normal((4, 9)) * 10.0 ** rng.integers(-150, 150, (4, 9))
        transitions = rng.standard_normal((9, 9)) * 10.0 ** rng.integers(-150, 150, (9, 9))
        labels, score = beam_search(nodes, transitions, 3)
        size = max(np.abs(nodes).max(), np.abs(transitions).max())
        assert abs(score - score_of(nodes, transitions, labels)) <= 1e-14 * size
