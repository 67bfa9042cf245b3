"""What the options of BCFW save, in oracle calls and passes, never in seconds."""

import itertools

import numpy as np
import pytest
from helpers.laws import start_run
from helpers.toys import bind_rows

from sskit import SequenceTagger
from sskit.core.regularizer import Regularizer
from sskit.datasets import make_digit_strings
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
    t = calls_to_gap(hard_and_easy(1, n_classes), lam * n, tol * n, **options)
    assert t >= n_classes / 2
    toy = hard_and_easy(n, n_classes)
    calls = {
        sampling: calls_to_gap(toy, lam, tol, sampling=sampling, **options)
        for sampling in ("gap", "max_gap", "uniform", "permutation")
    }
    assert max(calls["gap"], calls["max_gap"]) <= 3 * (n + t)
    assert min(calls["uniform"], calls["permutation"]) >= max(0.5 * n * t, 5 * calls["gap"])


def test_cache_stored_passes_and_sampling_by_gaps_save_oracle_calls():
    X, y = make_digit_strings(60, random_state=0)
    task = SequenceTagger(lam=0.01, loss="hamming")._make_task(X, y, None)

    def calls(**options):
        """Oracle calls of the steps until an exact pass after one of the passes finds the gap."""
        options = {"steps": "pairwise", "stored_passes": 0, "averaging": False} | options
        regularizer = Regularizer(0.01, task.problem.n_weights)
        run = BCFW(**options).start(task.problem, regularizer, np.random.RandomState(0))
        evaluator = make_pool(task.problem, 1)
        while run.certify(evaluator).gap > 1e-3:
            for _ in range(2):
                run.run_pass()
            assert run.n_oracle_calls < 10**6
        return run.n_oracle_calls

    for sampling, block_steps in itertools.product(("permutation", "gap"), (1, 20)):
        given = {"sampling": sampling, "block_steps": block_steps}
        assert 2 * calls(cache=True, **given) <= calls(cache=False, **given)
    assert 2 * calls(block_steps=1, stored_passes=5) <= calls(block_steps=1)
    assert calls(sampling="gap") < calls(sampling="uniform")
