"""Batches: oracles asked at one w, then a step for each block."""

import itertools

import numpy as np
import pytest
from helpers import paper
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.structures import Chains, Signs, bind, late_errors
from helpers.toys import TOYS, chain_toy
from sskit_probes.core_probe import planes_of

from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW
from sskit.solvers.oracle_calls.pool import Pool, ThreadPool, make_pool

LAM = 0.1
PLAIN = {"steps": "fw", "cache": False, "block_steps": 1, "stored_passes": 0}
OPTIONS = [
    {**PLAIN, "sampling": "permutation"},
    {**PLAIN, "sampling": "gap"},
    {**PLAIN, "sampling": "max_gap"},
    {"steps": "fw", "sampling": "uniform", "cache": True},
    {"steps": "pairwise", "sampling": "uniform", "block_steps": 1},
    {"steps": "pairwise", "sampling": "gap", "cache": True, "stored_passes": 2},
    {"steps": "pairwise", "sampling": "max_gap", "cache": True},
    {"steps": "away", "sampling": "permutation", "stored_passes": 1},
    {"steps": "away", "sampling": "gap", "cache": True},
]


def box_of(toy):
    """A box that binds on the toys."""
    rng = np.random.default_rng(1)
    return -rng.uniform(0.0, 0.3, size=toy.pairs.d), rng.uniform(0.0, 0.3, size=toy.pairs.d)


def start(toy, options, size, *, box=None, n_jobs=1, seed=0):
    """A run whose oracles are asked by n_jobs threads."""
    solver = BCFW(**{"averaging": False, **options}, batch_size=size)
    pool = make_pool(toy.problem, n_jobs)
    return solver.start(
        toy.problem, toy.regularizer(LAM, box), np.random.RandomState(seed), None, pool
    )


def told(error):
    """What an error and its notes say."""
    return [*getattr(error, "__notes__", ()), str(error)]


def split(order, size):
    """Batches of one pass: of this size, but closed before a block that is in it already."""
    batch = []
    for i in order:
        if i in batch or len(batch) == size:
            yield batch
            batch = []
        batch.append(i)
    yield batch


def minibatch(pairs, lam, batches, box=None):
    """Plain steps: oracles of a batch at one w, line searches at the present one.

    Yields (v, mean loss, gaps of the batch) after every step.
    """
    mix, loss = np.zeros((pairs.n, pairs.d)), np.zeros(pairs.n)
    v = np.zeros(pairs.d)
    for batch in batches:
        w = v if box is None else np.clip(v, *box)
        found = [pairs.best(i, w) for i in batch]
        gaps = {
            i: pairs.c[i] * (pairs.hinge(i, w) - (loss[i] - mix[i] @ w)) for i in batch
        }  # fmt: skip
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
)
def test_plain_iterates_are_those_of_the_reference(name, sampling, bounded, size):
    n = 6
    toy = TOYS[name](13, n=n, weights=np.random.default_rng(1).uniform(0.2, 2.0, size=n))
    box = box_of(toy) if bounded else None
    run = start(toy, {**PLAIN, "sampling": sampling}, size, box=box, seed=3)
    rng = np.random.RandomState(3)
    orders = [
        rng.permutation(n) if sampling == "permutation" else rng.randint(n, size=n)
        for _ in range(10)
    ]
    passes = [list(split(order, min(size, n))) for order in orders]
    reference = minibatch(toy.pairs, LAM, itertools.chain(*passes), box)
    for _ in passes:
        run.run_pass()
        for _ in range(n):
            v, loss, gaps = next(reference)
        expected = v if box is None else np.clip(v, *box)
        np.testing.assert_allclose(toy.flat(run.weights()), expected, atol=1e-10)
        last = list(gaps)
        np.testing.assert_allclose(run.gaps[last], [gaps[i] for i in last], atol=1e-10)
        assert toy.dual(run.dual, LAM, box) == pytest.approx(
            paper.dual_value(v, loss, LAM, box), abs=1e-10
        )
    assert run.n_oracle_calls == 10 * n


@every_pair(name=TOYS, size=[2, 4, 32], options=OPTIONS)
def test_threads_change_no_bit(name, size, options):
    toy = TOYS[name](7, n=40 if name == "multiclass" else 9)
    solutions = [
        BCFW(**options, batch_size=size).solve(
            toy.problem, toy.regularizer(LAM), tol=0, max_iter=12, random_state=7, n_jobs=n_jobs
        )
        for n_jobs in (1, 2, 3)
    ]
    runs = [start(toy, options, size, n_jobs=n_jobs, seed=7) for n_jobs in (1, 2, 3)]
    for _ in range(6):
        for run in runs:
            run.run_pass()
        for other in runs[1:]:
            np.testing.assert_array_equal(other.weights(), runs[0].weights())
            np.testing.assert_array_equal(other.gaps, runs[0].gaps)
    for other in solutions[1:]:
        np.testing.assert_array_equal(other.w, solutions[0].w)
        for column in ("n_passes", "n_oracle_calls", "primal", "dual", "gap"):
            np.testing.assert_array_equal(other.history[column], solutions[0].history[column])


@every_pair(name=TOYS, bounded=[False, True], options=OPTIONS)
def test_the_dual_never_falls_and_the_optimum_is_that_of_the_quadratic_program(
    name, bounded, options
):
    toy = TOYS[name](21, n=7, weights=np.random.default_rng(3).uniform(0.2, 3.0, size=7))
    box = box_of(toy) if bounded else None
    run = start(toy, options, 4, box=box, n_jobs=2)
    evaluator, value = make_pool(toy.problem), toy.dual(run.dual, LAM, box)
    plain = options["steps"] == "fw"
    for n in range(1, 301 if plain else 3001):
        run.run_pass()
        if n > 20 and n % 10:
            continue
        before, value = value, toy.dual(run.dual, LAM, box)
        assert value >= before - 1e-12
        w, v = toy.flat(run.weights()), toy.dual_sum(run.dual, LAM)[0]
        np.testing.assert_allclose(w, v if box is None else np.clip(v, *box), atol=1e-10)
        for i in range(toy.pairs.n):
            _, weights, _, rest = planes_of(run.dual, i)
            assert rest >= 0 and (weights >= 0).all()
            assert weights.sum() + rest == pytest.approx(1.0, abs=1e-12)
        certificate = run.certify(evaluator)
        assert certificate.gap >= -1e-12
        assert certificate.primal == pytest.approx(
            toy.pairs.primal(toy.flat(certificate.w), LAM), abs=1e-10
        )
        if certificate.gap <= 1e-7:
            break
    _, optimum = solve_primal(toy.pairs, LAM, box)
    assert certificate.dual - 1e-9 <= optimum <= certificate.primal + 1e-9
    assert certificate.gap <= (0.1 if plain else 1e-6)


def test_averages_see_every_step():
    toy = TOYS["multiclass"](13)
    run = start(toy, {**PLAIN, "sampling": "permutation", "averaging": True}, 3)
    rng = np.random.RandomState(0)
    orders = [rng.permutation(toy.pairs.n) for _ in range(4)]
    for _ in orders:
        run.run_pass()
    batches = [batch for order in orders for batch in split(order, 3)]
    steps = list(minibatch(toy.pairs, LAM, batches))
    v, loss = run.averager.average(run.regularizer, float(toy.pairs.c @ run.dual.losses()))
    np.testing.assert_allclose(
        toy.flat(v), paper.weighted_average([step[0] for step in steps]), atol=1e-12
    )
    expected = paper.weighted_average([step[1] for step in steps])
    assert loss == pytest.approx(float(expected), abs=1e-12)
    solutions = [
        BCFW(**PLAIN, averaging=averaging, batch_size=3).solve(
            toy.problem, toy.regularizer(LAM), tol=0, max_iter=20, random_state=0
        )
        for averaging in (False, True)
    ]
    assert solutions[1].primal <= solutions[0].primal
    assert solutions[1].dual >= solutions[0].dual


def test_blocks_with_the_largest_gaps_make_one_batch():
    toy = TOYS["multiclass"](5, n=8)
    run = start(toy, {**PLAIN, "sampling": "max_gap"}, 8)
    gaps = toy.pairs.c * [toy.pairs.hinge(i, np.zeros(toy.pairs.d)) for i in range(8)]
    run.run_pass()
    # all eight at w = 0, none twice
    np.testing.assert_allclose(run.gaps, gaps, atol=1e-12)


# ---- pools -----------------------------------------------------------------------------------


def test_a_team_is_as_large_as_asked_but_not_larger_than_the_problem():
    toy = chain_toy(0, n=3)
    assert type(make_pool(toy.problem, 1)) is Pool
    assert type(make_pool(toy.problem)) is Pool
    pool = make_pool(toy.problem, 16)
    assert type(pool) is ThreadPool
    zero = toy.regularizer(LAM).padded(np.zeros(toy.pairs.d))
    evaluator = make_pool(toy.problem, 16)
    assert evaluator.crew.threads == []
    expected = make_pool(toy.problem).hinges(zero)
    for _ in range(200):
        np.testing.assert_array_equal(evaluator.hinges(zero), expected)
    assert len(evaluator.crew.threads) == 2


def test_threads_end_with_their_team():
    toy = chain_toy(0, n=5)
    evaluator = make_pool(toy.problem, 3)
    evaluator.hinges(toy.regularizer(LAM).padded(np.zeros(toy.pairs.d)))
    threads = evaluator.crew.threads
    assert [thread.is_alive() for thread in threads] == [True, True]
    del evaluator
    for thread in threads:
        thread.join(10)
    assert [thread.is_alive() for thread in threads] == [False, False]


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_the_first_error_is_raised_and_the_team_goes_on(n_jobs):
    wrong = {3, 5, 11, 17}
    X, Y = [np.array([1.0, k]) for k in range(20)], [1] * 20
    problem = bind(Signs({"argmax": late_errors(wrong)}), X, Y)
    evaluator = make_pool(problem, n_jobs)
    w = Regularizer(LAM, 2).padded(np.zeros(2))
    for expected in (3, 5, 11, 17):
        for _ in range(5):
            with pytest.raises((ValueError, RuntimeError)) as caught:
                evaluator.hinges(w)
            assert f"raised by argmax of Signs for sample {expected}" in told(caught.value)
        wrong.discard(expected)
    np.testing.assert_array_equal(evaluator.hinges(w), np.ones(20))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_in_a_batch_name_the_sample(n_jobs):
    X, Y = [np.array([1.0, k]) for k in range(12)], [1, -1] * 6
    wrong = set()
    problem = bind(Signs({"argmax": late_errors(wrong)}), X, Y)
    regularizer = Regularizer(LAM, 2)
    solver = BCFW(batch_size=4, steps="pairwise", sampling="permutation", cache=False)
    run = solver.start(
        problem, regularizer, np.random.RandomState(0), None, make_pool(problem, n_jobs)
    )
    run.run_pass()
    wrong.add(7)
    with pytest.raises((ValueError, RuntimeError)) as caught:
        run.run_pass()
    assert "raised by argmax of Signs for sample 7" in told(caught.value)


@pytest.mark.parametrize("options", OPTIONS[::3] + OPTIONS[5:6])
def test_python_structures_take_the_steps_of_compiled_ones(options):
    toy = chain_toy(4, n=7)
    truths = [
        np.array(y[int(np.argmin(loss))], dtype=np.int32)
        for y, loss in zip(toy.pairs.labels, toy.pairs.loss, strict=True)
    ]
    python = bind(Chains(toy.n_states), toy.X, truths)
    solutions = [
        BCFW(**options, batch_size=4).solve(
            problem, Regularizer(LAM, toy.pairs.d), tol=1e-3 if options["steps"] == "fw" else 1e-7,
            max_iter=300, random_state=0, n_jobs=n_jobs,
        )
        for problem, n_jobs in ((toy.problem, 1), (python, 1), (python, 2))
    ]  # fmt: skip
    np.testing.assert_array_equal(solutions[2].w, solutions[1].w)
    assert solutions[2].gap == solutions[1].gap
    assert solutions[0].dual <= solutions[1].primal + 1e-9
    assert solutions[1].dual <= solutions[0].primal + 1e-9
    np.testing.assert_allclose(
        solutions[1].w, solutions[0].w, atol=1e-2 if options["steps"] != "fw" else 0.5
    )
