"""What the options of BCFW save, in oracle calls and passes, never in seconds."""

import numpy as np
import pytest
from helpers.laws import solve_toy, start_run
from helpers.toys import FIRST, TOYS, bind_rows

from sskit.core.problem import block_weights
from sskit.core.regularizer import Regularizer
from sskit.datasets import make_digit_strings
from sskit.inputs.ragged import stack_sequences
from sskit.models.chain.model import ChainModel
from sskit.solvers import BCFW
from sskit.solvers.oracle_calls.pool import make_pool


def hard_and_easy(n, n_classes):
    """One hard block among n - 1 easy ones (Osokin et al. 2016, appendix C).

    A row of zeros is solved by its first step, whatever the others do; the last row needs a step
    or more for each of its classes.
    """
    X = np.zeros((n, 2))
    X[-1] = 1.0, 1.0
    return bind_rows(X, np.zeros(n, dtype=int), n_classes, intercept=False)


def calls_to_gap(toy, lam, tol, **options):
    """Oracle calls until primal and dual from scratch are within tol."""
    run = start_run(BCFW(averaging=False, **options), toy, lam)
    while toy.pairs.primal(toy.flat(run.weights()), lam) - toy.dual(run.dual, lam) > tol:
        run.run_pass()
        assert run.n_oracle_calls < 10**6
    return run.n_oracle_calls


@pytest.mark.parametrize("steps", ["fw", "pairwise"])
def test_one_hard_block_among_easy_ones(steps):
    n, n_classes, lam, tol = 60, 60, 0.01, 1e-4 if steps == "fw" else 1e-5
    options = {"steps": steps, "block_steps": 1, "stored_passes": 0}
    # t: what the hard block needs on its own, with the same weight
    alone = hard_and_easy(1, n_classes)
    t = calls_to_gap(alone, lam * n, tol * n, **options)
    assert t >= n_classes / 2
    toy = hard_and_easy(n, n_classes)
    calls = {
        sampling: calls_to_gap(toy, lam, tol, sampling=sampling, **options)
        for sampling in ("gap", "max_gap", "uniform", "permutation")
    }
    assert calls["max_gap"] <= 3 * (n + t)
    assert calls["gap"] <= 3 * (n + t)
    for sampling in ("uniform", "permutation"):
        assert calls[sampling] >= 0.5 * n * t
        assert calls[sampling] >= 5 * calls["gap"]


@pytest.fixture(scope="module")
def strings():
    """Bound strings of digits."""
    X, y = make_digit_strings(60, random_state=0)
    stacked, model = stack_sequences(X), ChainModel(65, 10)
    cost = np.repeat(1.0 / stacked.lengths, stacked.lengths)
    return model.bind(stacked, np.concatenate(y), cost, block_weights(60))


def calls_on_strings(problem, tol, lam=0.01, stored_passes=0, **options):
    """Oracle calls of the steps until an exact pass after one of the passes finds the gap."""
    run = BCFW(averaging=False, stored_passes=stored_passes, **options).start(
        problem, Regularizer(lam, problem.n_weights), np.random.RandomState(0)
    )
    evaluator, n_passes = make_pool(problem, 1), 0
    while run.certify(evaluator).gap > tol:
        for _ in range(2):
            run.run_pass()
        n_passes += 2
        assert n_passes < 20_000
    return run.n_oracle_calls


@pytest.mark.parametrize("sampling", ["permutation", "gap"])
@pytest.mark.parametrize("block_steps", [1, 20])
def test_cache_saves_oracle_calls(strings, sampling, block_steps):
    asking, cached = (
        calls_on_strings(
            strings, 1e-3, steps="pairwise", sampling=sampling, cache=cache, block_steps=block_steps
        )
        for cache in (False, True)
    )
    assert 2 * cached <= asking


def test_stored_passes_save_oracle_calls(strings):
    asking, stored = (
        calls_on_strings(strings, 1e-3, steps="pairwise", block_steps=1, stored_passes=passes)
        for passes in (0, 5)
    )
    assert 2 * stored <= asking


def test_gap_sampling_saves_oracle_calls(strings):
    by_gap, uniform = (
        calls_on_strings(strings, 1e-3, steps="pairwise", sampling=sampling)
        for sampling in ("gap", "uniform")
    )
    assert by_gap < uniform


@pytest.mark.parametrize("name", TOYS)
def test_pairwise_and_away_steps_reach_gaps_that_plain_ones_do_not(name):
    toy, gaps = TOYS[name](31, n=8), {}
    for steps in ("fw", "pairwise", "away"):
        solver = BCFW(
            steps=steps, sampling="permutation", cache=False, averaging=False, gap_every=1000
        )
        solution = solve_toy(solver, toy, 0.1, tol=0, max_iter=1500)
        gaps[steps] = solution.gap
    assert gaps["pairwise"] < 1e-9
    assert gaps["away"] < 1e-9
    assert gaps["fw"] > (1e-4 if name in FIRST else 1e-5)
