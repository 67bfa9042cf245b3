"""Models in a kernel space, bound to data."""

from functools import partial

import numpy as np
import pytest
from helpers.kernels import in_kernel_space, linear_weights
from helpers.laws import solve_toy
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.toys import chain_toy, multiclass_toy

from sskit.core.regularizer import Regularizer
from sskit.models.kernel.functions import Kernel, PrecomputedKernel
from sskit.models.kernel.space import diagonal, runs_within
from sskit.models.slack.model import SlackRescaling
from sskit.solvers import BCFW, CuttingPlane, FrankWolfe, MultiPlane, Subgradient
from sskit.testing.problem_checks import check_problem

TOYS = {"chain": chain_toy, "multiclass": multiclass_toy}
# Solvers whose steps rounding does not decide.
STEADY = {
    "plain": BCFW(steps="fw", averaging=False, batch_size=1),
    "averaging": BCFW(steps="fw", batch_size=1),
    "pairwise": BCFW(block_steps=1, stored_passes=0, batch_size=1),
    "fw": FrankWolfe(),
    "ssg": Subgradient(),
}
# Within a block several steps may be equally good, and batches leave out blocks in a kernel space:
# only the optimum is the same.
FREE = {
    "batch": BCFW(batch_size=3),
    "corrective": BCFW(),
    "away-gap-cache": BCFW(steps="away", sampling="gap", cache=True),
    "mpbcfw": MultiPlane(),
    "cuts": CuttingPlane(),
}
# memory for few rows of either toy's kernel matrix, which are then kept in single precision
FEW = 4 * 4 * 16
PRECISION = {FEW: 2e-6, 1e9: 1e-10}
RBF = Kernel("rbf", gamma=0.3)


@every_pair(name=TOYS, form=["dense", "csr"], n_bytes=[FEW, 1e9])
def test_models_keep_the_contract(name, form, n_bytes):
    for kernel in (RBF, Kernel("poly", gamma=0.5, degree=2, coef0=1.0)):
        toy = TOYS[name](3)
        problem, _ = in_kernel_space(name, toy, kernel, form=form, n_bytes=n_bytes)
        check_problem(problem, 0)


def test_contract_at_other_widths():
    for n_states in (2, 9):
        toy = chain_toy(1, n=3, n_states=n_states, lengths=(1, 2))
        check_problem(in_kernel_space("chain", toy, RBF)[0], 1)
        toy = multiclass_toy(1, n=5, n_states=n_states, intercept=False)
        check_problem(in_kernel_space("multiclass", toy, RBF, intercept=False)[0], 1)


@every_pair(name=TOYS, solver=STEADY, n_bytes=[FEW, 1e9])
def test_the_linear_kernel_is_the_linear_model(name, solver, n_bytes):
    """Not only the same optimum: the same steps, but for rounding."""
    toy = TOYS[name](5, n=8)
    problem, layout = in_kernel_space(name, toy, Kernel("linear"), n_bytes=n_bytes)
    options = {"tol": 0.0, "max_iter": 12, "random_state": 0}
    plain = solve_toy(STEADY[solver], toy, 0.1, **options)
    regularizer = Regularizer(0.1, problem.n_weights, problem.space.covector)
    found = STEADY[solver].solve(problem, regularizer, **options)
    close = partial(pytest.approx, abs=PRECISION[n_bytes], rel=PRECISION[n_bytes])
    assert (plain.primal, plain.dual, plain.gap) == close((found.primal, found.dual, found.gap))
    w = linear_weights(layout, problem, found.w, toy)
    np.testing.assert_allclose(w, toy.flat(plain.w), atol=10 * PRECISION[n_bytes])
    # what is held as values is what the coefficients say
    X = np.concatenate([np.atleast_2d(x) for x in toy.X])
    blocks = layout.split(found.w)
    values = blocks["dual_coef"] @ (X @ X.T)
    np.testing.assert_allclose(blocks["values"], values, atol=10 * PRECISION[n_bytes])


@every_pair(name=TOYS, solver=FREE, n_bytes=[FEW, 1e9])
def test_the_optimum_of_a_quadratic_program(name, solver, n_bytes):
    toy = TOYS[name](6, n=6)
    problem, _ = in_kernel_space(name, toy, Kernel("linear"), n_bytes=n_bytes)
    _, optimum = solve_primal(toy.pairs, 0.2)
    regularizer = Regularizer(0.2, problem.n_weights, problem.space.covector)
    solution = FREE[solver].solve(problem, regularizer, tol=1e-3, random_state=0)
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-10)
    assert solution.dual <= optimum + 1e-8
    assert optimum - 1e-8 <= solution.primal <= optimum + 2e-3


@pytest.mark.parametrize(
    ("name", "solver"), [("chain", "plain"), ("multiclass", "pairwise"), ("chain", "fw")]
)
def test_slack_rescaling(name, solver):
    toy = TOYS[name](7, n=6)
    problem, _ = in_kernel_space(name, toy, Kernel("linear"))
    options = {"tol": 0.0, "max_iter": 8, "random_state": 0}
    # the same search for both: chains have an exact one outside kernel spaces only
    rescaling = SlackRescaling(search="bisecting")
    one, other = (rescaling.wrap(p) for p in (toy.problem, problem))
    plain = STEADY[solver].solve(one, toy.regularizer(0.1), **options)
    regularizer = Regularizer(0.1, other.n_weights, other.space.covector)
    found = STEADY[solver].solve(other, regularizer, **options)
    assert plain.primal == pytest.approx(found.primal, abs=1e-9)
    assert plain.dual == pytest.approx(found.dual, abs=1e-9)


@pytest.mark.parametrize("n_bytes", [FEW, 1e9])
def test_the_budget_is_kept(n_bytes):
    toy = multiclass_toy(0, n=40)
    calls = []

    def rbf(A, B):
        calls.append(A.shape[0])
        return RBF(A, B)

    problem, _ = in_kernel_space("multiclass", toy, Kernel(rbf), n_bytes=n_bytes)
    calls.clear()
    regularizer = Regularizer(0.1, problem.n_weights, problem.space.covector)
    BCFW().solve(problem, regularizer, tol=1e-3, random_state=0)
    # no more than are kept at a time where few fit, none at all where all did
    assert calls == [] if n_bytes > FEW else 1 <= max(calls) <= FEW // (4 * 40) + 1


def test_runs_within():
    X = np.random.default_rng(0).normal(size=(700, 2))
    offsets = np.array([0, 100, 200, 300, 600, 601, 700])
    runs = list(runs_within(Kernel("linear"), X, offsets))
    assert [(first, last) for first, last, _ in runs] == [(0, 2), (2, 3), (3, 4), (4, 6)]
    for first, last, matrix in runs:
        part = X[offsets[first] : offsets[last]]
        np.testing.assert_allclose(matrix, part @ part.T)
    np.testing.assert_allclose(diagonal(Kernel("linear"), X), (X * X).sum(axis=1))


def test_fingerprints_say_what_changed():
    toy = multiclass_toy(0, n=6)
    one = in_kernel_space("multiclass", toy, RBF)[0].fingerprint()
    assert one.difference(in_kernel_space("multiclass", toy, RBF)[0].fingerprint()) is None
    wider = in_kernel_space("multiclass", toy, Kernel("rbf", gamma=0.4))[0].fingerprint()
    assert wider.difference(one) == "the kernel changed"
    toy.X[2] = toy.X[2] + 1.0
    moved = in_kernel_space("multiclass", toy, RBF)[0].fingerprint()
    assert moved.difference(one) == "X[2] changed"
    chains = [
        in_kernel_space("chain", chain_toy(seed, n=4), RBF)[0].fingerprint() for seed in (0, 0, 1)
    ]
    assert chains[1].difference(chains[0]) is None
    assert chains[2].difference(chains[0]) == "X[0] changed"


def test_a_precomputed_kernel_is_the_same_problem():
    toy = multiclass_toy(2, n=10)
    X = np.array(toy.X)
    one, _ = in_kernel_space("multiclass", toy, RBF)
    toy.X = list(RBF(X, X))
    other, _ = in_kernel_space("multiclass", toy, PrecomputedKernel())
    solutions = [
        STEADY["pairwise"].solve(
            p, Regularizer(0.1, p.n_weights, p.space.covector), tol=1e-9, random_state=0
        )
        for p in (one, other)
    ]
    # kernels differ by rounding, and steps by what that decides
    assert solutions[0].primal == pytest.approx(solutions[1].primal, abs=1e-8)
    np.testing.assert_allclose(solutions[0].w, solutions[1].w, atol=1e-3)
