"""Few long sequences and many short ones: what "auto", "bcfw" and cutting planes take.

    python long_sequences.py [name of a shape ...]

The sequences are made: labels are a Markov chain, each label has words of its own besides the
common ones, and the features of a token are its word, its neighbours' and endings of them, as in
text. Processor time until the default tolerance, with passes; "bcfw" and "cutting_plane" stop after
a minute.
"""

import os
import sys
import warnings
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp
from _common import processor_time
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger
from sskit.solvers import BCFW, CuttingPlane

LONGEST = 60.0
# (sequences, tokens of each, labels, features of a token; and of how many words, else 5,000)
SHAPES = {
    "book 2,000": (1, 2_000, 10, 10),
    "book 5,000": (1, 5_000, 10, 10),
    "book 10,000": (1, 10_000, 10, 10),
    "book 40,000": (1, 40_000, 10, 10),
    "8 books": (8, 2_000, 10, 10),
    "20 chapters": (20, 1_000, 10, 10),
    "4 logs": (4, 5_000, 5, 3),
    "8 logs": (8, 2_500, 5, 3),
    "30 logs": (30, 1_500, 5, 3, 500),
    "100 logs": (100, 250, 5, 3, 500),
    "500 logs": (500, 100, 5, 3, 500),
    "100 weeks": (100, 200, 30, 3, 500),
    "80 labels": (100, 50, 80, 10),
    "300-token": (100, 300, 10, 10),
    "sentences": (2_000, 20, 10, 10),
}


def made_text(n, length, n_labels, n_features, n_words=5_000, seed=0):
    """Return X and y: n sequences of so many tokens, sparse, with so many features a token."""
    rng = np.random.RandomState(seed)
    total = n * length
    chain = rng.dirichlet(np.full(n_labels, 0.3), n_labels).cumsum(axis=1)
    labels = np.zeros(total, dtype=int)
    for t, u in enumerate(rng.rand(total)):
        labels[t] = min(np.searchsorted(chain[labels[t - 1]], u), n_labels - 1)
    common = np.minimum(rng.zipf(1.3, total), n_words) - 1
    own = np.minimum(rng.zipf(1.5, total), n_words // n_labels) - 1
    words = np.where(rng.rand(total) < 0.5, common, labels * (n_words // n_labels) + own)
    columns, width = [], 0
    for k in range(n_features):
        shifted = np.roll(words, (k % 5) - 2)
        coarse = shifted // 3 ** (k // 5)
        columns.append(width + coarse)
        width += n_words // 3 ** (k // 5) + 1
    indices = np.column_stack(columns).ravel()
    indptr = np.arange(total + 1) * n_features
    X = sp.csr_matrix((np.ones(total * n_features), indices, indptr), shape=(total, width))
    cuts = range(0, total, length)
    return [X[i : i + length] for i in cuts], [labels[i : i + length] for i in cuts]


def main(names):
    """Print a row for each shape."""
    for name in names or SHAPES:
        n, length, n_labels = SHAPES[name][:3]
        X, y = made_text(*SHAPES[name])
        cells = []
        for solver in ("auto", BCFW(max_time=LONGEST), CuttingPlane(max_time=LONGEST)):
            tagger = SequenceTagger(solver=solver, random_state=0)
            with warnings.catch_warnings(record=True) as late:
                warnings.simplefilter("always", ConvergenceWarning)
                fitted, seconds = processor_time(partial(tagger.fit, X, y))
            passes = "stopped" if late else fitted.n_iter_
            cells.append(f"{type(fitted.solver_).__name__} {seconds:.2f} ({passes})")
        print(f"{name:12} {n:6} x {length:6}  {n_labels:3}", *cells, sep="   ", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
