"""Bars of verbose fits: on terminals and in notebooks, with the gap, one at a time."""

import sys
from io import StringIO

import pytest
import rich.progress
from helpers.laws import solve_toy
from helpers.toys import chain_toy
from rich.console import Console
from rich.errors import LiveError

from sskit.solvers import BCFW, GDMM
from sskit.solvers.common.progress import Bar


def solve(toy, **options):
    return solve_toy(BCFW(gap_every=2), toy, 0.1, **options)


@pytest.fixture
def screen(monkeypatch):
    """A terminal that keeps what is drawn."""
    console = Console(file=StringIO(), force_terminal=True, width=120)
    monkeypatch.setattr(rich, "_console", console)
    return console.file


def test_a_bar_shows_gap_and_tolerance_and_stays(screen, capfd):
    toy = chain_toy(52)
    solution = solve(toy, tol=0.01, max_iter=1000, verbose=1)
    shown = screen.getvalue()
    assert "BCFW: pass 2 " in shown and f"pass {solution.n_iter} " in shown
    assert "(to reach: 1 %)" in shown and "left" in shown
    assert shown.rstrip().endswith("\x1b[?25h")  # the cursor is back
    assert capfd.readouterr().out == ""
    solve(toy, tol=0, max_iter=5, verbose=2)
    assert capfd.readouterr().out.count("BCFW: pass") == 3  # lines
    solve(toy, tol=0, max_iter=5, verbose=0)
    assert screen.getvalue() == shown and capfd.readouterr().out == ""


def test_what_is_not_known_is_not_told(capfd):
    """Passes of GDMM have numbers of their own, and most have no gap."""
    solve_toy(GDMM(gap_every=3), chain_toy(52), 0.1, tol=0, max_iter=4, verbose=2)
    lines = capfd.readouterr().out.splitlines()
    assert ["gap" in line for line in lines] == [False, False, True, True]
    assert all("lagrangian" in line and "nan" not in line for line in lines)


def test_the_bar_goes_when_a_fit_fails(screen):
    def fails(n_iter, weights):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solve(chain_toy(52), tol=0, max_iter=5, verbose=1, on_pass=fails)
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
    solve(chain_toy(52), tol=0, max_iter=5, verbose=1)
    assert capfd.readouterr().out.count("BCFW: pass") == 3
    assert screen.getvalue() == ""


def test_the_bar_measures_powers_of_ten(screen):
    bar = Bar.start("BCFW")
    seen = []
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
