"""Runs of the solvers of figure 3 of "Minding the gaps" and of sskit, with plots and summaries.

Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien (2016). Minding the gaps for block Frank-Wolfe
optimization of structured SVMs. ICML. Section 5.1.
"""

import argparse
import csv
import itertools
import math
import statistics
from pathlib import Path

import numpy as np
from _common import COLUMNS, first_below, trace

from sskit.solvers import BCFW, MultiPlane

# The paper's eight: one step at a visit, no passes over stored planes, no averaging.
GRID = {
    f"{sampling} {steps}" + " cache" * cache: BCFW(
        sampling=sampling,
        steps=steps,
        cache=cache,
        block_steps=1,
        stored_passes=0,
        averaging=False,
    )
    for sampling, steps, cache in itertools.product(
        ("uniform", "gap"), ("fw", "pairwise"), (False, True)
    )
}
OTHERS = {
    "gap fw averaged": BCFW(
        sampling="gap", steps="fw", block_steps=1, stored_passes=0, averaging=True
    ),
    "multi-plane": MultiPlane(),
    "corrective": BCFW(block_steps=20, stored_passes=0),
    "10 stored passes": BCFW(stored_passes=10),
    "gap, stored by slope": BCFW(sampling="gap", stored_passes="slope"),
    "auto": BCFW(),
}
SOLVERS = GRID | OTHERS
GAPS = (1e-1, 1e-2, 1e-3, 1e-6)
RESULTS = Path(__file__).parent / "results"


def parse(description, *, seeds, seconds):
    """Return the options of a script that runs SOLVERS."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--seconds", type=float, default=seconds, help="for each run")
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    parser.add_argument("--lam", type=float, nargs="+", default=None)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for CSV and PNG")
    return parser.parse_args()


def study(name, problem, lam, options):
    """Run the solvers on one problem; write CSV and PNG, print the summary.

    Gaps are relative to P(0), which is 1 for the normalised Hamming loss.

    Parameters
    ----------
    name : str
        Of the files.
    problem : Problem
        With the normalised Hamming loss.
    lam : float
        Regularisation strength.
    options : Namespace
        From `parse`.
    """
    # the first run of a process pays for its memory
    trace(problem, lam, BCFW(), 0, seconds=1.0, passes=1)
    runs = {solver: [] for solver in options.solvers}
    for seed, solver in itertools.product(range(options.seeds), options.solvers):
        runs[solver].append(
            trace(problem, lam, SOLVERS[solver], seed, seconds=options.seconds, target=1e-7)
        )
    options.out.mkdir(parents=True, exist_ok=True)
    write_csv(options.out / f"{name}.csv", runs)
    draw(options.out / f"{name}.png", name, runs)
    print(
        f"\n{name}: n = {problem.n_blocks}, lam = {lam:g}, {options.seeds} seeds, at most "
        f"{options.seconds:g} s a run; files {options.out / name}.csv, .png"
    )
    reached = summarise(runs)
    claims(reached)


def write_csv(path, runs):
    """Write all rows of all runs."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("solver", "seed", *COLUMNS))
        for solver, traces in runs.items():
            for seed, rows in enumerate(traces):
                writer.writerows((solver, seed, *(f"{x:.9g}" for x in row)) for row in rows)


def summarise(runs):
    """Print calls per example and seconds to each gap, medians over seeds, and return them."""
    head = "".join(f"{f'gap {gap:g}':>18s}" for gap in GAPS)
    print(f"{'calls an example / seconds to':30s}{head}{'last gap':>12s}")
    reached = {}
    for solver, traces in runs.items():
        cells = []
        for gap in GAPS:
            pairs = np.array([first_below(rows, "gap", gap) for rows in traces])
            # medians of either column; inf if most seeds did not arrive
            reached[solver, gap] = tuple(statistics.median_high(column) for column in pairs.T)
            calls, seconds = reached[solver, gap]
            cells.append(f"{calls:7.1f} / {seconds:.2f}" if math.isfinite(calls) else "-")
        last = statistics.median(rows[-1, -1] for rows in traces)
        print(f"{solver:30s}" + "".join(f"{cell:>18s}" for cell in cells) + f"{last:12.1e}")
    return reached


def claims(reached):
    """Print what the paper says about the eight, with what was found."""
    solvers = {solver for solver, _ in reached}
    switches = {
        "uniform instead of gap sampling": ("gap", "uniform"),
        "no cache instead of a cache": (" cache", ""),
        "plain instead of pairwise steps": ("pairwise", "fw"),
    }
    for title, (better, worse) in switches.items():
        print(f"{title}: factors of calls (and seconds)")
        for solver in SOLVERS:
            other = solver.replace(better, worse)
            if solver not in GRID or other == solver or not {solver, other} <= solvers:
                continue
            cells = [_factors(reached[other, gap], reached[solver, gap]) for gap in GAPS]
            row = ", ".join(
                f"{cell} to {gap:g}" for cell, gap in zip(cells, GAPS, strict=True) if cell
            )
            print(f"    {other} / {solver}: {row or 'neither arrives'}")


def _factors(worse, better):
    """Return the quotients as text, empty where neither arrived."""
    if math.isinf(better[0]):
        return "" if math.isinf(worse[0]) else "only the first"
    if math.isinf(worse[0]):
        return "only the second"
    return f"{worse[0] / better[0]:.2f} ({worse[1] / better[1]:.2f})"


def band(traces, column, points=200):
    """Return x and the least, median and largest gap there, over the seeds.

    Gaps between two rows are interpolated on a logarithmic scale. The band ends where the first
    run does.
    """
    k = COLUMNS.index(column)
    start = max(rows[0, k] for rows in traces)
    stop = min(rows[-1, k] for rows in traces)
    if not 0.0 < start < stop:
        return None
    x = np.geomspace(start, stop, points)
    logs = [
        np.interp(np.log(x), np.log(rows[:, k]), np.log(np.maximum(rows[:, -1], 1e-12)))
        for rows in traces
    ]
    return x, *np.exp(np.quantile(logs, (0.0, 0.5, 1.0), axis=0))


def draw(path, title, runs):
    """Draw gaps against oracle calls (top) and against time (bottom)."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    figure, axes = plt.subplots(2, 2, figsize=(11, 9), sharex="row", sharey=True)
    columns = ("calls", "oracle calls / n"), ("seconds", "processor seconds")
    groups = (list(GRID), "the paper's eight"), ([*OTHERS, "gap pairwise"], "others")
    # the same style for the same idea: colour for sampling and steps, dashes for the cache
    colours = dict(
        zip(
            ("uniform fw", "uniform pairwise", "gap fw", "gap pairwise"),
            ("tab:orange", "tab:red", "tab:green", "tab:blue"),
            strict=True,
        )
    ) | dict(zip(OTHERS, (f"C{k}" for k in (8, 1, 3, 4, 5, 7)), strict=True))
    smallest = max(1e-8, min(rows[:, -1].min() for traces in runs.values() for rows in traces))
    for (column, label), row in zip(columns, axes, strict=True):
        for (names, group), axis in zip(groups, row, strict=True):
            for solver in names:
                curve = band(runs[solver], column) if solver in runs else None
                if curve is None:
                    continue
                x, low, middle, high = curve
                colour = colours[solver.removesuffix(" cache")]
                dash = "--" if solver.endswith(" cache") else "-"
                axis.loglog(x, middle, dash, color=colour, label=solver, linewidth=1.4)
                axis.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
            axis.set_xlabel(label)
            axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.xaxis.set_major_formatter("{x:g}")
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.set_ylim(smallest / 2.0, 1.0)
            axis.grid(alpha=0.3)
            axis.set_title(group)
            axis.legend(fontsize=8, loc="lower left")
        row[0].set_ylabel("duality gap / P(0)")
    figure.suptitle(f"{title}: median over seeds, band from least to largest")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
