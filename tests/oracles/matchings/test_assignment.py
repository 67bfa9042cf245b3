"""The best matching, against enumeration, and what it refuses."""

import numpy as np
import pytest
from helpers.matchings import all_matchings, matching_score

from sskit.oracles import best_matching


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("with_truth", [False, True])
def test_equals_enumeration(complete, with_truth):
    rng = np.random.default_rng(int(complete))
    for _ in range(100):
        n_left, n_right = rng.integers(0, 5, size=2)
        if complete:
            n_left, n_right = sorted((n_left, n_right))
        pairs = rng.normal(size=(n_left, n_right))
        pairs[rng.random(pairs.shape) < 0.1 * (not complete)] = -np.inf
        left, right = rng.normal(size=n_left), rng.normal(size=n_right)
        found = list(all_matchings(n_left, n_right, complete))
        truth = found[rng.integers(len(found))] if with_truth else None
        cost = rng.uniform(0, 2)
        scores = [matching_score(y, pairs, left, right) for y in found]
        if with_truth:
            scores = [s + cost * np.sum(y != truth) for s, y in zip(scores, found, strict=True)]
        partners, score = best_matching(
            pairs, left, right, complete=complete, truth=truth, cost=cost
        )
        assert score == pytest.approx(max(scores), abs=1e-12)
        place = next(k for k, y in enumerate(found) if np.array_equal(y, partners))
        assert scores[place] == pytest.approx(score, abs=1e-12)


def test_one_number_stands_for_all_items():
    pairs = np.random.default_rng(3).normal(size=(4, 5))
    one = best_matching(pairs, 0.3, -0.2)
    two = best_matching(pairs, np.full(4, 0.3), np.full(5, -0.2))
    np.testing.assert_array_equal(one[0], two[0])
    assert one[1] == two[1]


def test_arguments_are_not_modified():
    pairs, left = np.zeros((2, 2)), np.ones(2)
    best_matching(pairs, left, left, truth=[0, -1])
    assert not pairs.any() and (left == 1).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pairs": [1.0]}, r"pairs must have shape \(n_left, n_right\), got \(1,\)"),
        ({"pairs": [[1.0, np.nan]]}, r"pairs\[0, 1\] is nan, expected a number or -inf"),
        ({"pairs": [[np.inf]]}, r"pairs\[0, 0\] is inf"),
        ({"left": [1.0, 2.0, 3.0]}, r"left must be a number or have shape \(2,\), got \(3,\)"),
        ({"left": [1.0, -np.inf]}, r"left\[1\] is -inf, expected a finite number"),
        ({"right": np.nan}, r"right is nan, expected a finite number"),
        ({"left": 1e308}, r"left are too large: expected scores below 1e\+300, got 1e\+308"),
        ({"truth": [0]}, r"truth must hold one integer for each of the 2 left items"),
        ({"truth": [0, 2]}, r"truth\[1\] is 2, expected -1 or a right item from 0 to 1"),
        ({"truth": [0.0, 1.0]}, r"got shape \(2,\) and dtype float64"),
        ({"truth": [0, 1], "cost": -1.0}, r"cost is -1.0, expected a number >= 0"),
        ({"pairs": np.zeros((2, 1)), "complete": True}, "2 left items cannot all have one of 1"),
        (
            {"pairs": [[-np.inf, 0], [-np.inf, 0]], "complete": True},
            "no matching is allowed: too many pairs are forbidden",
        ),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        best_matching(**{"pairs": np.zeros((2, 2))} | arguments)


def test_a_switch_is_no_number():
    with pytest.raises(TypeError, match="complete must be True or False, got 1"):
        best_matching([[0.0]], complete=1)
