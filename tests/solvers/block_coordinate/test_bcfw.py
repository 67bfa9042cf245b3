"""Block-coordinate and batch Frank-Wolfe against the paper."""

import numpy as np
import pytest
from helpers import paper
from helpers.laws import LAM, binding_box, solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.toys import TOYS

from sskit.solvers import BCFW, FrankWolfe


def orders(n, n_passes, seed, sampling):
    """The blocks of each pass, as the samplers draw them from a random state."""
    rng = np.random.RandomState(seed)
    draw = rng.permutation if sampling == "permutation" else lambda n: rng.randint(n, size=n)
    return [draw(n) for _ in range(n_passes)]


@every_pair(
    name=TOYS,
    sampling=["permutation", "uniform"],
    bounded=[False, True],
    weighted=[False, True],
    form=["dense", "csr"],
    averaging=[False, True],
)
def test_iterates_and_their_average_are_those_of_the_paper(
    name, sampling, bounded, weighted, form, averaging
):
    n, n_passes = 6, 10
    weights = np.random.default_rng(1).uniform(0.2, 2.0, size=n) if weighted else None
    toy = TOYS[name](11, n=n, form=form, weights=weights)
    box = binding_box(toy.pairs.d) if bounded else None
    run = start_run(BCFW(steps="fw", averaging=averaging, sampling=sampling), toy, LAM, box, seed=3)
    if averaging:  # before the first step it is the start
        assert run.averager.average(run.regularizer, 0.0) is None
    steps, passes = [], orders(n, n_passes, 3, sampling)
    reference = paper.bcfw(toy.pairs, LAM, np.concatenate(passes), box)
    for _ in passes:
        run.run_pass()
        for _ in range(n):
            v, loss, w_i, l_i = next(reference)
            steps.append((v, loss))
        np.testing.assert_allclose(toy.flat(np.asarray(run.regularizer.v)[: len(v)]), v, atol=1e-10)
        w = v if box is None else np.clip(v, *box)
        np.testing.assert_allclose(toy.flat(run.regularizer.coef()), w, atol=1e-10)
        np.testing.assert_allclose(toy.pairs.c * run.dual.losses(), l_i, atol=1e-10)
        assert toy.dual(run.dual, LAM, box) == pytest.approx(
            paper.dual_value(v, loss, LAM, box), abs=1e-10
        )
        blocks, _ = toy.dual_sum(run.dual, LAM)
        np.testing.assert_allclose(blocks, w_i.sum(axis=0), atol=1e-10)
    if averaging:
        v, loss = (paper.weighted_average([step[k] for step in steps]) for k in range(2))
        found, found_loss = run.averager.average(run.regularizer, float(l_i.sum()))
        np.testing.assert_allclose(toy.flat(found), v, atol=1e-12)
        assert found_loss == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize("name", TOYS)
def test_gaps_of_a_pass_are_those_met_on_the_way(name):
    toy = TOYS[name](12)
    run = start_run(BCFW(steps="fw", sampling="permutation", averaging=False), toy, LAM)
    order = orders(toy.pairs.n, 1, 0, "permutation")[0]
    estimate, v, gaps = run.run_pass(), np.zeros(toy.pairs.d), np.zeros(toy.pairs.n)
    for i, (after, *_) in zip(order, paper.bcfw(toy.pairs, LAM, order), strict=True):
        # the first visit of a block: its dual point is the truth, so its gap is its hinge
        gaps[i] = toy.pairs.c[i] * toy.pairs.hinge(i, v)
        v = after
    np.testing.assert_allclose(run.gaps, gaps, atol=1e-12)
    assert estimate == pytest.approx(gaps.sum())


# ---- batch Frank-Wolfe -----------------------------------------------------------------------


def start(toy, box=None, lam=LAM):
    return start_run(FrankWolfe(), toy, lam, box)


@every_pair(name=TOYS, weighted=[False, True], form=["dense", "csr"])
def test_batch_iterates_are_those_of_the_paper(name, weighted, form):
    weights = np.random.default_rng(1).uniform(0.2, 2.0, size=6) if weighted else None
    toy = TOYS[name](21, n=6, form=form, weights=weights)
    run = start(toy)
    for w, loss in paper.frank_wolfe(toy.pairs, LAM, 15):
        run.run_pass()
        np.testing.assert_allclose(toy.flat(run.weights()), w, atol=1e-10)
        assert float(toy.pairs.c @ run.dual.losses()) == pytest.approx(loss, abs=1e-10)
        v, _ = toy.dual_sum(run.dual, LAM)
        np.testing.assert_allclose(v, w, atol=1e-10)


@every_pair(name=TOYS, bounded=[False, True])
def test_the_estimate_of_a_batch_step_is_the_gap_before_it(name, bounded):
    toy = TOYS[name](22)
    box = (np.full(toy.pairs.d, -0.1), np.full(toy.pairs.d, np.inf)) if bounded else None
    run, last = start(toy, box), -np.inf
    for _ in range(30):
        w, dual = toy.flat(run.weights()), toy.dual(run.dual, LAM, box)
        assert dual >= last - 1e-12
        assert run.run_pass() == pytest.approx(toy.pairs.primal(w, LAM) - dual, abs=1e-10)
        last = dual


def test_at_the_optimum_nothing_moves_and_the_seed_does_not_matter():
    # two classes and so strong a regulariser that the first step ends at the optimum
    run = start(TOYS["multiclass"](23, n=4, n_states=2), lam=1e3)
    assert run.run_pass() == pytest.approx(1.0)
    w = run.weights()
    assert run.run_pass() == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(run.weights(), w, rtol=1e-12)
    toy = TOYS["chain"](24)
    one, other = (
        solve_toy(FrankWolfe(), toy, LAM, max_iter=9, tol=0, random_state=seed) for seed in range(2)
    )
    np.testing.assert_array_equal(one.w, other.w)
