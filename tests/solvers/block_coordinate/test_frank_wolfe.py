"""Batch Frank-Wolfe against the paper."""

import numpy as np
import pytest
from helpers import paper
from helpers.pairwise import every_pair
from helpers.toys import TOYS

from sskit.solvers import FrankWolfe

LAM = 0.1


def start(toy, box=None):
    return FrankWolfe().start(toy.problem, toy.regularizer(LAM, box), np.random.RandomState(0))


@every_pair(name=TOYS, weights=[None, "random"], form=["dense", "csr"])
def test_iterates_are_those_of_the_paper(name, weights, form):
    if weights is not None:
        weights = np.random.default_rng(1).uniform(0.2, 2.0, size=6)
    toy = TOYS[name](21, n=6, form=form, weights=weights)
    run = start(toy)
    for w, loss in paper.frank_wolfe(toy.pairs, LAM, 15):
        run.run_pass()
        np.testing.assert_allclose(toy.flat(run.weights()), w, atol=1e-10)
        assert float(toy.pairs.c @ run.dual.losses()) == pytest.approx(loss, abs=1e-10)
        v, _ = toy.dual_sum(run.dual, LAM)
        np.testing.assert_allclose(v, w, atol=1e-10)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("name", TOYS)
def test_dual_never_falls_and_the_estimate_is_the_gap_before_the_step(name, bounded):
    toy = TOYS[name](22)
    box = (np.full(toy.pairs.d, -0.1), np.full(toy.pairs.d, np.inf)) if bounded else None
    run, last = start(toy, box), -np.inf
    for _ in range(50):
        w, dual = toy.flat(run.weights()), toy.dual(run.dual, LAM, box)
        assert dual >= last - 1e-12
        assert run.run_pass() == pytest.approx(toy.pairs.primal(w, LAM) - dual, abs=1e-10)
        last = dual


def test_at_the_optimum_nothing_moves():
    # two classes and so strong a regulariser that the first step ends at the optimum
    toy = TOYS["multiclass"](23, n=4, n_states=2)
    run = FrankWolfe().start(toy.problem, toy.regularizer(1e3), np.random.RandomState(0))
    assert run.run_pass() == pytest.approx(1.0)
    w = run.weights()
    assert run.run_pass() == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(run.weights(), w, rtol=1e-12)


def test_the_seed_does_not_matter():
    toy = TOYS["chain"](24)
    solutions = [
        FrankWolfe().solve(toy.problem, toy.regularizer(LAM), max_iter=20, tol=0, random_state=seed)
        for seed in range(2)
    ]
    np.testing.assert_array_equal(solutions[0].w, solutions[1].w)
