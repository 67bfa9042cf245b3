"""Steps of block-coordinate and batch Frank-Wolfe are those of the papers, also in batches."""

import numpy as np
import pytest
from helpers import paper
from helpers.draws import BOTH, ORDERS, draw
from helpers.laws import LAM, start_run
from helpers.pairwise import every_pair
from helpers.toys import FORMS, TOYS

from sskit.solvers import BCFW, FrankWolfe


def minibatch(pairs, lam, order, size, box=None):
    """Plain steps: oracles of a batch at one w, line searches at the present one.

    With batches of one block it is algorithm 4 of Lacoste-Julien et al. 2013. A batch is closed
    before a block that is in it already. Yields (v, mean loss, gaps of the batch) after every step.
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
                yield v, loss, gaps


@every_pair(
    name=TOYS,
    sampling=ORDERS,
    bounded=BOTH,
    weighted=BOTH,
    form=FORMS,
    averaging=BOTH,
    size=[1, 2, 4, 50],
)
def test_iterates_and_their_average_are_those_of_the_paper(
    name, sampling, bounded, weighted, form, averaging, size
):
    n, rng = 6, np.random.RandomState(3)
    size = 1 if name == "components" else size  # in batches two components may tie
    toy, box = draw(name, 11, weighted=weighted, bounded=bounded, form=form)
    solver = BCFW(steps="fw", averaging=averaging, sampling=sampling, batch_size=size)
    run = start_run(solver, toy, LAM, box, seed=3)
    orders = [rng.permutation(n) if sampling == "permutation" else rng.randint(n, size=n)
              for _ in range(10)]  # fmt: skip
    reference, steps, known = minibatch(toy.pairs, LAM, orders, min(size, n), box), [], {}
    for n_pass in range(10):
        estimate = run.run_pass()
        for _ in range(n):
            v, losses, gaps = next(reference)
            steps.append((v, float(toy.pairs.c @ losses)))
            known |= gaps
        blocks, w = list(known), v if box is None else np.clip(v, *box)
        np.testing.assert_allclose(run.gaps[blocks], list(known.values()), atol=1e-10)
        if n_pass == 0 and sampling == "permutation":
            assert estimate == pytest.approx(sum(known.values()))
        np.testing.assert_allclose(toy.flat(np.asarray(run.regularizer.v)[: len(v)]), v, atol=1e-10)
        np.testing.assert_allclose(toy.flat(run.regularizer.coef()), w, atol=1e-10)
        np.testing.assert_allclose(run.dual.losses(), losses, atol=1e-9)
        value = paper.dual_value(*steps[-1], LAM, box)
        assert toy.dual(run.dual, LAM, box) == pytest.approx(value, abs=1e-10)
        np.testing.assert_allclose(toy.dual_sum(run.dual, LAM)[0], v, atol=1e-10)
    assert run.n_oracle_calls == 10 * n
    if averaging:
        found = run.averager.average(run.regularizer, steps[-1][1])
        v, loss = (paper.weighted_average([step[k] for step in steps]) for k in range(2))
        np.testing.assert_allclose(toy.flat(found[0]), v, atol=1e-12)
        assert found[1] == pytest.approx(float(loss), abs=1e-12)


@every_pair(name=TOYS, weighted=BOTH, form=FORMS, bounded=BOTH)
def test_batch_iterates_are_those_of_the_paper(name, weighted, form, bounded):
    """What a step estimates is the gap before it, in a box too."""
    toy, _ = draw(name, 21, weighted=weighted, form=form)
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
