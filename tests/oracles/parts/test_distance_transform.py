"""Distance transforms are the best of all pairs of positions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sskit.oracles import distance_transform


def by_trial(scores, linear, square, mean):
    """Scores of all places (columns, by rows of the grid) seen from all anchors (rows)."""
    table = np.zeros((scores.size, scores.size))
    cells = np.indices(scores.shape).reshape(scores.ndim, -1)
    for axis in range(scores.ndim):
        t = cells[axis] - cells[axis][:, None] - mean[axis]
        table += linear[axis] * t + square[axis] * t**2
    with np.errstate(invalid="ignore"):
        return scores.ravel() - table


def check(scores, linear, square, mean):
    best, places = distance_transform(scores, square, linear=linear, mean=mean)
    table = by_trial(scores, linear, square, mean)
    size = 1 + np.abs(table[np.isfinite(table)]).max(initial=0)
    assert best.shape == places.shape == scores.shape
    np.testing.assert_allclose(best.ravel(), table.max(axis=1), atol=1e-9 * size)
    if np.isneginf(scores).all():
        assert (places == -1).all()
    else:
        reached = table[np.arange(scores.size), places.ravel()]
        np.testing.assert_allclose(reached, best.ravel(), atol=1e-12 * size)


def random_instance(rng):
    n_dims = int(rng.integers(1, 3))
    shape = rng.integers(1, (30, 7)[n_dims - 1], size=n_dims)
    scores = rng.normal(size=shape) * 10 ** rng.uniform(-2, 2)
    if rng.random() < 0.3:
        scores = np.round(scores)  # ties
    if rng.random() < 0.3:
        scores[rng.random(shape) < rng.random()] = -np.inf
    return (
        scores,
        rng.normal(size=n_dims) * 10 ** rng.uniform(-2, 1),
        10 ** rng.uniform(-3, 1, size=n_dims),
        rng.normal(size=n_dims) * rng.integers(0, 10),
    )


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))]
)
def test_equals_trial_on_ten_thousand_instances(seed):
    rng = np.random.default_rng(seed)
    for _ in range(1000):
        check(*random_instance(rng))


@given(
    st.lists(st.one_of(st.just(-np.inf), st.floats(-1e6, 1e6)), min_size=1, max_size=12),
    st.floats(-1e3, 1e3),
    st.floats(1e-6, 1e3),
    st.floats(-20, 20),
)
def test_equals_trial_on_extreme_numbers(scores, linear, square, mean):
    check(np.array(scores), np.array([linear]), np.array([square]), np.array([mean]))


def test_ties_forbidden_grids_and_springs_that_hardly_bend():
    best, places = distance_transform(np.zeros(4), 1.0, mean=0.5)
    np.testing.assert_array_equal(places, [0, 1, 2, 3])
    np.testing.assert_array_equal(best, -0.25)
    assert distance_transform([[1, 0, 1]], 1.0)[1].tolist() == [[0, 0, 2]]
    check(np.full((3, 2), -np.inf), np.zeros(2), np.ones(2), np.zeros(2))
    for square in (5e-324, 1e-320, 1e-309, 1e-307):
        check(np.zeros(5), np.array([1.0]), np.array([square]), np.array([0.0]))
    scores = np.arange(6, dtype=np.int8).reshape(2, 3)
    best = distance_transform(scores, 1)[0]
    assert best.dtype == np.float64
    np.testing.assert_array_equal(distance_transform(scores.tolist(), [1.0, 1.0])[0], best)


def test_axes_are_those_of_the_scores():
    scores = np.full((6, 8), -np.inf)
    scores[4, 3] = 0.0
    best, places = distance_transform(scores, [1.0, 100.0], linear=[0, 3], mean=[2, -1])
    assert (places == 4 * 8 + 3).all()
    assert best[2, 4] == 0.0
    assert best[1, 4] == -1.0
    assert best[2, 3] == -(3 + 100)
    one_row = distance_transform(scores[4:5], 1.0, mean=[2, 0])[0]
    assert one_row[0, 3] == -4.0
