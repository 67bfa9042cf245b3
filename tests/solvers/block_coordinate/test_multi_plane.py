"""Multi-plane passes: laws on every toy, averages, and when stored and exact passes come."""

import itertools

import numpy as np
import pytest
from helpers import paper
from helpers.draws import BOTH, ORDERS, SAMPLING, draw
from helpers.laws import LAM, check_optimum, follow, solve_toy, start_run
from helpers.pairwise import every_pair
from helpers.toys import TOYS, chain_toy
from hypothesis import given, settings
from hypothesis import strategies as st
from sskit_probes.core_probe import planes_of
from sskit_probes.unreliable import UnreliableProblem

from sskit.core.regularizer import Regularizer
from sskit.core.sampler import PermutationSampler
from sskit.solvers import BCFW, MultiPlane
from sskit.solvers.block_coordinate import runs
from sskit.solvers.block_coordinate.runs import Schedule
from sskit.solvers.common.fit import ExactPassRule
from sskit.solvers.common.solution import Certificate, Tolerance
from sskit.solvers.oracle_calls.minibatch import visit_blocks

STEPS = ["fw", "pairwise", "away"]


def start(toy, box=None, averaging=False, **options):
    return start_run(MultiPlane(averaging=averaging, **options), toy, LAM, box)


@every_pair(
    name=TOYS,
    steps=STEPS,
    sampling=SAMPLING,
    bounded=BOTH,
    weighted=BOTH,
    block_steps=[1, 5],
    work=[1.0, 100.0],
    room=[{}, {"cache_size": 1e-9}, {"cache_size": 1e-3}, {"max_planes": 1}, {"max_planes": 2}],
)
def test_laws_and_optimum(
    name, steps, sampling, bounded, weighted, block_steps, work, room, monkeypatch
):
    """Also without room: then every plane goes after a pass, and its weight is that of plane 0."""
    toy, box = draw(name, 21, 5, weighted=weighted, bounded=bounded)
    monkeypatch.setattr(runs, "WORK_OF_CHEAP_ORACLE", work)
    run = start(toy, box, steps=steps, sampling=sampling, block_steps=block_steps, **room)
    most = room.get("max_planes", 0 if room == {"cache_size": 1e-9} else 99)

    def between(n, run):
        assert max(len(planes_of(run.dual, i)[0]) for i in range(5)) <= most

    # Plain steps are slow near the optimum, and so is sampling by gaps that are seldom renewed: how
    # far these come depends on how a machine rounds.
    exact = steps != "fw" and sampling in ORDERS and not room
    n_passes = 3000 if exact else 120 if room else 60
    certificate = follow(toy, run, n_passes, box=box, between=between, tol=1e-6)
    assert certificate.gap <= (1e-6 if exact else 0.1 if room else 4e-2)
    check_optimum(toy, certificate, box, tolerance=certificate.gap + 1e-8)


def test_without_stored_passes_it_is_bcfw():
    """The same iterates as BCFW that keeps its planes and makes no stored passes."""
    toy, options = chain_toy(29, n=8), {"tol": 0, "max_iter": 15, "random_state": 3}
    for steps, block_steps in itertools.product(STEPS, (1, 10)):
        given = {"steps": steps, "block_steps": block_steps, "averaging": False}
        one, other = (
            solve_toy(solver, toy, LAM, **options)
            for solver in (
                MultiPlane(max_stored_passes=0, **given),
                BCFW(sampling="permutation", stored_passes=0, cache=False, **given),
            )
        )
        np.testing.assert_allclose(one.w, other.w, atol=1e-12)
        assert one.n_oracle_calls == other.n_oracle_calls


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
        visit_blocks(run.updates[0], samplers[phase], 1)
        # a visit that promises nothing takes no step
        if (run.gaps, run.promises)[phase][i] > 0:
            v = np.array(run.regularizer.v)[: toy.pairs.d]
            found[phase].append((v, float(toy.pairs.c @ run.dual.losses())))
    return run, found


def average_of(points):
    return [paper.weighted_average([point[k] for point in points]) for k in range(2)]


@every_pair(name=TOYS, bounded=BOTH, block_steps=[1, 10])
def test_best_point_between_the_averages_of_both_kinds_of_iterates(name, bounded, block_steps):
    toy, box = draw(name, 33, 8, bounded=bounded)
    phases = [0] * 8 + [int(phase) for phase in np.random.default_rng(0).random(80) < 0.6]
    run, found = iterates(toy, box, block_steps, phases)
    assert min(map(len, found)) > 10
    one, other = map(average_of, found)
    v, loss = run.averager.average(run.regularizer, float(toy.pairs.c @ run.dual.losses()))
    # on the segment ..
    direction = other[0] - one[0]
    fraction = float((v - one[0]) @ direction / (direction @ direction))
    assert -1e-9 <= fraction <= 1 + 1e-9
    np.testing.assert_allclose(v, one[0] + fraction * direction, atol=1e-12)
    assert loss == pytest.approx(one[1] + fraction * (other[1] - one[1]), abs=1e-12)
    # .. and the best there
    between = (((1 - s) * one[k] + s * other[k] for k in range(2)) for s in np.linspace(0, 1, 2001))
    grid = [run.regularizer.dual(*point) for point in between]
    assert run.regularizer.dual(v, loss) >= max(grid) - 1e-9


# ---- how many stored passes follow, and when an exact pass comes ---------------------------------

# (increase of the dual, work) of the passes of one iteration, the one with the oracle first
GAINS = st.sampled_from([0.0, 1e-9, 0.1, 0.5, 1.0, 2.0]) | st.floats(0.0, 3.0)
PASSES = st.lists(st.tuples(GAINS, st.floats(0.01, 1.0)), min_size=1, max_size=12)


def n_passes_of(schedule, passes, start=0.0):
    """Stored passes that a schedule makes when passes increase the dual like this."""
    schedule.begin(start)
    value = start
    for n, (increase, work) in enumerate(passes):
        value += increase
        if not schedule.wants_stored_pass(value, work):
            return n
    return len(passes)


def n_stored_by_the_rule(passes, n_passes, oracle_work):
    """The same from the text of Shah et al. 2015, section 3.4, every sum anew."""
    increases = [increase for increase, _ in passes]
    asked = passes[0][1]
    works = [asked * oracle_work + 1.0 - asked, *(work for _, work in passes[1:])]
    for n in range(len(passes)):
        if n == n_passes:
            return n
        if n == 0:
            continue
        last = increases[n] / works[n]
        all_of_them = sum(increases[: n + 1]) / sum(works[: n + 1])
        if abs(last - all_of_them) < 1e-9 * max(last, all_of_them, 1e-9):
            return None  # a tie, which rounding decides
        if increases[n] <= 0.0 or last < all_of_them:
            return n
    return len(passes)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(PASSES, st.integers(0, 14), st.floats(0.1, 200.0), st.floats(0.0, 1e3))
def test_slope_schedule_keeps_to_the_rule(passes, n_passes, oracle_work, start):
    # the dual objective is known to 1e-16 of itself: increases far above that only
    passes = [(increase if increase > 1e-6 else 0.0, work) for increase, work in passes]
    expected = n_stored_by_the_rule(passes, n_passes, oracle_work)
    schedule = Schedule(n_passes, oracle_work)
    for _ in range(2):  # nothing is left from one iteration to the next
        assert expected is None or n_passes_of(schedule, passes, start) == expected
    # without work of an oracle the number is fixed
    assert n_passes_of(Schedule(n_passes), passes) == min(n_passes, len(passes))


def test_the_clock_counts_seconds_and_is_not_read_without_it(monkeypatch):
    """By the clock the oracle pass takes 4 s here and a stored pass 1 s, whatever they count."""
    now = iter([0.0, 4.0, 5.0, 6.0, 7.0])
    monkeypatch.setattr(runs.time, "perf_counter", lambda: next(now))
    passes = [(10.0, 99.0), (4.0, 0.01), (3.0, 99.0), (2.0, 0.01)]
    assert n_passes_of(Schedule(100, 1e9, clock=True), passes) == 3
    assert next(now, None) is None  # and the next reading would fail
    assert n_passes_of(Schedule(100, 4.0), [(1.0, 1.0)] * 3) == 1 + 2


def test_work_of_oracles_and_the_clock_of_a_run():
    problem, works = chain_toy().problem, []
    for one in (UnreliableProblem(problem, 0, costly=True), problem):
        solver, regularizer = MultiPlane(clock=one is problem), Regularizer(1.0, one.n_weights)
        schedule = solver.start(one, regularizer, np.random.RandomState(0)).schedule
        assert schedule.clock == (one is problem)
        works.append(schedule.oracle_work)
    assert works[0] > 10 * works[1]


# ---- exact passes ----------------------------------------------------------------------------


HALF = Tolerance(0.5)  # a gap up to the dual objective


def certificate(gap, dual=1.0):
    return Certificate(None, dual + gap, dual, gap)


def exact_passes(every, dual, estimates, gap_of):
    """Passes after which the rule asks for an exact one, whose gap is gap_of(estimate)."""
    rule, passes = ExactPassRule(every, HALF, np.inf), []
    for n, estimate in enumerate(estimates, start=1):
        if rule.due(n, estimate, lambda: dual):
            passes.append(n)
            rule.compare(estimate, certificate(gap_of(estimate), dual))
    return passes, rule


def test_when_exact_passes_come():
    assert exact_passes(4, 1e-3, [np.inf] * 13, lambda e: 1.0)[0] == [4, 8, 12]
    # when the ratio predicts the end: what a pass sees halves each time, the true gap is a quarter
    # of it, and 2^-n / 4 <= 1e-3 first holds for n = 8, the ninth pass
    passes, _ = exact_passes(5, 1e-3, [2.0**-n for n in range(20)], lambda e: e / 4)
    assert passes[:2] == [5, 9]
    # the first one finds 1.05 > target; the ratio stays below one, so the estimates predict
    # the end all the time, but one must be lower by a tenth than the last that was tried
    estimates = [1.0, 0.99, 0.95, 0.91, 0.9, 0.85, 0.82, 0.8]
    passes, rule = exact_passes(1000, 1.0, estimates, lambda e: 1.05)
    assert (passes, rule.ratio) == ([1, 5, 8], 1.0)
    for estimate in (4.2, 0.0, np.inf):  # the last two tell nothing
        rule.compare(estimate, certificate(1.05))
        assert rule.ratio == 0.25


def test_the_dual_objective_is_asked_for_only_where_it_may_decide():
    def not_called():
        raise AssertionError("it costs a pass over all weights")

    rule = ExactPassRule(10, HALF, 1.0)
    assert not rule.due(1, 0.6, not_called)  # P(0) is 1: no gap above .5 will do
    assert rule.due(10, 0.6, not_called)
    assert rule.due(2, 0.6, not_called, last=True)
    rule.compare(0.6, certificate(0.2, dual=0.1))  # now P(w) is .3
    assert not rule.due(11, 0.5, not_called)
    assert rule.due(12, 0.4, lambda: 0.15)
