"""The loop around the passes: when it stops, what it keeps, logs and shows in bars; Ctrl-C."""

import logging
import re
import signal
import sys
import warnings
from io import StringIO

import numpy as np
import pytest
import rich.progress
from helpers.crossing import in_turn
from helpers.laws import solve_toy
from helpers.objectives import log_primal
from helpers.solvers import LIKELIHOOD, SOLVERS, bound_for
from helpers.toys import TOYS, chain_toy
from rich.console import Console
from rich.errors import LiveError
from sklearn.base import clone

from sskit.solvers import BCFW, GDMM, Subgradient
from sskit.solvers.common import progress
from sskit.solvers.common.progress import Bar
from sskit.solvers.common.solution import Status

LAM = 0.1
SOLVERS = SOLVERS | LIKELIHOOD | {"gdmm": GDMM()}


def solve(solver, toy=None, **options):
    toy = chain_toy(51) if toy is None else toy
    return solve_toy(solver, bound_for(solver, toy), LAM, **options)


@pytest.mark.parametrize("solver", ["pairwise", "plain, averaging", "fw", "ssg", "mpbcfw"])
def test_history(solver):
    toy, solver = chain_toy(51), clone(SOLVERS[solver]).set_params(gap_every=4)
    solution = solve(solver, toy, tol=0, max_iter=18)
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


def test_the_tolerance_and_the_limits():
    for mean in (True, False):  # relative to the loss at zero
        solution = solve(BCFW(), chain_toy(52, mean=mean, lengths=(4,)), tol=0.05)
        assert solution.unit == pytest.approx(1.0 if mean else 4.0)
        assert solution.status is Status.CONVERGED and solution.gap <= 0.05 * solution.unit
    often, seldom = (solve(BCFW(gap_every=n), tol=0.1, max_iter=1000) for n in (1, 1000))
    # noticed between the regular exact passes, which renew gaps: other steps
    assert seldom.status is Status.CONVERGED
    assert often.n_iter <= seldom.n_iter + 2 < 1000
    assert seldom.n_oracle_calls <= often.n_oracle_calls
    # in the last pass
    for tol, max_iter, status in ((0, 3, Status.MAX_ITER), (0.1, often.n_iter, Status.CONVERGED)):
        solution = solve(BCFW(gap_every=1), tol=tol, max_iter=max_iter)
        assert (solution.status, solution.n_iter) == (status, max_iter)
    for status, told in [
        (Status.CONVERGED, "The duality gap is within the tolerance."),
        (Status.MAX_ITER, "increase max_iter, tol or lam"),
        (Status.MAX_TIME, "max_time of the solver"),
        (Status.CALLBACK, "A callback stopped the fit."),
    ]:
        assert told in status.value


@pytest.mark.parametrize("solver", ["pairwise", "fw", "cuts", "gdmm", "lbfgs", "eg"])
def test_callbacks_and_time_end_a_fit_without_a_warning(solver):
    solver, seen = SOLVERS[solver], []

    def on_pass(n_iter, weights):
        seen.append((n_iter, weights()))
        return n_iter == 4

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = solve(solver, tol=0, on_pass=on_pass)
    assert solution.status is Status.CALLBACK
    assert [n_iter for n_iter, _ in seen] == [1, 2, 3, 4]
    np.testing.assert_allclose(seen[-1][1], solution.w, atol=1e-12)
    assert not np.shares_memory(seen[0][1], seen[1][1])
    assert solution.n_iter == solution.history["n_passes"][-1] == 4
    solution = solve(clone(solver).set_params(max_time=1e-9), tol=0)
    assert (solution.status, solution.n_iter) == (Status.MAX_TIME, 1)


@pytest.mark.parametrize(("verbose", "every"), [(0, 1e9), (1, 1e9), (1, 0.0)])
def test_log_and_prints(caplog, capfd, verbose, every, monkeypatch):
    """A line for each exact pass, and one a second between them."""
    monkeypatch.setattr(progress, "EVERY", every)
    options = {"tol": 0, "max_iter": 5, "verbose": verbose}
    with caplog.at_level(logging.DEBUG, logger="sskit"):
        n_exact = len(solve(BCFW(gap_every=4), **options).history["gap"])
    assert {record.levelname for record in caplog.records} == {"INFO" if verbose else "DEBUG"}
    assert len(caplog.records) == n_exact + 3 * (every == 0.0)
    assert caplog.messages[-1].startswith("BCFW: pass 5, primal 0.")
    # without logging a verbose fit prints
    capfd.readouterr()
    solve(BCFW(gap_every=4), **options)
    lines = capfd.readouterr().out.splitlines()
    between = [
        line for line in lines if re.search(r"pass \d, gap about \S+ of the objective", line)
    ]
    assert len(between) == 3 * (every == 0.0) == len(lines) - verbose * n_exact
    told = r"BCFW: pass 5, primal \S+, dual \S+, gap \S+ \(\S+ of the objective\), \S+ s"
    assert not verbose or re.fullmatch(told, lines[-1])
    if every == 0.0:
        solve(Subgradient(gap_every=4), tol=0, max_iter=2, verbose=1)
        assert re.match(r"Subgradient: pass 1, \d+\.\d s\n", capfd.readouterr().out)


# ---- Ctrl-C ----------------------------------------------------------------------------------


def press():
    """Press Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("name", "solver"),
    in_turn(TOYS, ["pairwise", "fw", "ssg", "mpbcfw", "cuts"])
    + [("chain", solver) for solver in LIKELIHOOD],
)
def test_ctrl_c_after_a_pass_ends_there(own_handler, name, solver):
    toy, solver = TOYS[name](53), SOLVERS[solver]
    solution = solve(solver, toy, tol=0, on_pass=lambda n_iter, w: press() if n_iter == 3 else 0)
    assert (solution.status, solution.n_iter) == (Status.INTERRUPTED, 3)
    assert solution.certified
    w = toy.flat(solution.w)
    primal = log_primal(toy, w, LAM)[0] if solver.takes_likelihood else toy.pairs.primal(w, LAM)
    assert solution.primal == pytest.approx(primal, abs=1e-12)
    assert solution.primal == solution.history["primal"].min()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if name == "chain":  # a foreign handler is left alone
        calls = []
        signal.signal(signal.SIGINT, lambda *_: calls.append(1))
        solution = solve(solver, toy, tol=0, max_iter=3, on_pass=lambda n_iter, w: press())
        assert (solution.status, len(calls)) == (Status.MAX_ITER, 3)


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
    # it goes when a fit fails
    with pytest.raises(ZeroDivisionError):
        solve(BAR, tol=0, max_iter=5, verbose=1, on_pass=lambda n_iter, weights: 1 / 0)
    assert Bar.start("next") is not None


def test_what_is_not_known_is_not_told(capfd):
    """Passes of GDMM have numbers of their own, and most have no gap."""
    solve(GDMM(gap_every=3), tol=0, max_iter=4, verbose=2)
    lines = capfd.readouterr().out.splitlines()
    assert ["gap" in line for line in lines] == [False, False, True, True]
    assert all("lagrangian" in line and "nan" not in line for line in lines)


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
    for target, expected in [
        (0.001, [(np.inf, 0.0), (0.1, 0.0), (0.01, 0.5), (0.2, 0.0), (0.0001, 1.0), (0.0, 1.0)]),
        (0.02, [(0.01, 0.0), (0.0, 0.0)]),  # it was reached at once
    ]:
        bar = Bar.start("BCFW")
        for fraction, completed in expected:
            bar.update(1, fraction, target)
            assert bar.display.tasks[0].completed == pytest.approx(completed)
        bar.close()
