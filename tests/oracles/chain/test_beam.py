"""Beam search, against the reference that reads like its definition, and the best labelling."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sskit.oracles import beam_search, viterbi

NAN, INF = np.nan, np.inf
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
@pytest.mark.parametrize(("T", "K"), [(1, 3), (2, 2), (4, 5), (6, 9), (5, 33)])
def test_is_what_its_definition_says(T, K, integers):
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


@pytest.mark.parametrize(("T", "K"), list(itertools.product((1, 2, 4), (1, 2, 5, 9))))
def test_all_states_give_the_best_labelling(T, K):
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


@given(chains())
def test_never_better_than_the_best(chain):
    nodes, transitions, size = chain
    labels, score = beam_search(nodes, transitions, size)
    assert score == score_of(nodes, transitions, labels)
    assert score <= viterbi(nodes, transitions)[1]


@given(chains(), HALVES)
def test_constants_change_no_label(chain, constant):
    nodes, transitions, size = chain
    labels, _ = beam_search(nodes, transitions, size)
    np.testing.assert_array_equal(beam_search(nodes + constant, transitions, size)[0], labels)
    np.testing.assert_array_equal(beam_search(nodes, transitions + constant, size)[0], labels)


@given(chains())
def test_without_transitions_one_state_is_enough(chain):
    nodes, transitions, _ = chain
    labels, _ = beam_search(nodes, 0.0 * transitions, 1)
    np.testing.assert_array_equal(labels, nodes.argmax(axis=1))


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


def test_input_is_left_alone():
    nodes, transitions = np.zeros((2, 3)), np.eye(3)
    beam_search(nodes, transitions, 2)
    assert not nodes.any()
    np.testing.assert_array_equal(transitions, np.eye(3))


@pytest.mark.parametrize(
    ("nodes", "transitions", "size", "message"),
    [
        ([[0, NAN]], np.zeros((2, 2)), 1, r"nodes\[0, 1\] is nan, expected a number or -inf"),
        ([[0, 1]], np.zeros((2, 3)), 1, r"transitions must have shape \(2, 2\).*got \(2, 3\)"),
        ([[0, 1]], [[0, 0], [INF, 0]], 1, r"transitions\[1, 0\] is inf, expected a number or"),
        ([[0, 1]], np.zeros((2, 2)), 0, "beam_size must be a positive integer, got 0"),
        ([[0, 1]], np.zeros((2, 2)), 1.0, r"beam_size must be a positive integer, got 1\.0"),
        ([[0, 1]], np.zeros((2, 2)), True, "beam_size must be a positive integer, got True"),
        ([[0, 1]], np.zeros((2, 2)), None, "beam_size must be a positive integer, got None"),
        ([[0, 1]] * 2, np.full((2, 2), -INF), 1, "no labelling of 2 nodes is allowed"),
    ],
)
def test_errors(nodes, transitions, size, message):
    with pytest.raises(ValueError, match=message):
        beam_search(nodes, transitions, size)
