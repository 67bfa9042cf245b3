"""Oracles that miss the maximum and bound it: gaps are certificates, against enumeration."""

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.laws import binding_box, solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.slack import slack_pairs
from helpers.toys import TOYS
from sklearn.base import clone
from sskit_probes.unreliable import BoundingProblem

from sskit.core.dual import DualState
from sskit.models.slack.model import SlackRescaling
from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, Subgradient
from sskit.solvers.common.fit import begin
from sskit.solvers.common.solution import (
    UNKNOWN,
    Certificate,
    History,
    Proof,
    Status,
    Tolerance,
    certify_weights,
)
from sskit.solvers.dual_decomposition.gdmm import SoftBCFW
from sskit.solvers.oracle_calls.pool import make_pool

LAM = 0.05
NAMES = ["chain", "multiclass"]
SOLVERS = {
    "fw": BCFW(steps="fw", averaging=False),
    "fw-averaging": BCFW(steps="fw", averaging=True),
    "batch-plain": BCFW(steps="fw", averaging=False, batch_size=3),
    "pairwise": BCFW(steps="pairwise", averaging=False),
    "away": BCFW(steps="away", averaging=False, stored_passes=2),
    "cache": BCFW(averaging=False, cache=True, sampling="gap"),
    "batch": BCFW(steps="pairwise", averaging=False, batch_size=3),
    "multi-plane": MultiPlane(max_stored_passes=20),
    "batch-fw": FrankWolfe(),
    "ssg": Subgradient(),
    "cuts": CuttingPlane(),
}
# How the oracle bounds what it misses.
EXCESS = {"true": {}, "loose": {"loose": 3.0, "extra": 0.01}}


def bounding(name, seed=61, n=9, weights=None, **how):
    """A toy whose oracle misses the maximum but bounds it."""
    toy = TOYS[name](seed, n=n, weights=weights)
    return toy.bound_to(BoundingProblem(toy.problem, **how))


def solve(solver, toy, box=None, **options):
    """A short fit."""
    options = {"tol": 1e-2, "max_iter": 60, "random_state": 0} | options
    return solve_toy(solver, toy, LAM, box, **options)


def missed(toy, w):
    """What the oracle misses at w by its own account: sum of c_i excess_i."""
    answers = make_pool(toy.problem).evaluate(toy.regularizer(LAM).padded(w))
    return float(toy.pairs.c @ answers.excesses())


def assert_honest(toy, solution, pairs=None, box=None):
    """Primal, dual and gap bracket what enumeration and a quadratic program find."""
    pairs = toy.pairs if pairs is None else pairs
    optimum = solve_primal(pairs, LAM, box)[1]
    primal = pairs.primal(toy.flat(solution.w), LAM)
    assert solution.certified
    assert solution.primal >= primal - 1e-10
    assert solution.dual <= optimum + 1e-8
    assert solution.gap >= primal - solution.dual - 1e-10
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-10)
    # what is known is below the truth
    rounding = 1e-10 + 1e-15 * solution.primal
    assert solution.primal - solution.inexactness <= primal + rounding
    history = solution.history
    assert len({len(column) for column in history.values()}) == 1
    assert (history["primal"] >= optimum - 1e-8).all()
    assert (history["dual"] <= optimum + 1e-8).all()
    assert (history["inexactness"] >= 0).all()
    # the best weights seen, with the last dual, where the fit ended early
    best = -1
    if solution.status is not Status.CONVERGED:
        known = history["primal"] - history["inexactness"]
        best = len(known) - 1 - np.argmin(known[::-1])
    assert history["inexactness"][best] == solution.inexactness
    assert history["primal"][best] == solution.primal
    assert history["dual"].max() == solution.dual
    if best in (-1, len(history["gap"]) - 1):
        assert history["gap"][best] == solution.gap


@every_pair(solver=SOLVERS, name=NAMES, how=EXCESS, bounded=[False, True], weighted=[False, True])
def test_every_gap_is_a_certificate(solver, name, how, bounded, weighted):
    weights = np.random.default_rng(2).uniform(0.2, 3.0, size=9) if weighted else None
    toy = bounding(name, weights=weights, **EXCESS[how])
    box = binding_box(toy.pairs.d) if bounded and SOLVERS[solver].keeps_bounds else None
    solution = solve(SOLVERS[solver], toy, box)
    assert_honest(toy, solution, box=box)
    if how == "loose":
        assert solution.inexactness > 0.005
    if solution.status is Status.CONVERGED:
        known = solution.gap - solution.inexactness
        primal = solution.primal - solution.inexactness
        assert known <= Tolerance(1e-2, solution.unit).gap_at(primal) * (1 + 1e-12)


@pytest.mark.parametrize(("solver", "n_jobs"), in_turn(SOLVERS, [1, 2]))
def test_a_fit_ends_by_what_is_found(solver, n_jobs):
    """Where the bounds stay wide the fit ends all the same, after the same passes."""
    fits = [
        solve(SOLVERS[solver], bounding("chain", loose=loose), n_jobs=n_jobs, max_iter=400)
        for loose in (1.0, 30.0)
    ]
    tight, wide = fits
    np.testing.assert_array_equal(tight.w, wide.w)
    assert tight.n_iter == wide.n_iter
    assert tight.status is wide.status
    assert solver in ("ssg", "batch-fw") or tight.status is Status.CONVERGED
    assert wide.inexactness >= tight.inexactness
    known = wide.primal - wide.inexactness
    assert known == pytest.approx(tight.primal - tight.inexactness, abs=1e-12)
    assert wide.dual == tight.dual
    assert tight.certified and wide.certified


@every_pair(solver=SOLVERS, name=NAMES, bounded=[False, True], n_jobs=[1, 2])
def test_without_excess_every_bit_is_that_of_an_exact_oracle(solver, name, bounded, n_jobs):
    exact = TOYS[name](61, n=9)
    toy = exact.bound_to(BoundingProblem(exact.problem, fraction=1.0))
    box = binding_box(toy.pairs.d) if bounded and SOLVERS[solver].keeps_bounds else None
    assert not toy.problem.exact
    ours, theirs = (solve(SOLVERS[solver], t, box, n_jobs=n_jobs) for t in (toy, exact))
    np.testing.assert_array_equal(ours.w, theirs.w)
    for field in ("primal", "dual", "gap", "unit", "n_iter", "n_oracle_calls", "certified"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert ours.inexactness == 0.0 == theirs.inexactness
    assert not ours.history["inexactness"].any()
    assert "inexactness" not in theirs.history
    for column in ("primal", "dual", "gap"):
        np.testing.assert_array_equal(ours.history[column], theirs.history[column])


def test_what_oracles_without_bounds_and_searches_prove():
    """What an oracle without bounds misses is an estimate; searches bound no more than theirs."""
    solution = solve(SOLVERS["pairwise"], bounding("chain", bounds=False))
    assert not solution.certified
    assert solution.inexactness == 0.0
    assert "inexactness" not in solution.history
    exact = TOYS["chain"](61)
    for search, bounds in {"exact": False, "angular": False, "bisecting": True}.items():
        problem = SlackRescaling(search).wrap(exact.problem)
        assert problem.bounds == bounds
        assert problem.exact != bounds
    loose = SlackRescaling("angular", tol=0.2).wrap(exact.problem)
    assert loose.bounds and not loose.exact


@pytest.mark.parametrize(("name", "n_jobs"), in_turn(NAMES, [1, 2]))
def test_the_inexact_part_is_what_is_between_the_bounds_and_what_is_known(name, n_jobs):
    """The best of answer, truth, stored planes and mix is known; the upper bounds stay."""
    toy = bounding(name, extra=0.01)
    run = start_run(SOLVERS["pairwise"], toy, LAM)
    for _ in range(5):
        run.run_pass()
    evaluator, rng, better = make_pool(toy.problem, n_jobs), np.random.default_rng(0), 0
    for scale in (0.0, 0.3, 3.0):
        w = toy.flat(run.weights()) + rng.normal(scale=scale, size=toy.pairs.d)
        padded = run.regularizer.padded(toy.unflat(w))
        bare, known = evaluator.evaluate(padded), evaluator.evaluate(padded, run.dual)
        upper = np.maximum(bare.hinges() + bare.excesses(), known.hinges())
        np.testing.assert_allclose(known.hinges() + known.excesses(), upper, atol=1e-12)
        assert (known.hinges() >= bare.hinges()).all()
        better += (known.hinges() > bare.hinges() + 1e-6).sum()
        for i in range(toy.pairs.n):
            assert upper[i] >= toy.pairs.hinge(i, w) - 1e-12
            assert known.hinges()[i] <= toy.pairs.hinge(i, w) + 1e-12
            # without extra, what is proved best
            assert i % 3 or bare.excesses()[i] == 0.0
    assert better


def test_answers_below_the_truth_and_weights_alone_have_bounds():
    """The hinge is 0 then, and the upper bound that of the answer."""
    toy = bounding("multiclass", fraction=0.0)
    w = 5 * np.random.default_rng(3).normal(size=toy.pairs.d)
    padded = toy.regularizer(LAM).padded(toy.unflat(w))
    answers = make_pool(toy.problem).evaluate(padded)
    for i in range(toy.pairs.n):
        upper = answers.hinges()[i] + answers.excesses()[i]
        assert upper == pytest.approx(toy.pairs.hinge(i, w), abs=1e-12)
    toy = bounding("chain")
    w = toy.unflat(0.1 * np.random.default_rng(0).normal(size=toy.pairs.d))
    regularizer, evaluator = toy.regularizer(LAM), make_pool(toy.problem)
    for known in (None, DualState(toy.problem)):
        certificate = certify_weights(toy.problem, regularizer, w, 0.1, evaluator, known)
        primal = toy.pairs.primal(toy.flat(w), LAM)
        # its bounds are tight here
        assert certificate.primal == pytest.approx(primal, abs=1e-12)
        assert certificate.gap == pytest.approx(primal - 0.1, abs=1e-12)
        assert certificate.inexactness == pytest.approx(missed(toy, w), abs=1e-12)
        assert certificate.known_primal < primal


@pytest.mark.parametrize("cuts", ["linear", "constant"])
def test_sampled_cuts_estimate_the_inexact_part(cuts):
    toy = bounding("chain", n=12, extra=0.02)
    solver = CuttingPlane(cuts=cuts, cut_size=40)
    solution = solve(solver, toy, max_iter=200)
    assert not solution.certified
    assert solution.inexactness == pytest.approx(missed(toy, solution.w), abs=0.05)
    assert solution.inexactness >= 0.02 * 8 / 12 * 0.7
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-10)
    if cuts == "linear":
        assert solution.primal >= toy.pairs.primal(toy.flat(solution.w), LAM) - 1e-10


@pytest.mark.parametrize("solver", [GDMM(gap_every=1), SoftBCFW(gap_every=1)])
def test_dual_decomposition_takes_the_bounds_of_the_oracle(solver):
    toy = bounding("chain", extra=0.01)
    solution = solve(solver, toy, max_iter=20)
    assert_honest(toy, solution)
    assert solution.inexactness >= 0.006


# ---- slack rescaling -------------------------------------------------------------------------


@every_pair(name=NAMES, how=[None, *EXCESS])
def test_bisecting_bounds_the_product(name, how):
    """With an exact oracle behind them, and with one that misses the maximum and bounds it."""
    toy = TOYS[name](61, n=9) if how is None else bounding(name, **EXCESS[how])
    toy = toy.bound_to(SlackRescaling("bisecting").wrap(toy.problem))
    pairs, rng = slack_pairs(toy.pairs), np.random.default_rng(0)
    assert toy.problem.bounds and toy.problem.fork().bounds and not toy.problem.exact
    for scale in (0.0, 0.1, 1.0, 10.0):
        w = rng.normal(scale=scale, size=pairs.d)
        for loss_weight in (1.0, 0.0):
            answers = make_pool(toy.problem).evaluate(
                toy.regularizer(LAM).padded(toy.unflat(w)), None, loss_weight
            )
            for i in range(pairs.n):
                products = loss_weight * pairs.loss[i] - pairs.psi[i] @ w
                assert answers.hinges()[i] <= products.max(initial=0.0) + 1e-9
                upper = answers.hinges()[i] + answers.excesses()[i]
                assert upper >= products.max(initial=0.0) - 1e-9
    for solver in ("pairwise", "fw-averaging", "cuts", "ssg"):
        assert_honest(toy, solve(SOLVERS[solver], toy), pairs)


def test_angular_search_that_ends_early_bounds_the_rest():
    exact = TOYS["chain"](61, n=9)
    for options in ({"tol": 0.3}, {"max_queries": 2}):
        toy = exact.bound_to(SlackRescaling("angular", **options).wrap(exact.problem))
        solution = solve(SOLVERS["pairwise"], toy)
        assert_honest(toy, solution, slack_pairs(toy.pairs))
        assert solution.inexactness > 0.0


# ---- runs that go on -------------------------------------------------------------------------


@pytest.mark.parametrize("averaging", [False, True])
def test_a_run_that_goes_on_has_the_certificate_it_had(averaging):
    toy = bounding("chain", extra=0.01)
    solver = clone(SOLVERS["pairwise"]).set_params(averaging=averaging)
    first = solve(solver, toy).fit
    again = begin(solver, toy.problem, toy.regularizer(LAM), start=first.save())
    last, fresh = first.certificate, again.certificate
    assert fresh.primal == pytest.approx(last.primal, abs=1e-10)
    assert fresh.inexactness == pytest.approx(last.inexactness, abs=1e-10)
    assert again.reach(1e-2) is Status.CONVERGED
    again.reach(1e-4, max_iter=50)
    assert_honest(toy, again.solution(Status.CONVERGED))


# ---- words and numbers -----------------------------------------------------------------------


def test_the_parts_of_a_certificate():
    certificate = Certificate(None, 1.5, 1.0, 0.5, inexactness=1.5)
    assert (certificate.primal, certificate.gap) == (3.0, 2.0)
    assert np.isnan([UNKNOWN.primal, UNKNOWN.gap]).all()
    assert Tolerance(0.4).holds(certificate)
    assert not Tolerance(0.3).holds(certificate)


def test_what_oracles_prove_together_is_the_least():
    exact, bound = TOYS["chain"](61).problem, bounding("chain").problem
    nothing = bounding("chain", bounds=False).problem
    assert [Proof.of(problem) for problem in (nothing, bound, exact)] == sorted(Proof)
    assert list(History(Proof.BOUND, {}).as_dict())[-1] == "inexactness"
    assert "inexactness" not in History(Proof.NOTHING, {}).as_dict()


def test_what_is_told_of_a_fit_leaves_aside_what_passes_cannot_close(caplog):
    toy = bounding("chain", loose=30.0)
    with caplog.at_level("DEBUG", logger="sskit"):
        solution = solve(SOLVERS["pairwise"], toy, tol=1e-9, max_iter=3)
    assert ", inexactness " in caplog.text
    words = solution.compared(1e-9)
    assert words.endswith(", what the oracle may have missed aside, above tol=1e-09")
    told = float(words.split("gap of ")[1].split(",")[0])
    known = (solution.gap - solution.inexactness) / (solution.primal - solution.inexactness)
    assert told == pytest.approx(known, rel=0.01)
    assert told < 0.95 * solution.gap / solution.primal
