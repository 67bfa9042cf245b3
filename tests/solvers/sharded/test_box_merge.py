"""How much of the moves of shards is taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sskit.solvers.sharded.merge import maximise


def value(x, slope, gram, lam):
    return slope @ x - 0.5 * lam * x @ gram @ x


def problem(seed, n, rank):
    rng = np.random.default_rng(seed)
    moves = rng.normal(size=(n, rank))
    return rng.normal(size=n), moves @ moves.T, rng.uniform(0.01, 2.0)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 8), rank=st.integers(0, 8))
def test_the_best_point_of_the_box(seed, n, rank):
    slope, gram, lam = problem(seed, n, rank)
    x = maximise(slope, gram, lam)
    assert ((x >= 0) & (x <= 1)).all()
    assert value(x, slope, gram, lam) >= 0
    best = minimize(
        lambda z: -value(z, slope, gram, lam),
        np.full(n, 0.5),
        jac=lambda z: lam * gram @ z - slope,
        bounds=[(0, 1)] * n,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-12},
    )
    assert value(x, slope, gram, lam) >= -best.fun - 1e-4 * (1 + abs(best.fun))


def test_one_shard_goes_as_far_as_its_line_search():
    assert maximise([2.0], [[1.0]], 1.0) == [1.0]
    assert maximise([0.5], [[2.0]], 0.5) == [0.5]
    assert maximise([-1.0], [[1.0]], 1.0) == [0.0]
    assert maximise([1.0], [[0.0]], 1.0) == [1.0]


def test_nobody_moves():
    assert maximise([], np.empty((0, 0)), 1.0).shape == (0,)


def test_moves_that_are_alike_are_shared():
    x = maximise([1.0, 1.0], np.ones((2, 2)), 1.0)
    assert x.sum() == pytest.approx(1.0, abs=1e-6)
