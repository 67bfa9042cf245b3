"""Multi-plane passes: laws on every toy, and what their options do."""

import itertools

import numpy as np
import pytest
from helpers import paper
from helpers.laws import (
    LAM,
    binding_box,
    check_dual_point,
    check_optimum,
    follow,
    solve_toy,
    start_run,
)
from helpers.pairwise import every_pair
from helpers.toys import TOYS, chain_toy
from sskit_probes.core_probe import planes_of

from sskit.core.sampler import PermutationSampler
from sskit.solvers import BCFW, MultiPlane
from sskit.solvers.block_coordinate import runs
from sskit.solvers.oracle_calls.minibatch import run_pass

STEPS = ["fw", "pairwise", "away"]
SAMPLING = ["permutation", "uniform", "gap", "max_gap"]


def start(toy, box=None, *, lam=LAM, seed=0, averaging=False, **options):
    return start_run(MultiPlane(averaging=averaging, **options), toy, lam, box, seed=seed)


def solve(toy, solver, box=None, **options):
    options = {"tol": 0, "max_iter": 15, "random_state": 3} | options
    return solve_toy(solver, toy, LAM, box, **options)


@every_pair(
    name=TOYS,
    steps=STEPS,
    sampling=SAMPLING,
    bounded=[False, True],
    weighted=[False, True],
    block_steps=[1, 5],
    work=[1.0, 100.0],
)
def test_laws_and_optimum(name, steps, sampling, bounded, weighted, block_steps, work, monkeypatch):
    weights = np.random.default_rng(3).uniform(0.2, 3.0, size=7) if weighted else None
    toy = TOYS[name](21, n=7, weights=weights)
    box = binding_box(toy.pairs.d) if bounded else None
    monkeypatch.setattr(runs, "WORK_OF_CHEAP_ORACLE", work)
    run = start(toy, box, steps=steps, sampling=sampling, block_steps=block_steps)
    # Plain steps are slow near the optimum, and so is sampling by gaps that are seldom renewed: how
    # far these come depends on how a machine rounds.
    exact = steps != "fw" and sampling in ("permutation", "uniform")
    certificate = follow(toy, run, 3000 if exact else 60, box=box)
    assert certificate.gap <= (1e-6 if exact else 4e-2)
    check_optimum(toy, certificate, box, tolerance=certificate.gap + 1e-8)


@every_pair(
    name=TOYS,
    steps=STEPS,
    options=[{"cache_size": 1e-9}, {"cache_size": 1e-3}, {"max_planes": 1}, {"max_planes": 2}],
)
def test_without_room_it_still_converges(name, steps, options):
    """Every plane goes after every pass, or most: their weight is that of plane 0."""
    toy = TOYS[name](31, n=7)
    run, kept = start(toy, steps=steps, **options), []

    def between(n, run):
        kept.append(max(len(planes_of(run.dual, i)[0]) for i in range(7)))

    certificate = follow(toy, run, 200, between=between, tol=1e-5)
    no_room = options == {"cache_size": 1e-9}
    assert max(kept) <= options.get("max_planes", 0 if no_room else 99)
    assert certificate.gap < (3e-2 if steps == "fw" or no_room else 1e-2)


def test_budget_of_a_fit_without_room():
    toy = chain_toy(32, n=7)
    for solver in (BCFW(), BCFW(cache=True, sampling="gap"), MultiPlane()):
        solution = solve(toy, solver.set_params(cache_size=1e-9), tol=0.05, max_iter=1000)
        assert solution.gap <= 0.05 * solution.unit
        assert all(len(planes_of(solution.fit.run.dual, i)[0]) == 0 for i in range(7))


def n_passes_of(toy, monkeypatch, *, seconds, **options):
    """Visits of the first four iterations by a clock that adds `seconds` at every call."""
    time, visits = itertools.count(0.0, seconds), []
    monkeypatch.setattr(runs.time, "perf_counter", lambda: next(time))
    run = start(toy, block_steps=1, **options)
    begin_pass = run.schedule.another
    run.schedule.another = lambda *args: visits.append(begin_pass(*args)) or visits[-1]
    for _ in range(4):
        run.run_pass()
    check_dual_point(toy, run.dual)
    return visits, run


def test_only_clock_hangs_on_the_clock(monkeypatch):
    toy = chain_toy(28, n=8)
    counted = [n_passes_of(toy, monkeypatch, seconds=s)[0] for s in (1e-9, 1.0)]
    assert counted[0] == counted[1]
    # equal times for all passes, however fast they are: as if the oracle's work were one,
    # but a stored pass that leaves out blocks counts in full
    timed, run = n_passes_of(toy, monkeypatch, seconds=1.0, clock=True)
    monkeypatch.setattr(runs, "WORK_OF_CHEAP_ORACLE", 1e9)
    assert timed != n_passes_of(toy, monkeypatch, seconds=1.0)[0]
    assert any(timed)
    monkeypatch.undo()
    check_optimum(toy, follow(toy, start(toy, steps="pairwise", clock=True), 3000))
    solution = solve(toy, MultiPlane(clock=True), tol=0.02, max_iter=500)
    assert solution.gap <= 0.02 * solution.unit


def test_without_stored_passes_it_is_bcfw():
    """The same iterates as BCFW that keeps its planes and makes no stored passes."""
    toy = chain_toy(29, n=8)
    for steps, block_steps in itertools.product(STEPS, (1, 10)):
        ours = MultiPlane(
            steps=steps, max_stored_passes=0, block_steps=block_steps, averaging=False
        )
        theirs = BCFW(
            steps=steps, sampling="permutation", stored_passes=0, block_steps=block_steps,
            cache=False, averaging=False,
        )  # fmt: skip
        one, other = solve(toy, ours), solve(toy, theirs)
        np.testing.assert_allclose(one.w, other.w, atol=1e-12)
        assert one.n_oracle_calls == other.n_oracle_calls


def test_a_longer_oracle_gets_more_stored_passes(monkeypatch):
    toy, solutions = chain_toy(30, n=8), []
    for work in (0.01, 1000.0):
        monkeypatch.setattr(runs, "WORK_OF_CHEAP_ORACLE", work)
        solver = MultiPlane(averaging=False, block_steps=1)
        solutions.append(solve(toy, solver, max_iter=8))
    assert solutions[1].dual > solutions[0].dual


# ---- averages --------------------------------------------------------------------------------


def iterates(toy, box, block_steps, phases):
    """Visit single blocks; the run, and (v, mean loss) of the two kinds of iterates."""
    run = start(toy, box, averaging=True, block_steps=block_steps)
    twins = np.random.RandomState(5), np.random.RandomState(6)
    samplers = [PermutationSampler(toy.pairs.n, np.random.RandomState(seed)) for seed in (5, 6)]
    found = ([], [])
    for phase in phases:
        run.begin_pass(stored=bool(phase))
        i = twins[phase].permutation(toy.pairs.n)[0]
        samplers[phase].begin_pass(1)
        run_pass(run.updates[0], samplers[phase], 1)
        # a visit that promises nothing takes no step
        if (run.gaps, run.promises)[phase][i] > 0:
            v = np.array(run.regularizer.v)[: toy.pairs.d]
            found[phase].append((v, float(toy.pairs.c @ run.dual.losses())))
    return run, found


@every_pair(name=TOYS, bounded=[False, True], block_steps=[1, 10])
def test_best_point_between_the_averages_of_both_kinds_of_iterates(name, bounded, block_steps):
    toy = TOYS[name](33, n=8)
    box = binding_box(toy.pairs.d) if bounded else None
    rng = np.random.default_rng(0)
    phases = [0] * 8 + [int(phase) for phase in rng.random(80) < 0.6]
    run, found = iterates(toy, box, block_steps, phases)
    assert min(map(len, found)) > 10
    ends = [
        [paper.weighted_average([point[k] for point in points]) for k in range(2)]
        for points in found
    ]
    losses = float(toy.pairs.c @ run.dual.losses())
    v, loss = run.averager.average(run.regularizer, losses)
    # on the segment ..
    direction = ends[1][0] - ends[0][0]
    fraction = float((v - ends[0][0]) @ direction / (direction @ direction))
    assert -1e-9 <= fraction <= 1 + 1e-9
    np.testing.assert_allclose(v, ends[0][0] + fraction * direction, atol=1e-12)
    assert loss == pytest.approx(ends[0][1] + fraction * (ends[1][1] - ends[0][1]), abs=1e-12)
    # .. and the best there
    grid = [
        run.regularizer.dual(*((1 - s) * ends[0][k] + s * ends[1][k] for k in range(2)))
        for s in np.linspace(0, 1, 2001)
    ]
    assert run.regularizer.dual(v, loss) >= max(grid) - 1e-9


def test_one_kind_of_iterates_is_an_average_of_its_own():
    toy = chain_toy(34, n=8)
    for phase in (0, 1):
        run, found = iterates(toy, None, 1, [phase] * 30)
        losses = float(toy.pairs.c @ run.dual.losses())
        average = run.averager.average(run.regularizer, losses)
        if phase == 1:  # nothing is stored yet but the truths
            assert (found, average) == (([], []), None)
            continue
        for k in range(2):
            expected = paper.weighted_average([point[k] for point in found[0]])
            np.testing.assert_allclose(average[k], expected, atol=1e-12)
