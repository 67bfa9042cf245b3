"""Parts on springs: distance transforms are the best of all pairs of places, poses of all poses."""

import numpy as np
import pytest
from helpers.trees import enumerate_parts, random_parents, spring_costs
from hypothesis import given
from hypothesis import strategies as st

from sskit.oracles import distance_transform, parts_max_marginals, parts_max_sum


def random_instance(rng, most=3000):
    n_parts = int(rng.integers(1, 5))
    while True:
        shape = tuple(rng.integers(1, 6, size=2))
        if (shape[0] * shape[1]) ** n_parts <= most:
            break
    parents = random_parents(rng, n_parts, int(rng.integers(1, n_parts + 1)))
    n_types = int(rng.integers(1, 4))
    springs = rng.normal(size=(n_parts, n_types, 2, 3))
    springs[..., 1] = 10 ** rng.uniform(-2, 1, size=springs.shape[:3])
    scores = rng.normal(size=(n_parts, *shape)) * 10 ** rng.uniform(-1, 1)
    return scores, parents, springs, rng.normal(size=(n_parts, n_types))


def score_of(places, types, scores, parents, springs, bias):
    total = 0.0
    for k, parent in enumerate(parents):
        total += scores[k][tuple(places[k])]
        if parent >= 0:
            cost = spring_costs(scores[0].shape, springs[k, types[k]])
            cells = np.ravel_multi_index(places[[k, parent]].T, scores[0].shape)
            total += bias[k, types[k]] - cost[tuple(cells)]
    return total


@pytest.mark.parametrize(("seed", "n"), [(0, 150), pytest.param(1, 10_000, marks=pytest.mark.slow)])
def test_equals_enumeration(seed, n):
    rng = np.random.default_rng(seed)
    for trial in range(n):
        scores, parents, springs, bias = instance = random_instance(rng)
        options = {"bias": bias}
        if trial % 10 == 0:  # no bias is none, and roots need no springs
            options, bias[:] = {}, 0.0
            springs[parents < 0] = 0.0
        total = enumerate_parts(*instance)
        places, types, score = parts_max_sum(scores, parents, springs, **options)
        size = 1e-10 * (1 + np.abs(total).max())
        assert score == pytest.approx(total.max(), abs=size)
        assert score_of(places, types, *instance) == pytest.approx(score, abs=size)
        assert (types[parents < 0] == 0).all()
        best = parts_max_marginals(scores, parents, springs, **options)
        for k in range(len(scores)):
            others = tuple(axis for axis in range(len(scores)) if axis != k)
            expected = total.max(axis=others).reshape(scores[k].shape)
            np.testing.assert_allclose(best[k], expected, atol=size)


# ------------------------------------------------------------------------ distance transforms


def by_trial(scores, linear, square, mean):
    """Scores of all places (columns, by rows of the grid) seen from all anchors (rows)."""
    table = np.zeros((scores.size, scores.size))
    cells = np.indices(scores.shape).reshape(scores.ndim, -1)
    for axis in range(scores.ndim):
        t = cells[axis] - cells[axis][:, None] - mean[axis]
        table += linear[axis] * t + square[axis] * t**2
    with np.errstate(invalid="ignore"):
        return scores.ravel() - table


def check_transform(scores, linear, square, mean):
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


def random_springs(rng):
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
def test_equals_trial_on_thousands_of_instances(seed):
    rng = np.random.default_rng(seed)
    for _ in range(400):
        check_transform(*random_springs(rng))


@given(
    st.lists(st.one_of(st.just(-np.inf), st.floats(-1e6, 1e6)), min_size=1, max_size=12),
    st.floats(-1e3, 1e3),
    st.floats(1e-6, 1e3),
    st.floats(-20, 20),
)
def test_equals_trial_on_extreme_numbers(scores, linear, square, mean):
    check_transform(np.array(scores), np.array([linear]), np.array([square]), np.array([mean]))


def test_ties_forbidden_grids_and_springs_that_hardly_bend():
    best, places = distance_transform(np.zeros(4), 1.0, mean=0.5)
    np.testing.assert_array_equal(places, [0, 1, 2, 3])
    np.testing.assert_array_equal(best, -0.25)
    assert distance_transform([[1, 0, 1]], 1.0)[1].tolist() == [[0, 0, 2]]
    check_transform(np.full((3, 2), -np.inf), np.zeros(2), np.ones(2), np.zeros(2))
    for square in (5e-324, 1e-320, 1e-309, 1e-307):
        check_transform(np.zeros(5), np.array([1.0]), np.array([square]), np.array([0.0]))
    scores = np.arange(6, dtype=np.int8).reshape(2, 3)
    best = distance_transform(scores, 1)[0]
    assert best.dtype == np.float64
    np.testing.assert_array_equal(distance_transform(scores.tolist(), [1.0, 1.0])[0], best)
