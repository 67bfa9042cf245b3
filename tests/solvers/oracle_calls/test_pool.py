"""Pools that ask oracles in threads: how large they are, and whose error is raised."""

import numpy as np
import pytest
from helpers.laws import LAM
from helpers.structures import Signs, bind, late_errors
from helpers.toys import chain_toy

from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW
from sskit.solvers.oracle_calls.pool import ParallelPool, Pool, make_pool


def test_a_team_is_as_large_as_asked_but_not_larger_than_the_problem():
    toy = chain_toy(0, n=3)
    assert type(make_pool(toy.problem, 1)) is type(make_pool(toy.problem)) is Pool
    evaluator = make_pool(toy.problem, 16)
    assert type(evaluator) is ParallelPool
    assert evaluator.thread_pool.threads == []
    zero = toy.regularizer(LAM).padded(np.zeros(toy.pairs.d))
    expected = make_pool(toy.problem).hinges(zero)
    for _ in range(200):
        np.testing.assert_array_equal(evaluator.hinges(zero), expected)
    # they end with their team
    threads = evaluator.thread_pool.threads
    assert [thread.is_alive() for thread in threads] == [True, True]
    del evaluator
    for thread in threads:
        thread.join(10)
    assert [thread.is_alive() for thread in threads] == [False, False]


def check_error(call, i):
    """It raises the error of one sample, which is named in a note or, in Python 3.10, in words."""
    with pytest.raises((ValueError, RuntimeError)) as caught:
        call()
    told = [*getattr(caught.value, "__notes__", ()), str(caught.value)]
    assert f"raised by argmax of Signs for sample {i}" in told


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_the_first_error_is_raised_and_the_team_goes_on(n_jobs):
    wrong, regularizer = set(), Regularizer(LAM, 2)
    X, Y = [np.array([1.0, k]) for k in range(20)], [1] * 20
    problem = bind(Signs({"argmax": late_errors(wrong)}), X, Y)
    evaluator = make_pool(problem, n_jobs)
    solver = BCFW(batch_size=4, steps="pairwise", sampling="permutation", cache=False)
    run = solver.start(problem, regularizer, np.random.RandomState(0), None, evaluator)
    run.run_pass()
    wrong.update((3, 5, 11, 17))
    w = regularizer.padded(np.zeros(2))
    for i in (3, 5, 11, 17):
        for _ in range(5):
            check_error(lambda: evaluator.hinges(w), i)
        wrong.discard(i)
    np.testing.assert_array_equal(evaluator.hinges(w), np.ones(20))
    wrong.add(7)
    check_error(run.run_pass, 7)
