"""Weights are sums of millions of small moves: how far they drift from their dual point."""

import numpy as np
import pytest
from helpers.toys import bind_rows

from sskit.solvers import BCFW
from sskit.solvers._evaluate import Evaluator

LAM = 1e-5
N_BLOCKS = 1000
# Gap of a block, as a share of P(0) = 1, below which its step moves next to nothing.
NEGLIGIBLE = 1e-11


@pytest.fixture(scope="module")
def noisy():
    """Rows of which a fifth has another class: it takes long until no step moves anything."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_BLOCKS, 8))
    y = (X @ rng.normal(size=(8, 5))).argmax(axis=1)
    wrong = rng.random(N_BLOCKS) < 0.2
    y[wrong] = rng.integers(5, size=wrong.sum())
    return bind_rows(X, y, 5)


@pytest.mark.parametrize("cache", [False, True])
@pytest.mark.parametrize("steps", ["fw", "pairwise", "away"])
def test_drift_after_a_million_steps(noisy, steps, cache):
    solver = BCFW(steps=steps, cache=cache, block_steps=1, stored_passes=0, averaging=False)
    regularizer = noisy.regularizer(LAM)
    gaps = noisy.pairs.c * Evaluator(noisy.problem).hinges(regularizer.w)
    run = solver.start(noisy.problem, regularizer, np.random.RandomState(0), gaps)
    n_visits, n_steps = 0, 0
    while n_steps < 10**6:
        run.run_pass()
        # where there was a gap at the last oracle call, the dual point moves
        n_steps += int(np.count_nonzero(run.gaps > NEGLIGIBLE))
        n_visits += N_BLOCKS
        assert n_visits < 10**7
    assert (run.n_oracle_calls < n_visits) == cache
    v, _ = noisy.dual_sum(run.dual, LAM)
    w = noisy.flat(run.weights())
    np.testing.assert_allclose(w, v, rtol=0, atol=1e-9 * np.abs(v).max())
    for i in range(N_BLOCKS):
        _, weights, _, rest = run.dual.planes(i)
        assert weights.sum() + rest == pytest.approx(1.0, abs=1e-10)
