"""Laws that hold for every solver, model, form of features, box, weighting, number of threads."""

import numpy as np
import pytest
from helpers.draws import BOTH, draw
from helpers.laws import check_optimum, check_solution, follow, solve_toy, start_run
from helpers.objectives import log_optimum, log_primal
from helpers.pairwise import every_pair
from helpers.qp import solve_primal
from helpers.solvers import LAST, LIKELIHOOD, SAMPLED, SOLVERS, bound_for
from helpers.toys import FIRST, FORMS, TOYS, rebind
from sklearn.base import clone

from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW
from sskit.solvers.block_coordinate import rounds
from sskit.solvers.common.solution import Status
from sskit.solvers.oracle_calls.pool import make_pool
from sskit.solvers.quasi_newton import lbfgs
from sskit.testing.probe import ProblemProbe

LAM = 0.2
SAMPLING = ["permutation", "uniform", "gap", "max_gap"]
# Their threads only ask oracles: how many there are decides nothing.
ASKING = ("plain, batches", "pairwise, batches", "fw", "cuts", "cuts, undamped", *SAMPLED)
SEQUENCES, EG = ("chain", "segments", "second chain"), LIKELIHOOD["eg"]
COLUMNS = ("n_passes", "n_oracle_calls", "primal", "dual", "gap")


def solve(solver, toy, box=None, **options):
    options = {"tol": 0, "max_iter": 15, "random_state": 0} | options
    known = SOLVERS | SAMPLED | LIKELIHOOD
    solver = known[solver] if isinstance(solver, str) else solver
    return solve_toy(solver, toy, LAM, box, **options)


@every_pair(solver=SOLVERS, name=TOYS, form=FORMS, bounded=BOTH, weighted=BOTH, n_jobs=[1, 2])
def test_the_optimum_is_bracketed(solver, name, form, bounded, weighted, n_jobs):
    bounded &= SOLVERS[solver].keeps_bounds
    toy, box = draw(name, 41, 8, form=form, weighted=weighted, bounded=bounded)
    _, optimum = solve_primal(toy.pairs, LAM, box)
    inside = []

    def on_pass(n_iter, weights):
        w = toy.flat(weights())
        inside.append(box is None or bool(((w >= box[0]) & (w <= box[1])).all()))

    solution = solve(solver, toy, box, tol=5e-3, max_iter=500, n_jobs=n_jobs, on_pass=on_pass)
    on_pass(None, lambda: solution.w)
    assert all(inside)
    w, history = toy.flat(solution.w), solution.history
    check_solution(toy, solution, LAM, optimum=optimum)
    assert solution.unit == pytest.approx(toy.pairs.primal(np.zeros(toy.pairs.d), LAM), abs=1e-12)
    assert (history["gap"] >= -1e-12).all()
    assert (history["dual"] <= optimum + 1e-8).all()
    assert (history["primal"] >= optimum - 1e-8).all()
    # slow ones may need more passes than they got, but all come near
    assert solution.gap <= (0.3 if solver == "ssg, last" else 0.1) * solution.unit
    if solver in LAST:
        dual = toy.dual(solution.fit.run.dual, LAM, box)
        assert solution.gap == pytest.approx(toy.pairs.primal(w, LAM) - dual, abs=1e-10)


@every_pair(
    solver=LIKELIHOOD,
    name=["chain", "multiclass"],
    form=FORMS,
    weighted=BOTH,
    with_prior=BOTH,
    bounded=BOTH,
    n_jobs=[1, 2],
    single=BOTH,
)
def test_the_optimum_of_a_likelihood_is_bracketed(
    solver, name, form, weighted, with_prior, bounded, n_jobs, single, monkeypatch
):
    monkeypatch.setattr(lbfgs, "MANY_WEIGHTS", 0 if single else 2**20)
    toy, box = draw(name, 3, 8, form=form, weighted=weighted, bounded=bounded)
    toy = bound_for(LIKELIHOOD[solver], toy)
    prior = np.random.default_rng(5).normal(size=toy.pairs.d) if with_prior else np.zeros(1)
    regularizer, exact = toy.regularizer(0.05, box), solver != "eg"
    if with_prior:
        regularizer.set_prior(toy.unflat(prior))
    solution = LIKELIHOOD[solver].solve(
        toy.problem, regularizer, tol=1e-9 if exact else 1e-6, max_iter=3000, n_jobs=n_jobs,
        random_state=0,
    )  # fmt: skip
    assert solution.status is Status.CONVERGED and solution.certified
    pairs = None if box is None else list(zip(*box, strict=True))
    optimum, history = log_optimum(toy, 0.05, prior, pairs), solution.history
    w = toy.flat(solution.w)
    assert box is None or ((box[0] <= w) & (w <= box[1])).all()
    value, slope = log_primal(toy, toy.flat(solution.w), 0.05, prior)
    assert solution.primal == pytest.approx(value, abs=1e-12)
    assert solution.gap == pytest.approx(value - solution.dual, abs=1e-10)
    at_zero, _ = log_primal(toy, np.zeros(toy.pairs.d), 0.05)
    assert solution.unit == pytest.approx(at_zero, abs=1e-12)
    assert (history["dual"] <= optimum + 1e-9).all()
    assert (history["primal"] >= optimum - 1e-9).all()
    assert (np.diff(history["dual"]) >= -1e-9).all()
    if exact:
        assert (np.diff(history["primal"]) <= 1e-13).all()
        assert solution.gap <= slope @ slope / (2 * 0.05) + 1e-14
        assert len(history["gap"]) == solution.n_iter
        # one more sum for the objective at zero, and at a prior or the nearest point of the box
        at = prior if box is None else np.clip(prior, *box)
        n_sums = solution.n_iter + 1 + bool(at.any() or with_prior)
        assert solution.n_oracle_calls == n_sums * toy.pairs.n


@every_pair(
    together="options",
    name=TOYS,
    steps=["fw", "pairwise", "away"],
    sampling=SAMPLING,
    bounded=BOTH,
    cache=BOTH,
    block_steps=[1, 20],
    stored_passes=[0, 3],
    batch_size=[1, 4],
    n_jobs=[1, 2, 3],
    most_compared=[0, 32768],
)
def test_runs_keep_their_laws_and_end_at_the_optimum(options, monkeypatch):
    monkeypatch.setattr(rounds, "MOST_COMPARED", options.pop("most_compared"))
    name, bounded, n_jobs = (options.pop(key) for key in ("name", "bounded", "n_jobs"))
    steps, sampling = options["steps"], options["sampling"]
    n = 7 if n_jobs == 1 else 4 * n_jobs
    toy, box = draw(name, 21, n, weighted=options["block_steps"] == 1, bounded=bounded)
    run = start_run(BCFW(averaging=False, **options), toy, LAM, box, n_jobs=n_jobs)
    assert len(run.updates) == (n_jobs if options["batch_size"] == 1 else 1)
    if steps == "fw":
        certificate, tolerance = follow(toy, run, 300, lam=LAM, box=box, tol=1e-5), 0.1
        _, optimum = solve_primal(toy.pairs, LAM, box)
        assert certificate.dual - 1e-9 <= optimum <= certificate.primal + 1e-9
    else:
        # the largest stale gap may be asked for long before others; rounding decides how long
        tolerance = 1e-6 if sampling != "max_gap" else 2e-6 if name in FIRST else 1e-5
        certificate = follow(toy, run, 6000, lam=LAM, box=box, rounding=1e-11, tol=1e-6)
        check_optimum(toy, certificate, box, LAM, tolerance=tolerance)
    assert certificate.gap <= tolerance
    if len(run.updates) > 1:
        dual = toy.dual(run.dual, LAM, box)
        assert run.rounds.increase <= dual + 1e-10
        if not bounded and steps != "fw":
            assert run.rounds.increase == pytest.approx(dual, abs=1e-9)


@every_pair(name=TOYS, lam=[1e-3, 100.0], bounded=BOTH)
def test_the_dual_never_falls_at_any_lam(name, lam, bounded):
    toy, box = draw(name, 15, 8, bounded=bounded)
    run = start_run(BCFW(steps="fw", sampling="permutation", averaging=False), toy, lam, box)
    before = toy.dual(run.dual, lam, box)
    follow(toy, run, 30, lam=lam, box=box)
    assert toy.dual(run.dual, lam, box) > before


@every_pair(
    name=TOYS,
    solver=["plain", "plain, batches", "pairwise", "away, averaging", "mpbcfw"],
    bounded=BOTH,
)
def test_averaging_returns_the_better_of_the_two(name, solver, bounded):
    toy, box = draw(name, 25, weighted=True, bounded=bounded)
    last, better = (
        solve(clone(SOLVERS[solver]).set_params(averaging=averaging, gap_every=2), toy, box)
        for averaging in (False, True)
    )
    assert better.primal <= last.primal + 1e-12
    assert better.dual >= last.dual - 1e-12
    assert better.primal == pytest.approx(toy.pairs.primal(toy.flat(better.w), LAM), abs=1e-11)
    assert better.gap == pytest.approx(better.primal - better.dual, abs=1e-11)


@every_pair(solver=SOLVERS | SAMPLED | {"eg": EG}, name=TOYS, n_jobs=[(1, None), (2, 2)])
def test_seed_and_number_of_jobs_fix_every_bit(solver, name, n_jobs):
    toy, n_jobs = draw(name, 41, 9)[0], (1, 2, 3) if solver in ASKING else n_jobs
    if solver == "eg":
        toy = bound_for(EG, draw("chain" if name in SEQUENCES else "multiclass", 41, 9)[0])
    first, *others = (
        solve(solver, toy, max_iter=8, random_state=7, n_jobs=number) for number in n_jobs
    )
    for other in others:
        np.testing.assert_array_equal(other.w, first.w)
        for column in COLUMNS:
            np.testing.assert_array_equal(other.history[column], first.history[column])
        assert other.gap == first.gap
    again = solve(solver, toy, max_iter=8, random_state=8, n_jobs=n_jobs[0])
    draws = solver not in ("fw", "cuts", "cuts, undamped")
    assert draws == (again.history["gap"].tolist() != first.history["gap"].tolist())


@pytest.mark.parametrize("name", TOYS)
def test_a_weight_of_k_is_k_copies_and_none_is_removal(name):
    weights = np.array([2, 0, 1, 3, 0, 1])
    toy = TOYS[name](43, n=6, weights=weights)
    copies = np.repeat(np.arange(6), weights)
    truths = [ProblemProbe(toy.problem).truth(i) for i in copies]
    other = rebind(name, [toy.X[i] for i in copies], truths, 3)
    rng = np.random.default_rng(0)
    for scale in (0.0, 0.1, 1.0):
        regularizer = Regularizer(LAM, toy.pairs.d)
        w = regularizer.padded(rng.normal(scale=scale, size=toy.pairs.d))
        problems = toy.problem, other.problem
        hinges = [np.dot(p.block_weight, make_pool(p).hinges(w)) for p in problems]
        assert hinges[0] == pytest.approx(hinges[1], rel=1e-13)
    _, optimum = solve_primal(other.pairs, LAM)
    for t in (toy, other):
        solution = solve("pairwise", t, tol=5e-3, max_iter=1000)
        assert solution.dual - 1e-9 <= optimum <= solution.primal + 1e-9
        assert solution.gap <= 5e-3 * max(solution.unit, 1.0)
