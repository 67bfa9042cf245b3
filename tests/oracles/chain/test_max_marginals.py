"""The best score with each state at each node, against all labellings."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sskit.oracles import chain_max_marginals, viterbi

SIZES = [*itertools.product(range(1, 6), range(1, 6)), (1, 9), (3, 9), (2, 33), (3, 40)]


def enumerate_marginals(nodes, transitions):
    """Return the max-marginals from the scores of all labellings."""
    T, K = nodes.shape
    labels = np.array(list(itertools.product(range(K), repeat=T)))
    scores = nodes[np.arange(T), labels].sum(axis=1)
    scores += transitions[labels[:, :-1], labels[:, 1:]].sum(axis=1)
    out = np.full((T, K), -np.inf)
    for t in range(T):
        np.maximum.at(out[t], labels[:, t], scores)
    return out


@pytest.mark.parametrize("forbid", [0.0, 0.3, 0.8])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_against_enumeration(T, K, forbid):
    rng = np.random.default_rng(T * 100 + K)
    nodes, transitions = rng.standard_normal((T, K)), rng.standard_normal((K, K))
    transitions[rng.random((K, K)) < forbid] = -np.inf
    nodes[rng.random((T, K)) < forbid / 2] = -np.inf
    scores = chain_max_marginals(nodes, transitions)
    assert scores.shape == (T, K)
    assert scores.flags.c_contiguous
    np.testing.assert_allclose(
        scores, enumerate_marginals(nodes, transitions), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(("T", "K"), SIZES)
def test_exact_on_integers(T, K):
    rng = np.random.default_rng(T * 100 + K)
    nodes = rng.integers(-3, 4, (T, K)).astype(float)
    transitions = rng.integers(-3, 4, (K, K)).astype(float)
    np.testing.assert_array_equal(
        chain_max_marginals(nodes, transitions), enumerate_marginals(nodes, transitions)
    )


def test_states_that_no_labelling_has():
    # 0 -> 1 -> 2 only
    transitions = np.full((3, 3), -np.inf)
    transitions[0, 1] = transitions[1, 2] = 0.0
    scores = chain_max_marginals(np.ones((3, 3)), transitions)
    np.testing.assert_array_equal(scores, np.where(np.eye(3) == 1, 3.0, -np.inf))


def test_nothing_is_allowed():
    scores = chain_max_marginals(np.ones((2, 9)), np.full((9, 9), -np.inf))
    np.testing.assert_array_equal(scores, np.full((2, 9), -np.inf))


def test_one_node_has_no_transitions():
    scores = chain_max_marginals([[1.0, 2.0]], np.full((2, 2), -np.inf))
    np.testing.assert_array_equal(scores, [[1.0, 2.0]])


def test_many_orders_of_magnitude():
    rng = np.random.default_rng(0)
    for _ in range(100):
        nodes = rng.standard_normal((4, 3)) * 10.0 ** rng.integers(-150, 150, (4, 3))
        transitions = rng.standard_normal((3, 3)) * 10.0 ** rng.integers(-150, 150, (3, 3))
        size = max(np.abs(nodes).max(), np.abs(transitions).max())
        wanted = enumerate_marginals(nodes, transitions)
        assert np.abs(chain_max_marginals(nodes, transitions) - wanted).max() <= 1e-14 * size


HALVES = st.integers(-20, 20).map(lambda i: i / 2)


@st.composite
def chains(draw, max_nodes=12, max_states=10):
    T, K = draw(st.integers(1, max_nodes)), draw(st.integers(1, max_states))
    nodes = draw(arrays(float, (T, K), elements=HALVES))
    table = arrays(float, (K, K), elements=st.one_of(HALVES, st.just(-np.inf)))
    return nodes, draw(table)


@given(chains())
def test_every_row_holds_the_best_score(chain):
    scores = chain_max_marginals(*chain)
    assert not np.isnan(scores).any()
    if np.isfinite(scores).any():
        labels, score = viterbi(*chain)
        np.testing.assert_array_equal(scores.max(axis=1), np.full(len(scores), score))
        np.testing.assert_array_equal(scores[np.arange(len(labels)), labels], score)
    else:
        with pytest.raises(ValueError, match="no labelling"):
            viterbi(*chain)


@given(chains())
def test_reversal(chain):
    nodes, transitions = chain
    backward = chain_max_marginals(nodes[::-1], transitions.T)
    np.testing.assert_array_equal(chain_max_marginals(nodes, transitions), backward[::-1])


@given(chains(), st.data())
def test_forcing_a_state_gives_its_max_marginal(chain, data):
    nodes, transitions = chain
    t = data.draw(st.integers(0, nodes.shape[0] - 1))
    k = data.draw(st.integers(0, nodes.shape[1] - 1))
    scores = chain_max_marginals(nodes, transitions)
    if np.isfinite(scores[t, k]):
        reward = 2.0**20
        nodes[t, k] += reward
        assert viterbi(nodes, transitions)[1] - reward == scores[t, k]


@pytest.mark.parametrize(
    ("nodes", "transitions", "message"),
    [
        ([0, 1], [[0]], r"nodes must have shape \(n_nodes, n_states\)"),
        (np.zeros((1, 0)), np.zeros((0, 0)), r"both at least 1, got \(1, 0\)"),
        ([[0, np.inf]], np.zeros((2, 2)), r"nodes\[0, 1\] is inf, expected a number or -inf"),
        ([[0, 1]], np.zeros((2, 1)), r"transitions must have shape \(2, 2\)"),
        ([[0, 1]], [[0, 0], [0, np.inf]], r"transitions\[1, 1\] is inf"),
    ],
)
def test_errors(nodes, transitions, message):
    with pytest.raises(ValueError, match=message):
        chain_max_marginals(nodes, transitions)
