"""What a visit of block-coordinate Frank-Wolfe costs beside its oracle, by the shape of the data.

    python visits.py [--guard]

Chains of K labels and T tokens, whose rows have a few entries or are dense. Passes alternate in one
run: the oracle alone (scores and Viterbi of all chains), plain steps, and corrective steps between
stored planes. A visit ought to cost what changes, the labels that differ and the features of their
tokens, so that its time over that of the oracle does not grow with K or T. With --guard the script
ends with an error where, three times over, passes of 80 labels take longer over those of 5 than
half as much again as the arithmetic of the oracle grows. On busy machines that growth was 12 to 20,
of visits .68 to 1.04 times as much.
"""

import argparse
import time
from functools import partial

import numpy as np
import scipy.sparse as sp
from _common import alternate
from many_labels import bind

from sskit.core.regularizer import Regularizer
from sskit.inputs.ragged_array import RaggedArray
from sskit.solvers import BCFW
from sskit.solvers.oracle_calls.pool import make_pool

N_TOKENS, N_FEATURES = 6000, 20_000
SPARSE, DENSE = (3, 20, 100), (16, 512)
# (K, T, entries of a row; dense rows: minus the columns)
SHAPES = [
    *[(K, T, 20) for K in (5, 20, 80, 300) for T in (10, 50, 300)],
    *[(20, 50, entries) for entries in (3, 100, *(-width for width in DENSE))],
]
WARM_PASSES, ROUNDS = 8, 5
# Of the guard: five times the data and twice the rounds, as a pass of 5 labels takes .5 ms.
GUARD_TOKENS, GUARD_ROUNDS, GUARD_TRIES, MOST_GROWTH = 30_000, 9, 3, 1.5


def made(K, T, entries, n_tokens=N_TOKENS):
    """Return chains whose features tell their labels half of the time."""
    rng = np.random.default_rng(0)
    n = max(n_tokens // T, 10)
    y = rng.integers(K, size=(n, T))
    told = np.where(rng.random((n, T)) < 0.5, y, rng.integers(K, size=(n, T))).ravel()
    if entries < 0:
        values = rng.normal(size=(n * T, -entries))
        values += 0.5 * rng.normal(size=(K, -entries))[told]
    else:
        columns = (N_FEATURES * rng.random((n * T, entries)) ** 3).astype(np.int32)
        columns[:, 0] = told * (N_FEATURES // K) + rng.integers(20, size=n * T)
        starts = np.arange(n * T + 1) * entries
        values = sp.csr_array((np.ones(columns.size), columns.ravel(), starts))
        values.resize((n * T, N_FEATURES))
        values.sum_duplicates()
    return RaggedArray(values, np.arange(n + 1) * T), list(y)


def measured(shape, n_tokens=N_TOKENS, rounds=ROUNDS):
    """Return the seconds of a visit: by the oracle alone, plain, corrective."""
    X, y = made(*shape, n_tokens)
    _, problem, lam = bind([X[i] for i in range(len(X))], y, shape[0])
    runs = []
    for solver in (
        BCFW(steps="fw", cache=False, averaging=False, stored_passes=0, sampling="permutation"),
        BCFW(steps="pairwise", stored_passes=0, cache=False, sampling="permutation"),
    ):
        regularizer = Regularizer(lam, problem.n_weights)
        run = solver.start(problem, regularizer, np.random.RandomState(0))
        for _ in range(WARM_PASSES):
            run.run_pass()
        runs.append(run)
    oracle = partial(make_pool(problem).hinges, regularizer.w)
    seconds = alternate([oracle, *(run.run_pass for run in runs)], rounds, time.process_time)
    return np.array(seconds) / len(y)


def grows_as_oracle():
    """Print the growth from 5 labels to 80; return whether visits grow as the oracle does."""
    few, many = (measured((K, 50, 20), GUARD_TOKENS, GUARD_ROUNDS) for K in (5, 80))
    growth = many / few
    print(f"80 labels over 5: oracle {growth[0]:.1f}, visits {growth[1]:.1f}, {growth[2]:.1f}")
    return max(growth[1:]) <= MOST_GROWTH * growth[0]


def main():
    """Print the table, or check its growth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--guard", action="store_true")
    if parser.parse_args().guard:
        raise SystemExit(int(not any(grows_as_oracle() for _ in range(GUARD_TRIES))))
    print("   K    T  entries    oracle us   plain / oracle   corrective / oracle")
    for K, T, entries in SHAPES:
        oracle, plain, corrective = measured((K, T, entries))
        kind = f"{-entries} dense" if entries < 0 else f"{entries}"
        print(
            f"{K:4d} {T:4d} {kind:>9s} {oracle * 1e6:11.1f} {plain / oracle:12.2f} "
            f"{corrective / oracle:16.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
