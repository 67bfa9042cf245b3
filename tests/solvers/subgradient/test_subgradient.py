"""The stochastic subgradient method against the paper."""

import numpy as np
import pytest
from helpers import paper
from helpers.laws import solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import TOYS, chain_toy

from sskit.solvers import Subgradient

LAM = 0.1


def orders(n, n_passes, sampling):
    rng = np.random.RandomState(0)
    draw = rng.permutation if sampling == "permutation" else lambda n: rng.randint(n, size=n)
    return np.concatenate([draw(n) for _ in range(n_passes)])


@every_pair(
    name=TOYS, sampling=["permutation", "uniform"], weights=[None, "random"], form=["dense", "csr"]
)
def test_iterates_and_their_average(name, sampling, weights, form):
    n, n_passes = 6, 8
    if weights is not None:
        weights = np.random.default_rng(1).uniform(0.2, 2.0, size=n)
    toy = TOYS[name](31, n=n, form=form, weights=weights)
    run = start_run(Subgradient(sampling=sampling), toy, LAM)
    iterates = list(paper.subgradient(toy.pairs, LAM, orders(n, n_passes, sampling)))
    for k in range(1, n_passes + 1):
        assert run.run_pass() == np.inf
        last = run.state.last()[: toy.pairs.d]
        np.testing.assert_allclose(toy.flat(last), iterates[k * n - 1], atol=1e-10)
        average = paper.weighted_average(iterates[: k * n])
        np.testing.assert_allclose(toy.flat(run.weights()), average, atol=1e-10)


def test_the_lower_bound_is_that_of_whole_passes():
    toy = chain_toy(33)
    _, optimum = solve_primal(toy.pairs, LAM)
    for sampling in ("permutation", "uniform"):
        solution = solve_toy(
            Subgradient(sampling=sampling, gap_every=3), toy, LAM, tol=0, max_iter=60
        )
        if sampling == "permutation":
            assert (np.diff(solution.history["dual"]) >= 0).all()
            assert 0.5 * optimum < solution.dual <= optimum + 1e-9
        else:  # without balance it is zero
            assert (solution.history["dual"] == 0).all()
            assert solution.gap == solution.primal
    assert not hasattr(solution.fit.run, "dual")


@pytest.mark.parametrize("averaging", [False, True])
def test_what_is_returned(averaging):
    toy = chain_toy(34)
    solver = Subgradient(averaging=averaging)
    run = start_run(solver, toy, LAM)
    for _ in range(5):
        run.run_pass()
    last, average = (state[: toy.pairs.d] for state in (run.state.last(), run.state.average()))
    solution = solve_toy(solver, toy, LAM, tol=0, max_iter=5)
    values = {name: toy.pairs.primal(toy.flat(w), LAM) for name, w in
              (("last", last), ("average", average))}  # fmt: skip
    expected = min(values.values()) if averaging else values["last"]
    assert solution.primal == pytest.approx(expected, abs=1e-12)


def test_bounds_and_priors_are_refused():
    toy = chain_toy(35)
    d = toy.problem.n_weights
    with pytest.raises(ValueError, match="cannot solve problems with bounds"):
        Subgradient().solve(toy.problem, toy.regularizer(LAM, (np.zeros(d), np.ones(d))))
    regularizer = toy.regularizer(LAM)
    regularizer.set_prior(np.ones(d))
    with pytest.raises(ValueError, match="cannot solve problems with a prior"):
        Subgradient().solve(toy.problem, regularizer)
