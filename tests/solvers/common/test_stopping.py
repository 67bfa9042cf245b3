"""The loop around the passes: when it stops, what it keeps, logs and shows in bars; Ctrl-C."""

import logging
import re
import signal
import sys
import time
import warnings
from io import StringIO

import numpy as np
import pytest
import rich.progress
from helpers.crossing import in_turn
from helpers.laws import solve_toy
from helpers.toys import TOYS, chain_toy
from rich.console import Console
from rich.errors import LiveError
from sklearn.base import clone

from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, Subgradient
from sskit.solvers.common import progress
from sskit.solvers.common.progress import Bar
from sskit.solvers.common.solution import Status

LAM = 0.1


def solve(solver, toy=None, **options):
    toy = chain_toy(51) if toy is None else toy
    return solve_toy(solver, toy, LAM, **options)


SOLVERS = [BCFW(averaging=False), BCFW(averaging=True), FrankWolfe(), Subgradient(), MultiPlane()]


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_history(solver):
    toy = chain_toy(51)
    solution = solve(clone(solver).set_params(gap_every=4), toy, tol=0, max_iter=18)
    history = solution.history
    assert set(history) == {"n_passes", "n_oracle_calls", "time", "primal", "dual", "gap"}
    assert {len(column) for column in history.values()} == {len(history["gap"])}
    for name in ("n_passes", "n_oracle_calls"):
        assert (np.diff(history[name]) > 0).all() and history[name].dtype == np.int64
    assert (np.diff(history["time"]) >= 0).all()
    assert {4, 8, 12, 16, 18} <= set(history["n_passes"].tolist())
    assert history["n_passes"][-1] == solution.n_iter == 18
    # an exact pass for P(0), then one for the last iterate and one for the average, if any
    exact_passes = 1 + len(history["gap"]) * (2 if getattr(solver, "averaging", False) else 1)
    assert history["n_oracle_calls"][-1] == solution.n_oracle_calls == 5 * (18 + exact_passes)
    assert history["dual"][-1] == solution.dual
    # of the weights that were seen those with the lowest primal
    assert history["primal"].min() == solution.primal
    assert solution.gap == pytest.approx(solution.primal - solution.dual, abs=1e-12)
    assert toy.pairs.primal(toy.flat(solution.w), LAM) == pytest.approx(solution.primal, abs=1e-10)


def test_converged_is_noticed_between_the_regular_exact_passes():
    often, seldom = (solve(BCFW(gap_every=n), tol=0.1, max_iter=1000) for n in (1, 1000))
    assert seldom.status is Status.CONVERGED
    assert often.n_iter <= seldom.n_iter + 2 < 1000  # exact passes renew gaps: other steps
    assert seldom.n_oracle_calls <= often.n_oracle_calls


def test_the_tolerance_and_the_limits():
    for mean in (True, False):  # relative to the loss at zero
        solution = solve(BCFW(), chain_toy(52, mean=mean, lengths=(4,)), tol=0.05)
        assert solution.unit == pytest.approx(1.0 if mean else 4.0)
        assert solution.status is Status.CONVERGED and solution.gap <= 0.05 * solution.unit
    needed = solve(BCFW(gap_every=1), tol=0.1).n_iter
    # in the last pass
    for tol, max_iter, status in ((0, 3, Status.MAX_ITER), (0.1, needed, Status.CONVERGED)):
        solution = solve(BCFW(gap_every=1), tol=tol, max_iter=max_iter)
        assert (solution.status, solution.n_iter) == (status, max_iter)
    began = time.perf_counter()
    solution = solve(BCFW(steps="fw", max_time=0.05), tol=0, max_iter=10**9)
    assert 0.05 <= time.perf_counter() - began < 5.0
    for status, told in [
        (Status.CONVERGED, "The duality gap is within the tolerance."),
        (Status.MAX_ITER, "increase max_iter, tol or lam"),
        (solution.status, "max_time of the solver"),
    ]:
        assert told in status.value


@pytest.mark.parametrize(
    "solver", [BCFW(averaging=False), FrankWolfe(), CuttingPlane(), GDMM()], ids=str
)
def test_a_callback_stops_without_a_warning_and_sees_what_is_returned(solver):
    seen = []

    def on_pass(n_iter, weights):
        seen.append((n_iter, weights()))
        return n_iter == 4

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = solve(solver, tol=0, on_pass=on_pass)
    assert solution.status is Status.CALLBACK
    assert solution.status.value == "A callback stopped the fit."
    assert [n_iter for n_iter, _ in seen] == [1, 2, 3, 4]
    np.testing.assert_allclose(seen[-1][1], solution.w, atol=1e-12)
    assert not np.shares_memory(seen[0][1], seen[1][1])
    assert solution.n_iter == solution.history["n_passes"][-1] == 4


@pytest.mark.parametrize("verbose", [0, 1])
def test_log_and_prints(caplog, capfd, verbose):
    with caplog.at_level(logging.DEBUG, logger="sskit"):
        solution = solve(BCFW(gap_every=2), tol=0, max_iter=5, verbose=verbose)
    assert len(caplog.records) == len(solution.history["gap"])
    assert {record.levelname for record in caplog.records} == {"INFO" if verbose else "DEBUG"}
    assert caplog.messages[-1].startswith("BCFW: pass 5, primal 0.")
    # without logging a verbose fit prints
    capfd.readouterr()
    solution = solve(BCFW(gap_every=2), tol=0, max_iter=5, verbose=verbose)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == verbose * len(solution.history["gap"])
    told = r"BCFW: pass 5, primal \S+, dual \S+, gap \S+ \(\S+ of the objective\), \S+ s"
    assert not verbose or re.fullmatch(told, lines[-1])


@pytest.mark.parametrize("n_lines", [0, 3])
def test_a_line_a_second(n_lines, monkeypatch, capfd):
    monkeypatch.setattr(progress, "EVERY", 0.0 if n_lines else 1e9)
    solve(BCFW(gap_every=4), tol=0, max_iter=4, verbose=1)
    lines = capfd.readouterr().out.splitlines()
    told = r"pass [123], gap about \S+ of the objective, "
    between = [line for line in lines if re.search(told, line)]
    assert len(between) == n_lines == len(lines) - 1
    monkeypatch.setattr(progress, "EVERY", 0.0)
    solve(Subgradient(gap_every=4), tol=0, max_iter=2, verbose=1)
    assert re.match(r"Subgradient: pass 1, \d+\.\d s\n", capfd.readouterr().out)


# ---- Ctrl-C ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "solver"),
    in_turn(TOYS, [BCFW(), FrankWolfe(), Subgradient(), MultiPlane(), CuttingPlane()]),
)
def test_ctrl_c_after_a_pass_ends_there(own_handler, name, solver):
    toy = TOYS[name](53)
    solution = solve(solver, toy, tol=0, on_pass=lambda n_iter, w: press() if n_iter == 3 else 0)
    assert (solution.status, solution.n_iter) == (Status.INTERRUPTED, 3)
    assert solution.certified
    assert solution.primal == pytest.approx(toy.pairs.primal(toy.flat(solution.w), LAM), abs=1e-12)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if name == "chain":  # a foreign handler is left alone
        calls = []
        signal.signal(signal.SIGINT, lambda *_: calls.append(1))
        solution = solve(solver, toy, tol=0, max_iter=3, on_pass=lambda n_iter, w: press())
        assert (solution.status, len(calls)) == (Status.MAX_ITER, 3)


def press():
    """Press Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


# ---- bars: on terminals and in notebooks, with the gap, one at a time --------------------------


BAR = BCFW(gap_every=2)


@pytest.fixture
def screen(monkeypatch):
    """A terminal that keeps what is drawn."""
    console = Console(file=StringIO(), force_terminal=True, width=120)
    monkeypatch.setattr(rich, "_console", console)
    return console.file


def test_a_bar_shows_gap_and_tolerance_and_stays(screen, capfd):
    solution = solve(BAR, tol=0.01, max_iter=1000, verbose=1)
    shown = screen.getvalue()
    assert "BCFW: pass 2 " in shown and f"pass {solution.n_iter} " in shown
    assert "(to reach: 1 %)" in shown and "left" in shown
    assert shown.rstrip().endswith("\x1b[?25h")  # the cursor is back
    assert capfd.readouterr().out == ""
    solve(BAR, tol=0, max_iter=5, verbose=2)
    assert capfd.readouterr().out.count("BCFW: pass") == 3  # lines
    solve(BAR, tol=0, max_iter=5, verbose=0)
    assert screen.getvalue() == shown and capfd.readouterr().out == ""


def test_what_is_not_known_is_not_told(capfd):
    """Passes of GDMM have numbers of their own, and most have no gap."""
    solve(GDMM(gap_every=3), tol=0, max_iter=4, verbose=2)
    lines = capfd.readouterr().out.splitlines()
    assert ["gap" in line for line in lines] == [False, False, True, True]
    assert all("lagrangian" in line and "nan" not in line for line in lines)


def test_the_bar_goes_when_a_fit_fails(screen):
    def fails(n_iter, weights):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solve(BAR, tol=0, max_iter=5, verbose=1, on_pass=fails)
    assert Bar.start("next") is not None


@pytest.mark.parametrize("why", ["rich is missing", "it shows another bar", "no screen"])
def test_lines_where_there_is_no_bar(screen, capfd, monkeypatch, why):
    def start(display):
        raise LiveError("one at a time")  # older versions of rich

    if why == "rich is missing":
        monkeypatch.setitem(sys.modules, "rich", None)
    elif why == "no screen":
        monkeypatch.setattr(rich, "_console", Console(file=StringIO()))
    else:
        monkeypatch.setattr(rich.progress.Progress, "start", start)
    solve(BAR, tol=0, max_iter=5, verbose=1)
    assert capfd.readouterr().out.count("BCFW: pass") == 3
    assert screen.getvalue() == ""


def test_the_bar_measures_powers_of_ten(screen):
    bar, seen = Bar.start("BCFW"), []
    for fraction in (float("inf"), 0.1, 0.01, 0.2, 0.0001, 0.0):
        bar.update(1, fraction, 0.001)
        seen.append(bar.display.tasks[0].completed)
    bar.close()
    assert seen == pytest.approx([0.0, 0.0, 0.5, 0.0, 1.0, 1.0])
    bar = Bar.start("BCFW")
    bar.update(1, 0.01, 0.02)  # it was reached at once
    bar.update(2, 0.0, 0.0)
    assert bar.display.tasks[0].completed == 0.0
    bar.close()
