"""The best labelling of a chain, against all labellings."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sskit.oracles import viterbi

SIZES = [*itertools.product(range(1, 6), range(1, 6)), (1, 9), (3, 9), (2, 33), (3, 40)]


def enumerate_chain(nodes, transitions, truth=None, cost=0.0):
    """Return all labellings in lexicographic order and their scores."""
    T, K = nodes.shape
    labels = np.array(list(itertools.product(range(K), repeat=T)))
    scores = nodes[np.arange(T), labels].sum(axis=1)
    scores += transitions[labels[:, :-1], labels[:, 1:]].sum(axis=1)
    if truth is not None:
        scores += np.where(labels != truth, cost, 0.0).sum(axis=1)
    return labels, scores


def first_from_the_end(labels, scores):
    """Return the best labelling; of several that with the smallest last state, and so on."""
    return labels[np.lexsort((*labels.T, -scores))[0]]


def draw(rng, T, K, *, forbid=0.0, integers=False):
    """Return potentials of a chain; integers give many ties and exact sums."""
    if integers:
        nodes, table = rng.integers(-2, 3, (T, K)), rng.integers(-2, 3, (K, K))
    else:
        nodes, table = rng.standard_normal((T, K)), rng.standard_normal((K, K))
    # states only ever rise here, so that some labelling is allowed whatever is forbidden
    allowed = np.triu(np.ones((K, K), dtype=bool)) | (rng.random((K, K)) >= forbid)
    rising = np.arange(K) == np.sort(rng.integers(0, K, T))[:, None]
    possible = rising | (rng.random((T, K)) >= forbid)
    return np.where(possible, nodes, -np.inf), np.where(allowed, table, -np.inf)


@pytest.mark.parametrize("forbid", [0.0, 0.9])
@pytest.mark.parametrize("loss", [False, True])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_finds_the_maximum(T, K, loss, forbid):
    rng = np.random.default_rng(T * 100 + K)
    nodes, transitions = draw(rng, T, K, forbid=forbid)
    truth = rng.integers(0, K, T) if loss else None
    cost = rng.uniform(0, 3, T)
    labels, score = viterbi(nodes, transitions, truth=truth, cost=cost)
    all_labels, scores = enumerate_chain(nodes, transitions, truth, cost)
    assert labels.dtype == np.int32
    assert isinstance(score, float)
    assert score == pytest.approx(scores.max(), rel=1e-12, abs=1e-12)
    np.testing.assert_array_equal(labels, all_labels[scores.argmax()])


@pytest.mark.parametrize("loss", [False, True])
@pytest.mark.parametrize(("T", "K"), SIZES)
def test_ties(T, K, loss):
    rng = np.random.default_rng(T * 100 + K)
    for _ in range(10):
        nodes, transitions = draw(rng, T, K, forbid=0.5, integers=True)
        truth = rng.integers(0, K, T) if loss else None
        labels, score = viterbi(nodes, transitions, truth=truth, cost=2)
        all_labels, scores = enumerate_chain(nodes, transitions, truth, 2.0)
        assert score == scores.max()
        np.testing.assert_array_equal(labels, first_from_the_end(all_labels, scores))


def test_all_equal_gives_zeros():
    labels, score = viterbi(np.zeros((4, 11)), np.zeros((11, 11)))
    np.testing.assert_array_equal(labels, np.zeros(4))
    assert score == 0.0


@pytest.mark.parametrize("loss", [False, True])
def test_many_orders_of_magnitude(loss):
    rng = np.random.default_rng(0)
    for _ in range(200):
        nodes, transitions = draw(rng, 4, 3)
        nodes *= 10.0 ** rng.integers(-150, 150, nodes.shape)
        transitions *= 10.0 ** rng.integers(-150, 150, transitions.shape)
        truth = rng.integers(0, 3, 4) if loss else None
        cost = 10.0 ** rng.integers(-150, 150, 4)
        labels, score = viterbi(nodes, transitions, truth=truth, cost=cost)
        all_labels, scores = enumerate_chain(nodes, transitions, truth, cost)
        size = max(np.abs(nodes).max(), np.abs(transitions).max(), cost.max() * loss)
        assert abs(score - scores.max()) <= 1e-14 * size
        reached = scores[(all_labels == labels).all(axis=1)][0]
        assert reached >= scores.max() - 1e-14 * size


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1e8, 1e300])
def test_scale_changes_nothing(scale):
    nodes, transitions = draw(np.random.default_rng(1), 5, 9)
    labels, score = viterbi(nodes, transitions)
    scaled_labels, scaled_score = viterbi(scale * nodes, scale * transitions)
    np.testing.assert_array_equal(scaled_labels, labels)
    assert scaled_score == pytest.approx(scale * score, rel=1e-12)


def test_forbidden_transitions_beat_any_loss():
    transitions = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    labels, score = viterbi(np.zeros((3, 2)), transitions, truth=[0, 1, 0], cost=1e12)
    np.testing.assert_array_equal(labels, [1, 1, 1])
    assert score == 2e12


HALVES = st.integers(-20, 20).map(lambda i: i / 2)


@st.composite
def chains(draw, max_nodes=12, max_states=10):
    T, K = draw(st.integers(1, max_nodes)), draw(st.integers(1, max_states))
    return draw(arrays(float, (T, K), elements=HALVES)), draw(
        arrays(float, (K, K), elements=HALVES)
    )


@given(chains())
def test_reversal_keeps_the_score(chain):
    nodes, transitions = chain
    assert viterbi(nodes, transitions)[1] == viterbi(nodes[::-1], transitions.T)[1]


@given(chains(), st.randoms(use_true_random=False))
def test_renaming_states_keeps_the_score(chain, random):
    nodes, transitions = chain
    order = list(range(nodes.shape[1]))
    random.shuffle(order)
    renamed = viterbi(nodes[:, order], transitions[np.ix_(order, order)])
    assert renamed[1] == viterbi(nodes, transitions)[1]


@given(chains(), HALVES)
def test_constant_is_added(chain, constant):
    nodes, transitions = chain
    labels, score = viterbi(nodes, transitions)
    moved = viterbi(nodes + constant, transitions)
    np.testing.assert_array_equal(moved[0], labels)
    assert moved[1] == score + constant * len(nodes)


@given(chains())
def test_loss_can_only_raise_the_score(chain):
    nodes, transitions = chain
    labels, score = viterbi(nodes, transitions)
    assert viterbi(nodes, transitions, truth=labels, cost=0)[1] == score
    assert score <= viterbi(nodes, transitions, truth=labels)[1] <= score + len(nodes)


def test_input_is_left_alone():
    nodes, transitions = np.zeros((2, 3)), np.eye(3)
    viterbi(nodes, transitions, truth=np.array([0, 1], dtype=np.uint8), cost=[1, 2])
    assert not nodes.any()
    np.testing.assert_array_equal(transitions, np.eye(3))


NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("nodes", "transitions", "options", "message"),
    [
        ([0, 1], [[0]], {}, r"nodes must have shape \(n_nodes, n_states\).*got \(2,\)"),
        (np.zeros((0, 2)), np.zeros((2, 2)), {}, r"both at least 1, got \(0, 2\)"),
        (np.zeros((2, 0)), np.zeros((0, 0)), {}, r"both at least 1, got \(2, 0\)"),
        ([[0, NAN]], np.zeros((2, 2)), {}, r"nodes\[0, 1\] is nan, expected a number or -inf"),
        ([[0, 1], [-INF, -INF]], np.zeros((2, 2)), {}, r"no labelling of 2 nodes is allowed"),
        ([[0, 1]], np.zeros((2, 3)), {}, r"transitions must have shape \(2, 2\).*got \(2, 3\)"),
        ([[0, 1]], [[0, NAN], [0, 0]], {}, r"transitions\[0, 1\] is nan, expected a number or"),
        ([[0, 1]], [[0, 0], [INF, 0]], {}, r"transitions\[1, 0\] is inf, expected a number or"),
        ([[0, 1]], np.zeros((2, 2)), {"truth": [0, 1]}, r"truth must be integers.*\(2,\)"),
        ([[0, 1]], np.zeros((2, 2)), {"truth": [0.0]}, r"truth must be integers.*dtype float64"),
        ([[0, 1]], np.zeros((2, 2)), {"truth": [2]}, r"truth\[0\] is 2, expected integers >= 0"),
        ([[0, 1]], np.zeros((2, 2)), {"truth": [-1]}, r"truth\[0\] is -1"),
        (
            [[0, 1]],
            np.zeros((2, 2)),
            {"cost": [1, 2]},
            r"cost must be numbers .* got shape \(2,\)",
        ),
        (
            [[0, 1]],
            np.zeros((2, 2)),
            {"cost": -1},
            r"cost\[0\] is -1.0, expected finite",
        ),
        ([[0, 1]], np.zeros((2, 2)), {"cost": [NAN]}, r"cost\[0\] is nan"),
        ([[0, 1]] * 2, np.full((2, 2), -INF), {}, r"no labelling of 2 nodes is allowed"),
    ],
)
def test_errors(nodes, transitions, options, message):
    with pytest.raises(ValueError, match=message):
        viterbi(nodes, transitions, **options)
