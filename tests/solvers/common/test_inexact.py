"""Oracles that miss the maximum: what is known counts too, and bounds make certificates of gaps."""

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.draws import BOTH, draw
from helpers.laws import binding_box, solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.slack import slack_pairs
from helpers.solvers import LAST, SOLVERS
from helpers.toys import TOYS
from sklearn.base import clone
from sskit_probes.core_probe import DualProbe, mix_of, planes_of
from sskit_probes.unreliable import BoundingProblem, UnreliableProblem

from sskit.core.dual import DualState
from sskit.models.slack.model import SlackRescaling
from sskit.solvers import GDMM, CuttingPlane, SoftBCFW
from sskit.solvers.common.solution import (
    UNKNOWN,
    Certificate,
    Proof,
    Status,
    Tolerance,
    certify_weights,
)
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.testing.problem_checks import check_problem

LAM = 0.05
NAMES = ["chain", "multiclass"]
FACTORED = {"gdmm": GDMM(gap_every=1), "soft": SoftBCFW(gap_every=1)}
# How the oracle bounds what it misses.
EXCESS = {"true": {}, "loose": {"loose": 3.0, "extra": 0.01}}


def tired(name, n_passes, n=8):
    """A toy whose oracle answers well for some passes only."""
    toy = TOYS[name](61, n=n)
    return toy.bound_to(UnreliableProblem(toy.problem, n_passes * n))


def bounding(name, weighted=False, **how):
    """A toy whose oracle misses the maximum but bounds it."""
    toy, _ = draw(name, 61, 9, weighted=weighted)
    return toy.bound_to(BoundingProblem(toy.problem, **how))


def solve(solver, toy, box=None, **options):
    """A short fit."""
    solver = (SOLVERS | FACTORED)[solver] if isinstance(solver, str) else solver
    return solve_toy(solver, toy, LAM, box, **({"tol": 1e-2, "max_iter": 60} | options))


def box_for(solver, toy, bounded):
    bounded &= solver not in FACTORED and SOLVERS[solver].keeps_bounds
    return binding_box(toy.pairs.d) if bounded else None


# ---- oracles without bounds: what stored planes, mixes and the truth know counts ---------------


def best_known(toy, dual, i, w):
    """Best bound at w of the truth, the mix and the stored planes of block i, from scratch."""
    probe = DualProbe(toy.problem, dual)
    code, _, losses, _ = planes_of(dual, i)
    mix = mix_of(dual, i)[2] - toy.assemble(probe.mix(i), i) @ w
    planes = losses - [toy.assemble(probe.plane(i, row), i) @ w for row in code]
    return max([0.0, mix, *planes]), mix


@every_pair(name=NAMES, solver=LAST, n_jobs=[1, 2])
def test_gaps_are_those_of_the_best_known_planes(name, solver, n_jobs):
    toy = tired(name, 5)
    run = start_run(SOLVERS[solver], toy, LAM, n_passes=4)
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
            assert gaps[i] >= -1e-12
            missed += best > 1e-6
    assert missed > toy.pairs.n
    if solver in ("pairwise", "mpbcfw"):  # stored planes are solved all the same
        for _ in range(400):
            run.run_pass()
        assert run.certify(evaluator).gap <= (1e-9 if solver == "pairwise" else 1e-3)


@every_pair(name=NAMES, solver=[*LAST, "cuts", "cuts, undamped"], averaging=BOTH)
def test_a_tired_oracle_never_lowers_the_dual_nor_hides_the_gap(name, solver, averaging):
    toy, solver = tired(name, 6), clone(SOLVERS[solver])
    check_problem(tired(name, 1000).problem, 0)
    options = {"gap_every": 1, "averaging": averaging}
    solver.set_params(**{k: v for k, v in options.items() if k in solver.get_params()})
    solution = solve(solver, toy, tol=0, max_iter=12)
    assert not solution.certified and solution.inexactness == 0.0
    history = solution.history
    assert "inexactness" not in history
    assert (history["gap"] >= -1e-12).all()
    np.testing.assert_allclose(history["primal"] - history["dual"], history["gap"], atol=1e-10)
    assert averaging or (np.diff(history["dual"]) >= -1e-12).all()
    # an estimate from below, which cannot exceed the truth
    assert solution.primal <= toy.pairs.primal(toy.flat(solution.w), LAM) + 1e-10
    # lost would be all that the planes know: with the truth alone the hinges are zero
    assert solution.primal > LAM / 2 * float(solution.w @ solution.w) + 0.01


# ---- oracles that bound what they miss: gaps are certificates, against enumeration -------------


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
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-10)
    # what is known is below the truth
    assert solution.primal - solution.inexactness <= primal + 1e-10 + 1e-15 * solution.primal
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


@every_pair(solver=[*SOLVERS, *FACTORED], name=NAMES, how=EXCESS, bounded=BOTH, weighted=BOTH)
def test_every_gap_is_a_certificate(solver, name, how, bounded, weighted):
    if solver in FACTORED:
        name, bounded = "chain", False
    toy = bounding(name, weighted, **EXCESS[how])
    box = box_for(solver, toy, bounded)
    solution = solve(solver, toy, box)
    assert_honest(toy, solution, box=box)
    assert how == "true" or solution.inexactness > 0.005
    if solution.status is Status.CONVERGED:
        known = solution.gap - solution.inexactness
        primal = solution.primal - solution.inexactness
        assert known <= Tolerance(1e-2, solution.unit).gap_at(primal) * (1 + 1e-12)


@pytest.mark.parametrize(("solver", "n_jobs"), in_turn(SOLVERS, [1, 2]))
def test_a_fit_ends_by_what_is_found(solver, n_jobs):
    """Where the bounds stay wide the fit ends all the same, after the same passes."""
    tight, wide = (
        solve(solver, bounding("chain", loose=loose), n_jobs=n_jobs, max_iter=400)
        for loose in (1.0, 30.0)
    )
    np.testing.assert_array_equal(tight.w, wide.w)
    for field in ("n_iter", "status", "dual", "certified"):
        assert getattr(tight, field) == getattr(wide, field)
    assert tight.certified
    assert solver in ("ssg", "ssg, last", "fw") or tight.status is Status.CONVERGED
    assert wide.inexactness >= tight.inexactness
    known = wide.primal - wide.inexactness
    assert known == pytest.approx(tight.primal - tight.inexactness, abs=1e-12)


@every_pair(solver=sorted(SOLVERS.keys() - {"auto"}), name=NAMES, bounded=BOTH, n_jobs=[1, 2])
def test_without_excess_every_bit_is_that_of_an_exact_oracle(solver, name, bounded, n_jobs):
    exact = TOYS[name](61, n=9)
    toy = exact.bound_to(BoundingProblem(exact.problem, fraction=1.0))
    box = box_for(solver, toy, bounded)
    assert not toy.problem.exact
    ours, theirs = (solve(solver, t, box, n_jobs=n_jobs) for t in (toy, exact))
    np.testing.assert_array_equal(ours.w, theirs.w)
    for field in ("primal", "dual", "gap", "unit", "n_iter", "n_oracle_calls", "certified"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert ours.inexactness == 0.0 == theirs.inexactness
    assert not ours.history["inexactness"].any()
    assert "inexactness" not in theirs.history
    for column in ("primal", "dual", "gap"):
        np.testing.assert_array_equal(ours.history[column], theirs.history[column])


def test_what_oracles_and_searches_prove():
    exact, bound = TOYS["chain"](61).problem, bounding("chain").problem
    nothing = bounding("chain", bounds=False).problem
    assert [Proof.of(problem) for problem in (nothing, bound, exact)] == sorted(Proof)
    for search, tol, bounds in [
        ("exact", 0.0, False), ("angular", 0.0, False), ("angular", 0.2, True),
        ("bisecting", 0.0, True),
    ]:  # fmt: skip
        problem = SlackRescaling(search, tol=tol).wrap(exact)
        assert (problem.bounds, problem.exact) == (bounds, not bounds)
    certificate = Certificate(None, 1.5, 1.0, 0.5, inexactness=1.5)
    assert (certificate.primal, certificate.gap) == (3.0, 2.0)
    assert np.isnan([UNKNOWN.primal, UNKNOWN.gap]).all()
    assert Tolerance(0.4).holds(certificate)
    assert not Tolerance(0.3).holds(certificate)


@pytest.mark.parametrize(("name", "n_jobs"), in_turn(NAMES, [1, 2]))
def test_the_inexact_part_is_what_is_between_the_bounds_and_what_is_known(name, n_jobs):
    """The best of answer, truth, stored planes and mix is known; the upper bounds stay."""
    toy = bounding(name, extra=0.01)
    run = start_run(SOLVERS["pairwise"], toy, LAM, n_passes=5)
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
            assert known.hinges()[i] - 1e-12 <= toy.pairs.hinge(i, w) <= upper[i] + 1e-12
            # without extra, what is proved best
            assert i % 3 or bare.excesses()[i] == 0.0
    assert better


def test_answers_below_the_truth_and_weights_alone_have_bounds():
    """The hinge is 0 then, and the upper bound that of the answer."""
    toy, rng = bounding("multiclass", fraction=0.0), np.random.default_rng(3)
    for scale, known in ((5.0, None), (0.1, None), (0.1, DualState(toy.problem))):
        w = scale * rng.normal(size=toy.pairs.d)
        certificate = certify_weights(
            toy.problem, toy.regularizer(LAM), toy.unflat(w), 0.1, make_pool(toy.problem), known
        )
        primal = toy.pairs.primal(w, LAM)
        # its bounds are tight here
        assert certificate.primal == pytest.approx(primal, abs=1e-12)
        assert certificate.gap == pytest.approx(primal - 0.1, abs=1e-12)
        assert certificate.inexactness == pytest.approx(missed(toy, toy.unflat(w)), abs=1e-12)
        assert scale == 5.0 or certificate.known_primal < primal


@pytest.mark.parametrize("cuts", ["linear", "constant"])
def test_sampled_cuts_estimate_the_inexact_part(cuts):
    toy = bounding("chain", extra=0.02)
    solution = solve(CuttingPlane(cuts=cuts, cut_size=40), toy, max_iter=200)
    assert not solution.certified
    assert solution.inexactness == pytest.approx(missed(toy, solution.w), abs=0.05)
    assert solution.inexactness >= 0.02 * 6 / 9 * 0.7
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-10)
    if cuts == "linear":
        assert solution.primal >= toy.pairs.primal(toy.flat(solution.w), LAM) - 1e-10


@every_pair(name=NAMES, how=[None, *EXCESS])
def test_bisecting_bounds_the_product(name, how):
    """With an exact oracle behind them, and with one that misses the maximum and bounds it."""
    toy = TOYS[name](61, n=9) if how is None else bounding(name, **EXCESS[how])
    toy = toy.bound_to(SlackRescaling("bisecting").wrap(toy.problem))
    pairs, rng = slack_pairs(toy.pairs), np.random.default_rng(0)
    assert toy.problem.bounds and toy.problem.fork().bounds and not toy.problem.exact
    for scale in (0.0, 0.1, 1.0, 10.0):
        w = rng.normal(scale=scale, size=pairs.d)
        padded = toy.regularizer(LAM).padded(toy.unflat(w))
        for loss_weight in (1.0, 0.0):
            answers = make_pool(toy.problem).evaluate(padded, None, loss_weight)
            for i in range(pairs.n):
                best = (loss_weight * pairs.loss[i] - pairs.psi[i] @ w).max(initial=0.0)
                hinge, excess = answers.hinges()[i], answers.excesses()[i]
                assert hinge - 1e-9 <= best <= hinge + excess + 1e-9
    assert_honest(toy, solve("pairwise", toy), pairs)
    if how is None and name == "chain":  # other searches that end early bound the rest
        for options in ({"tol": 0.3}, {"max_queries": 2}):
            wrapped = SlackRescaling("angular", **options).wrap(TOYS[name](61, n=9).problem)
            solution = solve("pairwise", toy.bound_to(wrapped))
            assert_honest(toy, solution, pairs)
            assert solution.inexactness > 0.0


def test_what_is_told_of_a_fit_leaves_aside_what_passes_cannot_close(caplog):
    toy = bounding("chain", loose=30.0)
    with caplog.at_level("DEBUG", logger="sskit"):
        solution = solve("pairwise", toy, tol=1e-9, max_iter=3)
    assert ", inexactness " in caplog.text
    words = solution.compared(1e-9)
    assert words.endswith(", what the oracle may have missed aside, above tol=1e-09")
    told = float(words.split("gap of ")[1].split(",")[0])
    known = (solution.gap - solution.inexactness) / (solution.primal - solution.inexactness)
    assert told == pytest.approx(known, rel=0.01)
    assert told < 0.95 * solution.gap / solution.primal
