"""Steps of the stochastic subgradient method are those of the paper."""

import numpy as np
import pytest
from helpers import paper
from helpers.draws import BOTH, ORDERS, draw
from helpers.laws import solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import FORMS, TOYS, chain_toy

from sskit.solvers import Subgradient

LAM = 0.1


@every_pair(name=TOYS, sampling=ORDERS, weighted=BOTH, form=FORMS)
def test_iterates_and_their_average(name, sampling, weighted, form):
    n, n_passes, rng = 6, 8, np.random.RandomState(0)
    toy, _ = draw(name, 31, weighted=weighted, form=form)
    run = start_run(Subgradient(sampling=sampling), toy, LAM)
    shuffle = rng.permutation if sampling == "permutation" else lambda n: rng.randint(n, size=n)
    order = np.concatenate([shuffle(n) for _ in range(n_passes)])
    iterates = list(paper.subgradient(toy.pairs, LAM, order))
    for k in range(n, n * n_passes + 1, n):
        assert run.run_pass() == np.inf
        last = run.state.last()[: toy.pairs.d]
        np.testing.assert_allclose(toy.flat(last), iterates[k - 1], atol=1e-10)
        average = paper.weighted_average(iterates[:k])
        np.testing.assert_allclose(toy.flat(run.weights()), average, atol=1e-10)


def test_the_lower_bound_is_that_of_whole_passes():
    toy = chain_toy(33)
    _, optimum = solve_primal(toy.pairs, LAM)
    for sampling in ("permutation", "uniform"):
        solver = Subgradient(sampling=sampling, gap_every=3)
        solution = solve_toy(solver, toy, LAM, tol=0, max_iter=60)
        if sampling == "permutation":
            assert (np.diff(solution.history["dual"]) >= 0).all()
            assert 0.5 * optimum < solution.dual <= optimum + 1e-9
        else:  # without balance it is zero
            assert (solution.history["dual"] == 0).all()
            assert solution.gap == solution.primal
    assert not hasattr(solution.fit.run, "dual")


@pytest.mark.parametrize("averaging", [False, True])
def test_what_is_returned(averaging):
    toy, solver = chain_toy(34), Subgradient(averaging=averaging)
    state = start_run(solver, toy, LAM, n_passes=5).state
    solution = solve_toy(solver, toy, LAM, tol=0, max_iter=5)
    ends = (toy.flat(w[: toy.pairs.d]) for w in (state.last(), state.average()))
    last, average = (toy.pairs.primal(w, LAM) for w in ends)
    assert solution.primal == pytest.approx(min(last, average) if averaging else last, abs=1e-12)
