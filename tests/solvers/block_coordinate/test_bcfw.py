"""Steps of block-coordinate and batch Frank-Wolfe are those of the paper."""

import numpy as np
import pytest
from helpers import paper
from helpers.laws import LAM, binding_box, start_run
from helpers.pairwise import every_pair
from helpers.toys import TOYS

from sskit.solvers import BCFW, FrankWolfe


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
    n, rng = 6, np.random.RandomState(3)
    weights = np.random.default_rng(1).uniform(0.2, 2.0, size=n) if weighted else None
    toy = TOYS[name](11, n=n, form=form, weights=weights)
    box = binding_box(toy.pairs.d) if bounded else None
    run = start_run(BCFW(steps="fw", averaging=averaging, sampling=sampling), toy, LAM, box, seed=3)
    if averaging:  # before the first step it is the start
        assert run.averager.average(run.regularizer, 0.0) is None
    orders = [rng.permutation(n) if sampling == "permutation" else rng.randint(n, size=n)
              for _ in range(10)]  # fmt: skip
    reference, steps = paper.bcfw(toy.pairs, LAM, np.concatenate(orders), box), []
    w, gaps = np.zeros(toy.pairs.d), np.zeros(n)
    for n_pass, order in enumerate(orders):
        estimate = run.run_pass()
        for i in order:
            # at the first visit of a block its dual point is the truth, so its gap is its hinge
            gaps[i] = toy.pairs.c[i] * toy.pairs.hinge(i, w)
            v, loss, w_i, l_i = next(reference)
            steps.append((v, loss))
            w = v if box is None else np.clip(v, *box)
        if n_pass == 0 and sampling == "permutation":
            np.testing.assert_allclose(run.gaps, gaps, atol=1e-12)
            assert estimate == pytest.approx(gaps.sum())
        np.testing.assert_allclose(toy.flat(np.asarray(run.regularizer.v)[: len(v)]), v, atol=1e-10)
        np.testing.assert_allclose(toy.flat(run.regularizer.coef()), w, atol=1e-10)
        np.testing.assert_allclose(toy.pairs.c * run.dual.losses(), l_i, atol=1e-10)
        value = paper.dual_value(v, loss, LAM, box)
        assert toy.dual(run.dual, LAM, box) == pytest.approx(value, abs=1e-10)
        np.testing.assert_allclose(toy.dual_sum(run.dual, LAM)[0], w_i.sum(axis=0), atol=1e-10)
    if averaging:
        v, loss = (paper.weighted_average([step[k] for step in steps]) for k in range(2))
        found, found_loss = run.averager.average(run.regularizer, float(l_i.sum()))
        np.testing.assert_allclose(toy.flat(found), v, atol=1e-12)
        assert found_loss == pytest.approx(loss, abs=1e-12)


@every_pair(name=TOYS, weighted=[False, True], form=["dense", "csr"], bounded=[False, True])
def test_batch_iterates_are_those_of_the_paper(name, weighted, form, bounded):
    """What a step estimates is the gap before it, in a box too."""
    weights = np.random.default_rng(1).uniform(0.2, 2.0, size=6) if weighted else None
    toy = TOYS[name](21, n=6, form=form, weights=weights)
    box = (np.full(toy.pairs.d, -0.1), np.full(toy.pairs.d, np.inf)) if bounded else None
    run, last = start_run(FrankWolfe(), toy, LAM, box), -np.inf
    reference = paper.frank_wolfe(toy.pairs, LAM, 15)
    for _ in range(15):
        w, dual = toy.flat(run.weights()), toy.dual(run.dual, LAM, box)
        assert dual >= last - 1e-12
        last = dual
        assert run.run_pass() == pytest.approx(toy.pairs.primal(w, LAM) - dual, abs=1e-10)
        if not bounded:
            w, loss = next(reference)
            np.testing.assert_allclose(toy.flat(run.weights()), w, atol=1e-10)
            assert float(toy.pairs.c @ run.dual.losses()) == pytest.approx(loss, abs=1e-10)
            np.testing.assert_allclose(toy.dual_sum(run.dual, LAM)[0], w, atol=1e-10)
