"""How many stored passes follow a pass with the oracle, and when an exact pass comes."""

import numpy as np
from helpers.toys import chain_toy
from hypothesis import given, settings
from hypothesis import strategies as st
from sskit_probes.unreliable import UnreliableProblem

from sskit.core.regularizer import Regularizer
from sskit.solvers import MultiPlane
from sskit.solvers.block_coordinate import runs as schedule_module
from sskit.solvers.block_coordinate.runs import Schedule
from sskit.solvers.common.fit import ExactPassRule
from sskit.solvers.common.solution import Certificate, Tolerance

# (increase of the dual, work) of the passes of one iteration, the one with the oracle first
GAINS = st.sampled_from([0.0, 1e-9, 0.1, 0.5, 1.0, 2.0]) | st.floats(0.0, 3.0)
PASSES = st.lists(st.tuples(GAINS, st.floats(0.01, 1.0)), min_size=1, max_size=12)


def n_stored(schedule, passes, start=0.0):
    """Stored passes that a schedule makes when passes increase the dual like this."""
    schedule.begin(start)
    value = start
    for n, (increase, work) in enumerate(passes):
        value += increase
        if not schedule.another(value, work):
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
        assert expected is None or n_stored(schedule, passes, start) == expected
    # without work of an oracle the number is fixed
    assert n_stored(Schedule(n_passes), passes) == min(n_passes, len(passes))


def test_the_clock_counts_seconds_and_is_not_read_without_it(monkeypatch):
    """By the clock the oracle pass takes 4 s here and a stored pass 1 s, whatever they count."""
    now = iter([0.0, 4.0, 5.0, 6.0, 7.0])
    monkeypatch.setattr(schedule_module.time, "perf_counter", lambda: next(now))
    passes = [(10.0, 99.0), (4.0, 0.01), (3.0, 99.0), (2.0, 0.01)]
    assert n_stored(Schedule(100, 1e9, clock=True), passes) == 3
    assert next(now, None) is None  # and the next reading would fail
    assert n_stored(Schedule(100, 4.0), [(1.0, 1.0)] * 3) == 1 + 2


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


def found(gap, dual=1.0):
    return Certificate(None, dual + gap, dual, gap)


def exact_passes(every, dual, estimates, gap_of):
    """Passes after which the rule asks for an exact one, whose gap is gap_of(estimate)."""
    rule, passes = ExactPassRule(every, HALF, np.inf), []
    for n, estimate in enumerate(estimates, start=1):
        if rule.due(n, estimate, lambda: dual):
            passes.append(n)
            rule.learn(estimate, found(gap_of(estimate), dual))
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
        rule.learn(estimate, found(1.05))
        assert rule.ratio == 0.25


def test_the_dual_objective_is_asked_for_only_where_it_may_decide():
    def not_called():
        raise AssertionError("it costs a pass over all weights")

    rule = ExactPassRule(10, HALF, 1.0)
    assert not rule.due(1, 0.6, not_called)  # P(0) is 1: no gap above .5 will do
    assert rule.due(10, 0.6, not_called)
    assert rule.due(2, 0.6, not_called, last=True)
    rule.learn(0.6, found(0.2, dual=0.1))  # now P(w) is .3
    assert not rule.due(11, 0.5, not_called)
    assert rule.due(12, 0.4, lambda: 0.15)
