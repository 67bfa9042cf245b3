"""Oracles that miss the maximum: what stored planes, mixes and the truth know counts too."""

import numpy as np
import pytest
from helpers.laws import solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.toys import TOYS
from sklearn.base import clone
from sskit_probes.core_probe import DualProbe, mix_of, planes_of
from sskit_probes.unreliable import UnreliableProblem

from sskit.core.dual import DualState
from sskit.solvers import BCFW, FrankWolfe, MultiPlane
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.testing.problem_checks import check_problem

LAM = 0.05
NAMES = ["chain", "multiclass"]
SOLVERS = {
    "pairwise": BCFW(averaging=False),
    "away": BCFW(steps="away", averaging=False, stored_passes=2),
    "cache": BCFW(averaging=False, cache=True, sampling="gap"),
    "fw": BCFW(steps="fw", averaging=False),
    "multi-plane": MultiPlane(averaging=False, max_stored_passes=20),
    "batch-fw": FrankWolfe(),
}


def tired(name, n_passes, seed=61, n=8, **options):
    """A toy whose oracle answers well for some passes only, and the toy itself."""
    toy = TOYS[name](seed, n=n, **options)
    return toy.bound_to(UnreliableProblem(toy.problem, n_passes * n)), toy


def best_known(toy, dual, i, w):
    """Best bound at w of the truth, the mix and the stored planes of block i, from scratch."""
    probe = DualProbe(toy.problem, dual)
    code, _, losses, _ = planes_of(dual, i)
    mix = mix_of(dual, i)[2] - toy.assemble(probe.mix(i), i) @ w
    planes = [
        loss - toy.assemble(probe.plane(i, row), i) @ w
        for row, loss in zip(code, losses, strict=True)
    ]
    return max([0.0, mix, *planes]), mix


@every_pair(name=NAMES, solver=SOLVERS, n_jobs=[1, 2])
def test_gaps_are_those_of_the_best_known_planes(name, solver, n_jobs):
    toy, _ = tired(name, 5)
    run = start_run(SOLVERS[solver], toy, LAM)
    for _ in range(4):
        run.run_pass()
    toy.problem.n_good = 0
    rng, evaluator, missed = np.random.default_rng(0), make_pool(toy.problem, n_jobs), 0
    for scale in (0.0, 0.3, 3.0):
        w = toy.flat(run.weights()) + rng.normal(scale=scale, size=toy.pairs.d)
        padded = run.regularizer.padded(toy.unflat(w))
        answers = evaluator.evaluate(padded, run.dual)
        hinges, gaps = answers.hinges(), answers.gaps()
        assert not evaluator.hinges(padded).any()
        for i in range(toy.pairs.n):
            best, mix = best_known(toy, run.dual, i, w)
            assert hinges[i] == pytest.approx(best, abs=1e-12)
            assert gaps[i] == pytest.approx(toy.pairs.c[i] * (best - mix), abs=1e-12)
            assert gaps[i] >= 0
            missed += best > 1e-6
    assert missed > toy.pairs.n


@every_pair(name=NAMES, solver=SOLVERS, averaging=[False, True])
def test_a_tired_oracle_never_lowers_the_dual_nor_hides_the_gap(name, solver, averaging):
    toy, _ = tired(name, 6)
    check_problem(tired(name, 1000)[0].problem, 0)
    solver = clone(SOLVERS[solver]).set_params(gap_every=1)
    if averaging and "averaging" in solver.get_params():
        solver.set_params(averaging=True)
    solution = solve_toy(solver, toy, LAM, tol=0, max_iter=12)
    assert not solution.certified
    history = solution.history
    assert (history["gap"] >= -1e-12).all()
    np.testing.assert_allclose(history["primal"] - history["dual"], history["gap"], atol=1e-10)
    if not averaging:
        assert (np.diff(history["dual"]) >= -1e-12).all()
    # an estimate from below, which cannot exceed the truth
    assert solution.primal <= toy.pairs.primal(toy.flat(solution.w), LAM) + 1e-10
    # lost would be all that the planes know: with the truth alone the hinges are zero
    bare = LAM / 2 * float(solution.w @ solution.w)
    assert solution.primal > bare + 0.01


@pytest.mark.parametrize("solver", ["pairwise", "away", "multi-plane"])
@pytest.mark.parametrize("name", NAMES)
def test_stored_planes_are_solved_when_the_oracle_has_given_up(name, solver):
    """The gap over what is known goes to zero; no step is ever negative."""
    toy, _ = tired(name, 3)
    run = start_run(SOLVERS[solver], toy, LAM)
    evaluator, value = make_pool(toy.problem), 0.0
    for n_pass in range(400):
        run.run_pass()
        if n_pass == 3:
            toy.problem.n_good = 0
        before, value = value, toy.dual(run.dual, LAM)
        assert value >= before - 1e-12
        gap = run.certify(evaluator).gap
        assert gap >= -1e-12
    assert gap <= (1e-3 if solver == "multi-plane" else 1e-9)
    gaps = evaluator.evaluate(run.regularizer.w, run.dual).gaps()
    for i in range(toy.pairs.n):
        best, mix = best_known(toy, run.dual, i, toy.flat(run.weights()))
        assert gaps[i] == pytest.approx(toy.pairs.c[i] * (best - mix), abs=1e-12)


def test_an_exact_oracle_is_taken_at_its_word():
    """Where the oracle is exact, planes are not looked at again: the hinge is its answer."""
    toy = TOYS["chain"](62)
    w = toy.regularizer(LAM).padded(np.random.default_rng(0).normal(size=toy.pairs.d))
    evaluator = make_pool(toy.problem)
    dual = DualState(toy.problem)
    answers = evaluator.evaluate(w, dual)
    hinges, gaps = answers.hinges(), answers.gaps()
    np.testing.assert_array_equal(hinges, evaluator.hinges(w))
    np.testing.assert_array_equal(gaps, toy.pairs.c * hinges)
    expected = [toy.pairs.hinge(i, toy.flat(w[: toy.pairs.d])) for i in range(toy.pairs.n)]
    np.testing.assert_allclose(hinges, expected, atol=1e-12)
