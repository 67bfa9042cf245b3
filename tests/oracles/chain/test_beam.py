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
    for (T, K), scale in itertools.product([(1, 3), (2, 2), (4, 5), (6, 9), (5, 33)], (0, 150)):
        rng = np.random.default_rng(10 * T + K)
        for _ in range(5):
            tables = rng.standard_normal((T, K)), rng.standard_normal((K, K))
            if integers:
                tables = [np.rint(table) for table in tables]
            elif scale:  # many orders of magnitude
                tables = [x * 10.0 ** rng.integers(-scale, scale, x.shape) for x in tables]
            size = max(np.abs(table).max() for table in tables)
            best, maximum = viterbi(*tables)
            for beam_size in {1, 2, K // 2, K - 1, K, K + 7} - {0}:
                labels, score = beam_search(*tables, beam_size)
                expected, value = reference(*tables, beam_size)
                assert score == pytest.approx(value, abs=1e-14 * size)
                assert score == pytest.approx(score_of(*tables, labels), abs=1e-14 * size)
                if not scale or integers:
                    np.testing.assert_array_equal(labels, expected)
                if beam_size >= K:  # all states give the best labelling
                    assert score == pytest.approx(maximum, abs=1e-14 * size)
                    if not scale or integers:
                        np.testing.assert_array_equal(labels, best)
                assert labels.dtype == np.int32 and isinstance(score, float)


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


def test_forbidden_transitions_are_not_taken():
    rng, n_lost = np.random.default_rng(0), 0
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
