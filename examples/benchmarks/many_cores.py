"""What several workers gain: time to the same gap, and how many more passes it takes.

Usage: python many_cores.py [case ...]

First line of a case: seconds on the clock with one and with two jobs, which take turns, median of
five, to the same gap. The others: what 4, 8 and 16 workers would do, by counts, which do not depend
on the cores there are: passes over those of one worker, the blocks in flight, and the share of the
time for which a worker would wait for the longest of its round if blocks took time in proportion to
their lengths. What is not in these counts is the meeting of the workers itself, some ten
microseconds a round.

The cases "ocr" and "conll" need the data sets, see sskit.datasets.
"""

import sys
import time

import numpy as np
from _common import chain_problem, conll, ocr

from sskit.core.regularizer import Regularizer
from sskit.solvers import BCFW
from sskit.utils import RaggedArray

ROUNDS = 5
COUNTED = 4, 8, 16


def embeddings(n_tokens=147_000, n_features=768, n_labels=17):
    """Return sentences of dense rows, and labels that follow from them and from each other."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 45, size=n_tokens // 25)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    X = rng.normal(size=(offsets[-1], n_features))
    scores = X @ rng.normal(size=(n_features, n_labels)) / np.sqrt(n_features)
    scores += rng.normal(scale=0.7, size=scores.shape)
    labels = scores.argmax(axis=1)
    again = rng.random(len(labels)) < 0.3
    for t in np.flatnonzero(again[1:]) + 1:
        labels[t] = labels[t - 1]
    return RaggedArray(X, offsets), RaggedArray(labels, offsets)


CASES = {
    # name: (data, lam, gap relative to P(w))
    "ocr .05": (lambda: ocr("large")[:2], 1e-3, 0.05),
    "ocr .03": (lambda: ocr("large")[:2], 1e-3, 0.032),
    "ocr .003": (lambda: ocr("large")[:2], 1e-3, 0.0032),
    "embeddings": (embeddings, 1e-4, 0.02),
    "conll": (lambda: conll()[:2], 1e-3, 0.02),
}


def solve(problem, lam, tol, n_jobs):
    """Return the solution and the seconds that it took."""
    start = time.perf_counter()
    solution = BCFW().solve(
        problem,
        Regularizer(lam, problem.n_weights),
        tol=tol,
        max_iter=1000,
        n_jobs=n_jobs,
        random_state=0,
    )
    return solution, time.perf_counter() - start


def report(name):
    """Print the lines of one case."""
    data, lam, tol = CASES[name]
    problem = chain_problem(*data())
    seconds = {1: [], 2: []}
    for _ in range(ROUNDS):
        for n_jobs, record in seconds.items():
            solution, taken = solve(problem, lam, tol, n_jobs)
            record.append(taken)
            if n_jobs == 1:
                one = solution
            else:
                two = solution
    medians = {n_jobs: float(np.median(record)) for n_jobs, record in seconds.items()}
    print(
        f"{name:12} one {medians[1]:6.2f} s, {one.n_iter} passes; "
        f"two {medians[2]:6.2f} s, {two.n_iter} passes; ratio {medians[2] / medians[1]:.2f}",
        flush=True,
    )
    for n_jobs in COUNTED:
        solution, _ = solve(problem, lam, tol, n_jobs)
        rounds = solution.continuation.run.rounds
        if rounds is None:
            print(f"{name:12} {n_jobs:3} workers: blocks are visited one after the other")
            continue
        waits = 1.0 - rounds.load / (n_jobs * rounds.longest_load)
        print(
            f"{name:12} {n_jobs:3} workers: {solution.n_iter / one.n_iter:.2f} of the passes, "
            f"{rounds.n_visits / rounds.n_rounds:.0f} blocks in flight, waits {waits:.0%}",
            flush=True,
        )


if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        report(case)
