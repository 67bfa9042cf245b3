"""Gram matrices of rows: what they are worth, by the length of sequences.

The norm of a step of a sequence is computed by the Gram matrix of its tokens, or by their features.
Here it is the one and then the other, whatever the rule of a fit would choose: seconds of the
processor of a solver without Gram matrices by those with them, the least of three each. Dense
tokens of p columns, and sparse ones with so many entries of 20,000, as frequent as words.

    python examples/benchmarks/gram.py
"""

import time
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.solvers.common import fit

LENGTHS = 0.1, 0.25, 0.5, 1.0, 2.0, 4.0  # by p or the number of entries
N_WORDS = 20_000


def dense_tokens(rng, labels, p, n_labels):
    """Return tokens around the centres of their labels, with noise."""
    centres = rng.normal(size=(n_labels, p))
    noise = np.sqrt(p / 8)
    return [centres[y] + noise * rng.normal(size=(len(y), p)) for y in labels]


def sparse_tokens(rng, labels, n_entries, n_labels):
    """Return tokens of words, each of a label: half of a token's are of its own, or more."""
    chances = np.cumsum(1.0 / np.arange(1, N_WORDS // n_labels + 1))
    X = []
    for y in labels:
        shape = len(y), n_entries
        rank = np.searchsorted(chances, chances[-1] * rng.random(shape))
        other = rng.integers(n_labels, size=shape)
        label = np.where(rng.random(shape) < 0.5, y[:, None], other)
        rows = np.repeat(np.arange(len(y)), n_entries), (rank * n_labels + label).ravel()
        words = sp.csr_array((np.ones(rank.size), rows), shape=(len(y), N_WORDS + n_labels))
        words.sum_duplicates()
        words.data[:] = 1.0
        X.append(words)
    return X


def seconds(X, y, most, begin=fit.begin):
    """Return the seconds of the solver, and of the Gram matrices of sequences of at most a length.

    That is in units of the rule, see `FeatureMap.make_grams`: 0 is none, inf all.
    """
    started = None

    def begin_so(solver, problem, *options, **more):
        nonlocal started
        started = time.process_time()
        problem.map.prepare(problem.map.make_grams(most))
        return begin(solver, problem, *options, **more)

    fit.begin = begin_so
    SequenceTagger(solver="bcfw", max_iter=40, random_state=0).fit(X, y)
    return time.process_time() - started


def main():
    """Print a line for each kind of tokens and number of labels."""
    for kind in (ConvergenceWarning, UserWarning):
        warnings.simplefilter("ignore", kind)
    rng = np.random.default_rng(0)
    print("tokens           labels" + "".join(f"  {length:5g}" for length in LENGTHS))
    kinds = ("dense", dense_tokens, (16, 100, 500)), ("sparse", sparse_tokens, (5, 20, 80))
    for kind, make, sizes in kinds:
        for size in sizes:
            for n_labels in (2, 10, 30):
                print(f"{kind:6s} {size:9d} {n_labels:6d}", end="", flush=True)
                for length in LENGTHS:
                    T = max(round(length * size), 2)
                    y = [
                        np.repeat(rng.integers(n_labels, size=T // 4 + 1), 4)[:T]
                        for _ in range(max(8_000 // T, 10))
                    ]
                    X = make(rng, y, size, n_labels)
                    times = [[seconds(X, y, most) for most in (np.inf, 0.0)] for _ in range(3)]
                    ones, others = np.min(times, axis=0)
                    print(f"  {others / ones:5.2f}", end="", flush=True)
                print()


if __name__ == "__main__":
    main()
