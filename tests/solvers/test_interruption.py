"""Fits that end early: at every check a whole dual point, a true certificate or none."""

import itertools
import threading

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.factors import from_scratch
from helpers.interruption import PressedStop
from helpers.laws import check_dual_point, check_solution, solve_toy
from helpers.qp import solve_primal
from helpers.solvers import SAMPLED, SOLVERS
from helpers.structures import Classes, bind
from helpers.toys import TOYS, chain_toy

from sskit.core.regularizer import Regularizer
from sskit.core.stop import Stop
from sskit.solvers import BCFW, GDMM, SoftBCFW
from sskit.solvers.common.solution import Status

pytestmark = pytest.mark.usefixtures("own_handler")

LAM = 0.1
# of the first passes, with those over stored planes; more than one batch, more than one pass
MOMENTS = range(1, 31)
AVERAGED = ("plain, averaging", "mpbcfw, away")
BLOCKS = ["plain", "plain, batches", "auto", "pairwise, batches", "cache", "fw", *AVERAGED]
OTHERS = ["ssg", "ssg, last", "cuts", "linear"]
CUTS = ("cuts", "linear")
FACTORS = {"gdmm": GDMM(), "gdmm, afw": GDMM(method="afw"), "soft": SoftBCFW()}
SAMPLES = ["constant"]
SOLVERS = SOLVERS | SAMPLED | FACTORS


def solve(kind, toy, *moments, stop=None, **options):
    """The solution of a fit in which Ctrl-C is pressed, and what pressed it."""
    stop = PressedStop(*moments) if stop is None else stop
    options |= {"tol": 0, "max_iter": 6}
    with stop:
        return solve_toy(SOLVERS[kind], toy, LAM, stop=stop, **options), stop


def interrupted(kind, toy, moment):
    """A fit that ends at once, and says what an interrupted fit says."""
    solution, stop = solve(kind, toy, moment)
    assert solution.status is Status.INTERRUPTED
    assert stop.n_pass_looks == moment
    history = solution.history
    assert history["n_passes"][-1] == solution.n_iter >= 1
    for name in ("n_oracle_calls", "primal", "dual", "gap"):
        assert history[name][-1] == getattr(solution, name)
    return solution


def check_uncertified(kind, toy, *moments):
    """A fit that ends without a certificate, and says so."""
    solution, stop = solve(kind, toy, *moments)
    assert solution.status is Status.UNCERTIFIED
    assert "it is not certified" in solution.status.value
    assert not solution.certified
    assert np.isnan([solution.primal, solution.dual, solution.gap]).all()
    return solution, stop


@pytest.mark.parametrize(
    ("kind", "name"),
    in_turn(BLOCKS, ["chain", "multiclass"], 2)
    + in_turn(OTHERS, ["chain", "multiclass"])
    + [(kind, "chain") for kind in [*FACTORS, *SAMPLES]],
)
def test_at_every_look_there_are_bounds_and_a_dual_point_if_the_solver_has_one(kind, name):
    toy, before = TOYS[name](61, n=8 if kind in SAMPLES else 5), -np.inf
    optimum = solve_primal(toy.pairs, LAM)[1]
    whole, stop = solve(kind, toy)
    moments = (1, 3, 5) if kind in SAMPLES else MOMENTS if kind in BLOCKS else MOMENTS[:17]
    for moment in [m for m in moments if kind not in BLOCKS or m < stop.n_pass_looks]:
        solution = interrupted(kind, toy, moment)
        if kind in SAMPLES:  # one that is cut short is left out
            assert not solution.certified and np.isfinite(solution.primal)
        elif kind == "linear":  # whose bound holds with high probability only
            primal = toy.pairs.primal(toy.flat(solution.w), LAM)
            assert solution.primal == pytest.approx(primal, abs=1e-11)
        else:
            check_solution(toy, solution, LAM, optimum=optimum)
        if kind in BLOCKS:
            check_dual_point(toy, solution.fit.run.dual)
            dual = toy.dual(solution.fit.run.dual, LAM)
            assert solution.dual >= dual - 1e-11  # that of an average may be better
            assert solution.dual <= dual + 1e-11 or kind in AVERAGED
            # the steps are those of the whole fit, one more at every check
            assert dual >= before - 1e-12
            before = dual
        if kind in FACTORS:
            history, n_iter = solution.history, solution.n_iter
            assert {len(column) for column in history.values()} == {n_iter}
            # it is not known how far apart factors are that were not visited
            unknown = np.isnan(history["infeasibility"]).tolist()
            assert unknown == [False] * (n_iter - 1) + [True]
            assert np.isfinite(history["lagrangian"]).all()
            run = solution.fit.run
            assert run.sweep.lagrangian == pytest.approx(from_scratch(toy, run)[1], abs=1e-12)
            solution, _ = check_uncertified(kind, toy, moment, moment + 1)
            assert {len(column) for column in solution.history.values()} == {solution.n_iter}
    assert kind not in BLOCKS or before <= toy.dual(whole.fit.run.dual, LAM) + 1e-12


@pytest.mark.parametrize("kind", [*BLOCKS, *OTHERS])
def test_a_stop_that_looks_often_changes_nothing_the_third_press_raises_and_time_ends(kind):
    toy = chain_toy(64)
    often, seldom = solve(kind, toy)[0], solve(kind, toy, stop=Stop())[0]
    np.testing.assert_array_equal(often.w, seldom.w)
    assert often.n_oracle_calls == seldom.n_oracle_calls
    np.testing.assert_array_equal(often.history["gap"], seldom.history["gap"])
    for moments in [(4, 4, 4), (4, 5, 5)]:
        with pytest.raises(KeyboardInterrupt):
            solve(kind, toy, *moments)
    # when the time is over the exact pass is whole, and so is what workers have done
    for n_jobs in (3, 1) if kind == "auto" else (1,):
        solution, stop = solve(kind, toy, stop=PressedStop(max_time=1e-9), n_jobs=n_jobs)
        if kind in BLOCKS:
            check_dual_point(toy, solution.fit.run.dual, 1e-11)
    assert (solution.status, solution.n_iter) == (Status.MAX_TIME, 1)
    # only the subgradient method begins a pass; passes that blocks take turns in do not begin
    assert stop.n_pass_looks == (kind in OTHERS and kind not in CUTS)
    check_solution(toy, solution, LAM)


class Counted(Classes):
    """Counts how often it is asked; threads may ask at once."""

    def __init__(self):
        super().__init__()
        self.lock, self.n_asked = threading.Lock(), 0

    def argmax(self, x, w, y_true=None):
        with self.lock:
            self.n_asked += 1
        return super().argmax(x, w, y_true)


@pytest.mark.parametrize(
    ("kind", "n_jobs"), in_turn([*BLOCKS, *OTHERS, *SAMPLES], [1, 2]) + [("auto", 2)]
)
def test_oracle_calls_are_counted_one_by_one(kind, n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 3)), rng.integers(3, size=9).tolist()
    for moments in [(1,), (4,), (14,), (25,), (3, 3), (4, 6), (14, 15), (14, 19)]:
        model = Counted()
        problem, stop = bind(model, X, y), PressedStop(*moments)
        with stop:
            solution = SOLVERS[kind].solve(
                problem, Regularizer(LAM, problem.n_weights), tol=0, max_iter=20, n_jobs=n_jobs,
                random_state=0, stop=stop,
            )  # fmt: skip
        assert solution.n_oracle_calls == model.n_asked


# ---- the second and the third Ctrl-C ---------------------------------------------------------


@pytest.mark.parametrize("kind", [*BLOCKS, "ssg"])
def test_the_second_leaves_out_the_exact_pass(kind):
    toy = chain_toy(65)
    two_passes = kind in (*AVERAGED, "ssg")
    for moment, later in itertools.product((2, 9), (0, 1, 4)):
        certified = solve(kind, toy, moment)[0]
        solution, stop = check_uncertified(kind, toy, moment, moment + later)
        assert stop.n_compared == moment + later
        # what was certified before stays so; nothing is added
        assert len(solution.history["gap"]) == len(certified.history["gap"]) - 1
        assert solution.n_iter == certified.n_iter
        # of the exact pass only what had been asked counts
        n_skipped = 5 * (1 + two_passes) - later
        assert solution.n_oracle_calls == certified.n_oracle_calls - n_skipped
        if kind != "ssg":
            check_dual_point(toy, solution.fit.run.dual)
            v, _ = toy.dual_sum(solution.fit.run.dual, LAM)
            np.testing.assert_allclose(toy.flat(solution.w), v, atol=1e-12)
    if kind in ("plain, averaging", "ssg"):
        # the fifth check of the certificate ends the exact pass of the last iterate, which is
        # enough
        solution, _ = solve(kind, toy, 7, 7 + 5 + 2)
        assert solution.status is Status.INTERRUPTED
        check_solution(toy, solution, LAM)
    if kind == "plain, averaging":
        last = toy.dual_sum(solution.fit.run.dual, LAM)[0]
        np.testing.assert_allclose(toy.flat(solution.w), last, atol=1e-12)


@pytest.mark.parametrize("kind", CUTS)
def test_cuts_have_their_certificate_already(kind):
    toy = chain_toy(67)
    once, twice = (solve(kind, toy, *moments)[0] for moments in [(13,), (13, 13)])
    assert once.status is twice.status is Status.INTERRUPTED
    assert once.n_oracle_calls == twice.n_oracle_calls == 5 + 13
    assert (once.gap, once.certified) == (twice.gap, twice.certified)
    np.testing.assert_array_equal(once.w, twice.w)
    # but not before the first pass is whole
    first = solve(kind, toy, 3)[0]
    assert (first.primal, first.certified, first.n_oracle_calls) == (1.0, True, 5 + 3 + 5)
    check_uncertified(kind, toy, 3, 3)


def test_an_exact_pass_between_two_passes_can_be_the_last(monkeypatch):
    monkeypatch.setitem(SOLVERS, "every other", BCFW(gap_every=2, steps="fw", averaging=False))
    # two passes and two more visits
    for moments, status in (((12,), Status.INTERRUPTED), ((12, 13), Status.UNCERTIFIED)):
        solution, stop = solve("every other", chain_toy(67), *moments)
        assert (solution.status, solution.n_iter, stop.n_pass_looks) == (status, 2, 10)
        assert solution.certified == (len(solution.history["gap"]) > 0) == (len(moments) == 1)


def test_before_the_first_pass_the_first_raises_and_three_in_a_row_end_a_loop_of_fits():
    # while the oracles are called for the first time
    stop, toy, n_fits = PressedStop(1), chain_toy(69), 0
    stop.begun = True
    with pytest.raises(KeyboardInterrupt):
        solve("auto", toy, stop=stop)
    stops = [PressedStop(3) for _ in range(5)]
    with pytest.raises(KeyboardInterrupt):
        for stop in stops:
            solve("auto", toy, stop=stop)
            n_fits += 1
    assert n_fits == 2


@pytest.mark.parametrize("kind", ["pairwise, batches", "fw", "cuts"])
def test_threads(kind):
    toy = chain_toy(72, n=8)
    optimum = solve_primal(toy.pairs, LAM)[1]
    for moment in range(1, 12):
        solution, stop = solve(kind, toy, moment, n_jobs=2)
        # the calling thread checks after its own answers; how many it has is up to the clock
        expected = Status.INTERRUPTED if stop.n_compared >= moment else Status.MAX_ITER
        assert solution.status is expected
        check_solution(toy, solution, LAM, optimum=optimum)
        if kind != "cuts":
            check_dual_point(toy, solution.fit.run.dual)
    solution, _ = solve(kind, toy, 1, 1, n_jobs=2)
    # if the helper has answered all the rest by then, the cut is whole and proves its own gap
    whole = kind == "cuts" and np.isfinite(solution.gap)
    assert solution.status is (Status.INTERRUPTED if whole else Status.UNCERTIFIED)
