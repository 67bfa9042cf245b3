"""How fast scores of dense feature rows are, against a matrix product of BLAS and the memory.

Rows of 768 features, 17 states, one thread. The memory is read by a dot product of a large array
with itself. Usage: python dense_rows.py [small | large]      (a few seconds; large half a minute
and 3 GB of memory)
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
from functools import partial

import numpy as np

from sskit.models.request import row_scores

N_FEATURES, N_STATES, LENGTH = 768, 17, 25


def seconds(function, times=7):
    """Return the shortest time that a call takes."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        function()
        found.append(time.perf_counter() - began)
    return min(found)


def main(size):
    """Print times and rates."""
    n_rows = 200_000 if size == "large" else 20_000
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    coef = rng.standard_normal((N_STATES, N_FEATURES))
    n_flops = 2 * n_rows * N_FEATURES * N_STATES

    def report(name, function, n_bytes):
        taken = seconds(function)
        rates = f"{n_flops / taken / 1e9:6.1f} GFlop/s {n_bytes / taken / 1e9:6.1f} GB/s"
        print(f"{name:40s} {1e3 * taken:8.1f} ms {rates}", flush=True)

    double, weights = X.astype(np.float64), np.ascontiguousarray(coef.T)
    flat = double.ravel()
    taken = seconds(lambda: np.dot(flat, flat))
    print(f"memory: {double.nbytes / taken / 1e9:.1f} GB/s")
    report("BLAS, float64", lambda: double @ weights, double.nbytes)
    pieces = [double[i : i + LENGTH] for i in range(0, n_rows, LENGTH)]
    report(f"BLAS, {LENGTH} rows at a time", lambda: [x @ weights for x in pieces], double.nbytes)
    for dtype in (np.float64, np.float32, np.float16):
        rows = X.astype(dtype)
        report(f"sskit, {rows.dtype}", partial(row_scores, rows, coef, 1), rows.nbytes)


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "small")
