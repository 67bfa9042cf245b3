"""OCR-small against recorded figures of pystruct and SVM-hmm, which are not run here."""

import statistics

import numpy as np
from _common import chain_problem, first_below, ocr, processor_time, trace

from sskit.solvers import BCFW

# Measured with pystruct 0.3.2 and SVM-hmm 3.10 on 2 virtual cores of a Zen 5 server CPU, one
# thread, same features and objective as here: (peer, loss, lam, seconds, objective reached,
# factor that we want). pystruct's solver is BlockCoordinate FW, averaged; the optimum with lam
# 0.01 is 0.16503. SVM-hmm ran with eps 0.1 and made 37,560 oracle calls; the optimum is 1.18400.
RECORDED = (
    ("pystruct BCFW, 10 % above P*", "hamming", 0.01, 8.0, 1.10 * 0.16503, None),
    ("pystruct BCFW, 5 % above P*", "hamming", 0.01, 15.0, 1.05 * 0.16503, 40),
    ("pystruct BCFW, 2 % above P*", "hamming", 0.01, 37.0, 1.02 * 0.16503, 40),
    ("SVM-hmm, its answer", "hamming_sum", 1 / 626, 3.6, 1.2531, 5),
)
SOLVERS = {"auto": BCFW(), "plain": BCFW(steps="fw")}
COLUMNS = ("peer", "loss", "lam", "peer_seconds", "solver", "calls", "seconds", "factor")


def compare(options):
    """Print and return the rows of the comparison."""
    X, y, _, _ = ocr("small")
    rows = []
    print("OCR-small: seconds to the objective that a peer reached (peers recorded, not run)")
    for peer, loss, lam, peer_seconds, objective, wanted in RECORDED:
        for name, solver in SOLVERS.items():
            found = []
            for seed in range(options.seeds):
                problem, packing = processor_time(lambda loss=loss: chain_problem(X, y, loss))
                progress = trace(problem, lam, solver, seed, seconds=3.0, target=0.01 * objective)
                calls, seconds = first_below(progress, "primal", objective)
                found.append((calls, seconds + packing))
            calls, seconds = (statistics.median(column) for column in zip(*found, strict=True))
            factor = peer_seconds / seconds if np.isfinite(seconds) else 0.0
            rows.append((peer, loss, lam, peer_seconds, name, calls, seconds, factor))
            print(
                f"{peer:30s} {peer_seconds:5.1f} s; {name:6s} {calls:5.1f} calls an example, "
                f"{seconds:6.3f} s with packing: {factor:5.0f} times faster"
                + (f", wanted {wanted}" if wanted else ""),
                flush=True,
            )
    return COLUMNS, rows
