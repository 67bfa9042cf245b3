"""The loss-indexed programme against enumeration."""

import itertools

import numpy as np
import pytest

from sskit.oracles import viterbi, viterbi_by_loss


def by_enumeration(nodes, transitions, truth, levels):
    """Best score by loss, -inf where there is none."""
    n_nodes, n_states = nodes.shape
    best = np.full(int(np.sum(levels)) + 1, -np.inf)
    for y in itertools.product(range(n_states), repeat=n_nodes):
        y = np.array(y)
        loss = int(np.sum(levels * (y != truth)))
        score = nodes[np.arange(n_nodes), y].sum() + transitions[y[:-1], y[1:]].sum()
        best[loss] = max(best[loss], score)
    return best


@pytest.mark.parametrize("forbid", [False, True])
@pytest.mark.parametrize("counts", ["one", "some", "zeros"])
def test_against_enumeration(counts, forbid):
    rng = np.random.default_rng(0)
    for _ in range(60):
        n_nodes, n_states = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        nodes = rng.normal(size=(n_nodes, n_states)) * 10.0 ** rng.integers(-3, 4)
        transitions = rng.normal(size=(n_states, n_states))
        if forbid:
            transitions[rng.random(transitions.shape) < 0.3] = -np.inf
            nodes[rng.random(nodes.shape) < 0.2] = -np.inf
        truth = rng.integers(n_states, size=n_nodes)
        levels = {"one": 1, "some": 1, "zeros": 0}[counts] + np.zeros(n_nodes)
        if counts != "one":
            levels = levels + rng.integers(0, 3, size=n_nodes)
        labels, scores = viterbi_by_loss(nodes, transitions, truth, cost=levels)
        expected = by_enumeration(nodes, transitions, truth, levels)
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
        for e in np.flatnonzero(np.isfinite(scores)):
            y = labels[e]
            assert np.sum(levels * (y != truth)) == e
            score = nodes[np.arange(n_nodes), y].sum() + transitions[y[:-1], y[1:]].sum()
            assert score == pytest.approx(scores[e], rel=1e-9, abs=1e-9)
        assert (labels[~np.isfinite(scores)] == -1).all()


def test_the_best_of_all_is_that_of_viterbi():
    rng = np.random.default_rng(1)
    for n_nodes, n_states in ((30, 26), (9, 3)):
        nodes = rng.normal(size=(n_nodes, n_states))
        transitions = rng.normal(size=(n_states, n_states))
        truth = rng.integers(n_states, size=n_nodes)
        _, scores = viterbi_by_loss(nodes, transitions, truth)
        assert scores.max() == pytest.approx(viterbi(nodes, transitions)[1])
        augmented = (scores + np.arange(len(scores))).max()
        assert augmented == pytest.approx(viterbi(nodes, transitions, truth=truth)[1])


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        ({"truth": None}, "truth must hold the true states"),
        ({"cost": 0.5}, r"cost\[0\] is 0.5, expected a whole number"),
        ({"cost": [1, -1]}, r"cost\[1\] is -1"),
        ({"cost": 1e6}, "adds up to 2e"),
        ({"cost": 1e308}, "adds up to inf"),
        ({"truth": [0, 2]}, r"truth\[1\] is 2"),
        ({"nodes": [[0, np.nan], [0, 0]]}, r"nodes\[0, 1\] is nan"),
    ],
)
def test_bad_input(arguments, pattern):
    given = {"nodes": np.zeros((2, 2)), "transitions": np.zeros((2, 2)), "truth": [0, 1]}
    with pytest.raises(ValueError, match=pattern):
        viterbi_by_loss(**given | arguments)
