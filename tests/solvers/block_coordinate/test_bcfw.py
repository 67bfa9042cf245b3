"""Block-coordinate Frank-Wolfe against the paper."""

import numpy as np
import pytest
from helpers import paper
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import TOYS, chain_toy

from sskit.solvers import BCFW

LAM = 0.1


def random_box(d, seed=0):
    """A box that binds on toy problems, open on some sides."""
    rng = np.random.default_rng(seed)
    lower, upper = -rng.uniform(0.0, 0.3, size=d), rng.uniform(0.0, 0.3, size=d)
    lower[rng.random(d) < 0.3] = -np.inf
    upper[rng.random(d) < 0.3] = np.inf
    return lower, upper


def orders(n, n_passes, seed, sampling):
    """The blocks of each pass, as the samplers draw them from a random state."""
    rng = np.random.RandomState(seed)
    draw = rng.permutation if sampling == "permutation" else lambda n: rng.randint(n, size=n)
    return [draw(n) for _ in range(n_passes)]


@every_pair(
    name=TOYS,
    sampling=["permutation", "uniform"],
    bounded=[False, True],
    weights=[None, "random"],
    form=["dense", "csr"],
)
def test_iterates_are_those_of_the_paper(name, sampling, bounded, weights, form):
    n = 6
    if weights is not None:
        weights = np.random.default_rng(1).uniform(0.2, 2.0, size=n)
    toy = TOYS[name](11, n=n, form=form, weights=weights)
    box = random_box(toy.pairs.d) if bounded else None
    run = BCFW(steps="fw", averaging=False, sampling=sampling).start(
        toy.problem, toy.regularizer(LAM, box), np.random.RandomState(3)
    )
    passes = orders(n, 12, 3, sampling)
    reference = paper.bcfw(toy.pairs, LAM, np.concatenate(passes), box)
    for _ in passes:
        run.run_pass()
        for _ in range(n):
            v, loss, w_i, l_i = next(reference)
        np.testing.assert_allclose(toy.flat(np.asarray(run.regularizer.v)[: len(v)]), v, atol=1e-10)
        w = v if box is None else np.clip(v, *box)
        np.testing.assert_allclose(toy.flat(run.weights()), w, atol=1e-10)
        np.testing.assert_allclose(toy.pairs.c * run.dual.losses(), l_i, atol=1e-10)
        assert toy.dual(run.dual, LAM, box) == pytest.approx(
            paper.dual_value(v, loss, LAM, box), abs=1e-10
        )
        blocks, _ = toy.dual_sum(run.dual, LAM)
        np.testing.assert_allclose(blocks, w_i.sum(axis=0), atol=1e-10)


@pytest.mark.parametrize("name", TOYS)
def test_gaps_of_a_pass_are_those_met_on_the_way(name):
    toy = TOYS[name](12)
    run = BCFW(steps="fw", sampling="permutation", averaging=False).start(
        toy.problem, toy.regularizer(LAM), np.random.RandomState(0)
    )
    order = orders(toy.pairs.n, 1, 0, "permutation")[0]
    estimate, v, gaps = run.run_pass(), np.zeros(toy.pairs.d), np.zeros(toy.pairs.n)
    for i, (after, *_) in zip(order, paper.bcfw(toy.pairs, LAM, order), strict=True):
        # the first visit of a block: its dual point is the truth, so its gap is its hinge
        gaps[i] = toy.pairs.c[i] * toy.pairs.hinge(i, v)
        v = after
    np.testing.assert_allclose(run.gaps, gaps, atol=1e-12)
    assert estimate == pytest.approx(gaps.sum())


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("name", TOYS)
def test_average_is_the_weighted_average_of_all_iterates(name, bounded):
    toy = TOYS[name](13)
    box = random_box(toy.pairs.d) if bounded else None
    run = BCFW(steps="fw", sampling="permutation", averaging=True).start(
        toy.problem, toy.regularizer(LAM, box), np.random.RandomState(0)
    )
    n_passes = 7
    for _ in range(n_passes):
        run.run_pass()
    order = np.concatenate(orders(toy.pairs.n, n_passes, 0, "permutation"))
    steps = [(v, loss) for v, loss, *_ in paper.bcfw(toy.pairs, LAM, order, box)]
    v, loss = (paper.weighted_average([step[k] for step in steps]) for k in range(2))
    last_loss = float(toy.pairs.c @ run.dual.losses())
    found, found_loss = run.averager.average(run.regularizer, last_loss)
    np.testing.assert_allclose(toy.flat(found), v, atol=1e-12)
    assert found_loss == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("name", TOYS)
def test_averaging_returns_the_better_of_the_two(name, bounded):
    toy = TOYS[name](14)
    box = random_box(toy.pairs.d) if bounded else None
    _, optimum = solve_primal(toy.pairs, LAM, box)
    chosen = {}
    for averaging in (False, True):
        solution = BCFW(steps="fw", averaging=averaging).solve(
            toy.problem, toy.regularizer(LAM, box), tol=0, max_iter=40, random_state=0
        )
        w = toy.flat(solution.w)
        assert solution.primal == pytest.approx(toy.pairs.primal(w, LAM), abs=1e-12)
        assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-12)
        assert solution.dual - 1e-9 <= optimum <= solution.primal + 1e-9
        assert box is None or ((w >= box[0]) & (w <= box[1])).all()
        chosen[averaging] = solution
    assert chosen[True].primal <= chosen[False].primal
    assert chosen[True].dual >= chosen[False].dual


def test_averaging_before_the_first_step_is_the_start():
    toy = chain_toy(0)
    run = BCFW(steps="fw", sampling="permutation", averaging=True).start(
        toy.problem, toy.regularizer(LAM), np.random.RandomState(0)
    )
    assert run.averager.average(run.regularizer, 0.0) is None


@pytest.mark.parametrize("name", TOYS)
@pytest.mark.parametrize("lam", [1e-3, 0.1, 100.0])
def test_dual_never_falls(name, lam):
    toy = TOYS[name](15, n=8)
    for box in (None, random_box(toy.pairs.d, 1)):
        run = BCFW(steps="fw", sampling="permutation", averaging=False).start(
            toy.problem, toy.regularizer(lam, box), np.random.RandomState(0)
        )
        values = [0.0 if box is None else paper.dual_value(np.zeros(toy.pairs.d), 0.0, lam, box)]
        for _ in range(60):
            run.run_pass()
            values.append(toy.dual(run.dual, lam, box))
        assert np.min(np.diff(values)) >= -1e-12
        assert values[-1] > values[0]


def test_drift_after_many_steps_is_below_any_tolerance():
    toy = chain_toy(16, n=10)
    run = BCFW(steps="fw", sampling="permutation", averaging=False).start(
        toy.problem, toy.regularizer(1e-3), np.random.RandomState(0)
    )
    for _ in range(10_000):
        run.run_pass()
    v, _ = toy.dual_sum(run.dual, 1e-3)
    np.testing.assert_allclose(toy.flat(run.weights()), v, rtol=0, atol=1e-9 * np.abs(v).max())
