"""Batches: oracles asked at one w, then a step for each block."""

import numpy as np
import pytest
from helpers import paper
from helpers.laws import LAM, binding_box, start_run
from helpers.pairwise import every_pair
from helpers.structures import Chains, Signs, bind, late_errors
from helpers.toys import TOYS, chain_toy

from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW
from sskit.solvers.oracle_calls.pool import ParallelPool, Pool, make_pool

PLAIN = {"steps": "fw", "cache": False, "block_steps": 1, "stored_passes": 0}
PLAIN |= {"averaging": False}


def minibatch(pairs, lam, order, size, box=None):
    """Plain steps of one pass: oracles of a batch at one w, line searches at the present one.

    A batch is closed before a block that is in it already. Yields (v, mean loss, gaps of the
    batch) after every step.
    """
    mix, loss, v = np.zeros((pairs.n, pairs.d)), np.zeros(pairs.n), np.zeros(pairs.d)
    for blocks in order:
        batches = [[]]
        for i in blocks:
            if i in batches[-1] or len(batches[-1]) == size:
                batches.append([])
            batches[-1].append(i)
        for batch in batches:
            w = v if box is None else np.clip(v, *box)
            found = [pairs.best(i, w) for i in batch]
            gaps = {i: pairs.c[i] * (pairs.hinge(i, w) - (loss[i] - mix[i] @ w)) for i in batch}
            for i, y in zip(batch, found, strict=True):
                delta, change = pairs.psi[i][y] - mix[i], pairs.loss[i][y] - loss[i]
                w = v if box is None else np.clip(v, *box)
                slope = pairs.c[i] * (change - delta @ w)
                curvature = pairs.c[i] ** 2 / lam * delta @ delta
                if gaps[i] > 1e-14 and slope > 0:
                    gamma = min(slope / curvature, 1.0) if curvature else 1.0
                    v = v + gamma * pairs.c[i] / lam * delta
                    mix[i] += gamma * delta
                    loss[i] += gamma * change
                yield v, float(pairs.c @ loss), gaps


@every_pair(
    name=["chain", "multiclass"],
    sampling=["permutation", "uniform"],
    bounded=[False, True],
    size=[2, 4, 6, 50],
    averaging=[False, True],
)
def test_plain_iterates_and_their_average_are_those_of_the_reference(
    name, sampling, bounded, size, averaging
):
    n, rng = 6, np.random.RandomState(3)
    toy = TOYS[name](13, n=n, weights=np.random.default_rng(1).uniform(0.2, 2.0, size=n))
    box = binding_box(toy.pairs.d) if bounded else None
    solver = BCFW(**PLAIN | {"sampling": sampling, "averaging": averaging, "batch_size": size})
    run = start_run(solver, toy, LAM, box, seed=3)
    orders = [rng.permutation(n) if sampling == "permutation" else rng.randint(n, size=n)
              for _ in range(10)]  # fmt: skip
    reference, steps = minibatch(toy.pairs, LAM, orders, min(size, n), box), []
    for _ in orders:
        run.run_pass()
        for _ in range(n):
            v, loss, gaps = next(reference)
            steps.append((v, loss))
        expected = v if box is None else np.clip(v, *box)
        np.testing.assert_allclose(toy.flat(run.regularizer.coef()), expected, atol=1e-10)
        last = list(gaps)
        np.testing.assert_allclose(run.gaps[last], [gaps[i] for i in last], atol=1e-10)
        value = paper.dual_value(v, loss, LAM, box)
        assert toy.dual(run.dual, LAM, box) == pytest.approx(value, abs=1e-10)
    assert run.n_oracle_calls == 10 * n
    if averaging:
        found = run.averager.average(run.regularizer, float(toy.pairs.c @ run.dual.losses()))
        v, loss = (paper.weighted_average([step[k] for step in steps]) for k in range(2))
        np.testing.assert_allclose(toy.flat(found[0]), v, atol=1e-12)
        assert found[1] == pytest.approx(float(loss), abs=1e-12)
    elif size == 6:  # blocks with the largest gaps make one batch: all at w = 0, none twice
        run = start_run(BCFW(**PLAIN | {"sampling": "max_gap", "batch_size": n}), toy, LAM)
        run.run_pass()
        gaps = toy.pairs.c * [toy.pairs.hinge(i, np.zeros(toy.pairs.d)) for i in range(n)]
        np.testing.assert_allclose(run.gaps, gaps, atol=1e-12)


# ---- pools -----------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    "options",
    [
        PLAIN,
        {"steps": "fw", "sampling": "uniform", "cache": True},
        {"steps": "pairwise", "sampling": "gap", "cache": True, "stored_passes": 2},
        {"steps": "away", "sampling": "max_gap"},
    ],
)
def test_python_structures_take_the_steps_of_compiled_ones(options):
    toy, plain = chain_toy(4, n=7), options["steps"] == "fw"
    truths = [
        np.array(y[int(np.argmin(loss))], dtype=np.int32)
        for y, loss in zip(toy.pairs.labels, toy.pairs.loss, strict=True)
    ]
    python = bind(Chains(toy.n_states), toy.X, truths)
    one, two, three = (
        BCFW(**options, batch_size=4).solve(
            problem, Regularizer(LAM, toy.pairs.d), tol=1e-3 if plain else 1e-7, max_iter=300,
            random_state=0, n_jobs=n_jobs,
        )
        for problem, n_jobs in ((toy.problem, 1), (python, 1), (python, 2))
    )  # fmt: skip
    np.testing.assert_array_equal(three.w, two.w)
    assert three.gap == two.gap
    assert one.dual <= two.primal + 1e-9 and two.dual <= one.primal + 1e-9
    np.testing.assert_allclose(two.w, one.w, atol=0.5 if plain else 1e-2)
